"""Bandits that use old logs safely.

The public names are loaded when first used, so that `import driftanchor` is quick and needs
neither Numba nor Matplotlib. Every policy of `driftanchor.policies` is public by itself.
"""

import importlib
from typing import TYPE_CHECKING

from driftanchor.version import __version__ as __version__

if TYPE_CHECKING:
    from driftanchor.best_arm.identify import Identification as Identification
    from driftanchor.best_arm.identify import identify as identify
    from driftanchor.client.client import Client as Client
    from driftanchor.core.arms import Arms as Arms
    from driftanchor.core.evidence import ArmEvidence as ArmEvidence
    from driftanchor.core.evidence import Evidence as Evidence
    from driftanchor.core.evidence import Round as Round
    from driftanchor.core.noise import Draws as Draws
    from driftanchor.core.offline import OfflineData as OfflineData
    from driftanchor.core.provenance import Provenance as Provenance
    from driftanchor.core.stats.intervals import Estimate as Estimate
    from driftanchor.core.tally import Tally as Tally
    from driftanchor.errors import Conflict as Conflict
    from driftanchor.errors import DriftanchorError as DriftanchorError
    from driftanchor.errors import InvalidInput as InvalidInput
    from driftanchor.errors import MissingExtra as MissingExtra
    from driftanchor.errors import NotFound as NotFound
    from driftanchor.errors import RejectedRows as RejectedRows
    from driftanchor.errors import StoreMismatch as StoreMismatch
    from driftanchor.errors import StoreUnavailable as StoreUnavailable
    from driftanchor.errors import UnknownName as UnknownName
    from driftanchor.errors import UnreadableState as UnreadableState
    from driftanchor.errors import UnusableCluster as UnusableCluster
    from driftanchor.live.campaigns.campaign import Campaign as Campaign
    from driftanchor.live.campaigns.decision import Decision as Decision
    from driftanchor.live.campaigns.decision import Receipt as Receipt
    from driftanchor.live.campaigns.settings import Settings as Settings
    from driftanchor.live.campaigns.status import ArmStatus as ArmStatus
    from driftanchor.live.campaigns.status import Status as Status
    from driftanchor.live.campaigns.stopping import Outlook as Outlook
    from driftanchor.live.campaigns.traffic import RatioCheck as RatioCheck
    from driftanchor.live.campaigns.verify import Verified as Verified
    from driftanchor.live.explanation import ArmExplanation as ArmExplanation
    from driftanchor.live.explanation import Explanation as Explanation
    from driftanchor.live.learner import Learner as Learner
    from driftanchor.live.state import State as State
    from driftanchor.live.stores.rows import HistoryRow as HistoryRow
    from driftanchor.live.stores.store import Store as Store
    from driftanchor.live.terms import Terms as Terms
    from driftanchor.live.watch.alarms import Alarm as Alarm
    from driftanchor.logs.log_summary import ArmSummary as ArmSummary
    from driftanchor.logs.log_summary import LogSummary as LogSummary
    from driftanchor.logs.periods import Periods as Periods
    from driftanchor.logs.periods import read_periods as read_periods
    from driftanchor.logs.read import read_logs as read_logs
    from driftanchor.planning.plan import Plan as Plan
    from driftanchor.planning.plan import plan as plan
    from driftanchor.planning.replay import Replay as Replay
    from driftanchor.planning.replay import replay as replay
    from driftanchor.policies import *
    from driftanchor.shift.suggest_bounds import suggest as suggest
    from driftanchor.shift.suggestion import ArmShift as ArmShift
    from driftanchor.shift.suggestion import Suggestion as Suggestion
    from driftanchor.simulation.bandit import Bandit as Bandit
    from driftanchor.simulation.instances import Law as Law
    from driftanchor.simulation.instances import random_bandit as random_bandit
    from driftanchor.simulation.result import Difference as Difference
    from driftanchor.simulation.result import Result as Result
    from driftanchor.simulation.run import simulate as simulate

_HOMES = {
    "best_arm.identify": ["Identification", "identify"],
    "client.client": ["Client"],
    "core.arms": ["Arms"],
    "core.evidence": ["ArmEvidence", "Evidence", "Round"],
    "core.noise": ["Draws"],
    "core.offline": ["OfflineData"],
    "core.provenance": ["Provenance"],
    "core.stats.intervals": ["Estimate"],
    "core.tally": ["Tally"],
    "errors": [
        "Conflict",
        "DriftanchorError",
        "InvalidInput",
        "MissingExtra",
        "NotFound",
        "RejectedRows",
        "StoreMismatch",
        "StoreUnavailable",
        "UnknownName",
        "UnreadableState",
        "UnusableCluster",
    ],
    "live.campaigns.campaign": ["Campaign"],
    "live.campaigns.decision": ["Decision", "Receipt"],
    "live.explanation": ["ArmExplanation", "Explanation"],
    "live.learner": ["Learner"],
    "live.campaigns.traffic": ["RatioCheck"],
    "live.campaigns.settings": ["Settings"],
    "live.state": ["State"],
    "live.campaigns.status": ["ArmStatus", "Status"],
    "live.campaigns.stopping": ["Outlook"],
    "live.stores.store": ["Store"],
    "live.stores.rows": ["HistoryRow"],
    "live.campaigns.verify": ["Verified"],
    "live.watch.alarms": ["Alarm"],
    "live.terms": ["Terms"],
    "logs.periods": ["Periods", "read_periods"],
    "logs.read": ["read_logs"],
    "logs.log_summary": ["ArmSummary", "LogSummary"],
    "planning.plan": ["Plan", "plan"],
    "planning.replay": ["Replay", "replay"],
    "shift.suggest_bounds": ["suggest"],
    "shift.suggestion": ["ArmShift", "Suggestion"],
    "simulation.bandit": ["Bandit"],
    "simulation.instances": ["Law", "random_bandit"],
    "simulation.result": ["Difference", "Result"],
    "simulation.run": ["simulate"],
}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return _public()
    if name.startswith("__") or name not in _public():
        raise AttributeError(f"module 'driftanchor' has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "policies")
    value = getattr(importlib.import_module(f"driftanchor.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_public()})


def _public() -> list[str]:
    policies: list[str] = importlib.import_module("driftanchor.policies").__all__
    return sorted([*policies, *(name for names in _HOMES.values() for name in names)])
