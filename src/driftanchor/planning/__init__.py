"""What are these logs worth? Plans before going live, and replays of the past."""

from driftanchor.planning.assess import Assessment
from driftanchor.planning.plan import Plan, plan
from driftanchor.planning.replay import Replay, replay

__all__ = ["Assessment", "Plan", "Replay", "plan", "replay"]
