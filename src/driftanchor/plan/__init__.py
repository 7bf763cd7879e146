"""What are these logs worth? Plans before going live, and replays of the past.

The package and its main function share a name, as in `driftanchor.simulate`: it can be called.
"""

import sys
import types

from driftanchor.plan.assess import Assessment
from driftanchor.plan.plan import Plan, plan
from driftanchor.plan.replay import Replay, replay

__all__ = ["Assessment", "Plan", "Replay", "plan", "replay"]


class _CallableModule(types.ModuleType):
    __call__ = staticmethod(plan)


sys.modules[__name__].__class__ = _CallableModule
