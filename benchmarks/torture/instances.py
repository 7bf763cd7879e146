"""What works: an instance of each public class, and an argument for each parameter."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from random import Random
from typing import Any

import driftanchor as da
from driftanchor.core.log_options import LOG_OPTIONS

EVENTS: dict[str, Any] = {"arm": "ad", "reward": "won", "time": "at"}
IDENTIFY: dict[str, Any] = {"runs": 1, "most_pulls": 9, "engine": "interpreted"}
NOBODY = "http://127.0.0.1:9"  # where no server answers
TINY: dict[str, Any] = {"horizon": 3, "worlds": 2, "threads": 1}
EFFORT = {*TINY, "runs", "most_pulls"}  # never left out: too slow where nothing is compiled


@functools.cache
def logs() -> da.OfflineData:
    """Logs of two arms."""
    return da.OfflineData.from_summary({"A": (30, 0.4, 0.2), "B": (30, 0.3, 0.2)})


@functools.cache
def plan() -> da.Plan:
    """A plan of a few rounds."""
    return da.plan(logs(), bias_bound=0.1, **TINY)


@functools.cache
def replay() -> da.Replay:
    """A replay of a few rounds."""
    return da.replay("good.csv", split="2026-01-11", **EVENTS, **TINY)


@functools.cache
def periods() -> da.Periods:
    """The logs by week."""
    return da.read_periods("good.csv", by="week", **EVENTS)


def learner() -> da.Learner:
    """A learner that has made a decision."""
    made = da.Learner(offline=logs(), bias_bound=0.1, reward_range=(0, 1), seed=1)
    made.pull()
    return made


def campaign() -> da.Campaign:
    """A campaign that has made a decision."""
    kept = da.Campaign.load("kept", store="sqlite:///kept.db")
    kept.ask("u")
    return kept


def decision_id() -> str:
    """The decision of a unit of that campaign."""
    return str(campaign().ask("u").id)


def bandit() -> da.Bandit:
    """A bandit with logs."""
    return da.Bandit([0.5, 0.4], [0.5, 0.5], 3)


@functools.cache
def result() -> da.Result:
    """A simulation of a few rounds."""
    return da.simulate(["ts", "ucb"], bandit(), horizon=3, runs=2, engine="interpreted")


INSTANCES: dict[str, Callable[[], Any]] = {
    "Arms": lambda: da.Arms(["A", "B"]),
    "ArmSummary": lambda: da.read_logs("good.csv", **EVENTS).arms["A"],
    "Bandit": bandit,
    "Campaign": campaign,
    "Client": lambda: da.Client(NOBODY, campaign="kept", timeout=0.05, default_after=0.01),
    "Difference": lambda: result().compare("ts", "ucb"),
    "Estimate": lambda: plan().break_even,
    "Explanation": lambda: learner().explain(),
    "Identification": lambda: da.identify(bandit(), **IDENTIFY),
    "Law": lambda: da.Law.uniform(0.0, 1.0),
    "Learner": learner,
    "LogSummary": lambda: da.read_logs("good.csv", **EVENTS),
    "OfflineData": logs,
    "Periods": periods,
    "Plan": plan,
    "Provenance": lambda: da.read_logs("good.csv", **EVENTS).provenance,
    "Replay": replay,
    "Result": result,
    "State": lambda: da.State.start(da.Arms(["A", "B"])),
    "Suggestion": lambda: da.suggest(periods()),
    "Tally": lambda: da.Tally.empty(da.Arms(["A", "B"])),
    "Terms": lambda: da.Terms.declare(offline=logs(), bias_bound=0.1, seed=1),
}
ARGUMENTS: dict[str, Any] = {
    **EVENTS,
    **TINY,
    "url": NOBODY,
    "arms": ["A", "B"],
    "base": "ucb",
    "bandit": bandit,
    "biased": True,
    "by": "week",
    "column": 0,
    "columns": [0, 1],
    "count": 2,
    "coverage": 0.9,
    "exclude": ["A"],
    "label": "C",
    "labels": ["A", "B"],
    "logs": "good.csv",
    "means": lambda: da.Law.uniform(0.0, 1.0),
    "memory": "400MB",
    "most_pulls": 9,
    "offline": logs,
    "online": [0.5, 0.4],
    "path": "a.svg",
    "periods": periods,
    "policies": ["ts", "ucb"],
    "policy": lambda: da.TS(),
    "radius": "ucb1",
    "rewards": [1.0, 0.0],
    "row": (3, 0.5),
    "runs": 2,
    "split": "2026-01-11",
    "summary": {"A": (5, 0.5), "B": (3, 0.4, 0.2)},
    "engine": "interpreted",
    "bias_bound": 0.1,
    "draws": 5,
}
# Where a name stands for something else, or the value depends on the class.
EXACT: dict[str, Any] = {
    "Bandit.paper.arms": 3,
    "identify.radius": "anytime",
    "random_bandit.arms": 2,
    "Bandit.paper.coverage": "uniform",
    "Bandit.paper.total": 30,
    "Bandit.resampling.rewards": [[1.0, 0.0], [0.5]],
    "Campaign.create.name": "c",
    "Campaign.create.if_exists": "error",
    "Campaign.create.reward": "number",
    "Campaign.create.store": "sqlite:///kept.db",
    "Campaign.create.control": lambda: {"A": 0.1},
    "Campaign.load.name": "kept",
    "Campaign.load.policy": None,
    "Campaign.load.store": "sqlite:///kept.db",
    "Campaign.export.path": "a.csv",
    "Campaign.tell.decision_id": decision_id,
    "Campaign.tell.reward": 1.0,
    "Campaign.tell_many.rewards": lambda: [(decision_id(), 1.0)],
    "Campaign.expose.decision_id": decision_id,
    "Campaign.explain.decision_id": decision_id,
    "Campaign.add_arm.offline": (0,),
    "Campaign.pause_arm.label": "A",
    "Campaign.archive_arm.label": "A",
    "Campaign.restore_arm.label": "A",
    "Campaign.distrust_arm.label": "A",
    "Learner.drop_pending.arm": None,
    "Learner.drop_pending.count": None,
    "Learner.load.path": "good.json",
    "Learner.update.arm": "A",
    "Learner.update.reward": 1.0,
    "Plan.write_page.path": "a.html",
    "Replay.held.label": "guarded-anchor-ts",
    "Replay.write_page.path": "a.html",
    "Result.final.policy": "ts",
    "Result.to_csv.path": "a.csv",
    "Tally.add.reward": 1.0,
    "Tally.arms": lambda: da.Arms(["A", "B"]),
    "Tally.empty.arms": lambda: da.Arms(["A", "B"]),
    "OfflineData.arms": lambda: da.Arms(["A", "B"]),
    "OfflineData.empty.arms": lambda: da.Arms(["A", "B"]),
    "State.start.arms": lambda: da.Arms(["A", "B"]),
}


def arguments(call: Callable[..., Any], name: str, rng: Random) -> dict[str, Any]:
    """Arguments of a call that mostly work: those that it needs, and some others."""
    chosen: dict[str, Any] = {}
    for parameter in inspect.signature(call).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            some = rng.sample(sorted(LOG_OPTIONS), 2)
            chosen |= {key: good(name, key) for key in (*EVENTS, *some) if key not in chosen}
        elif parameter.default is parameter.empty or parameter.name in EFFORT or rng.random() < 0.3:
            chosen[parameter.name] = good(name, parameter.name, parameter.default)
    return chosen


def good(call: str, parameter: str, default: Any = None) -> Any:
    """A value that a parameter takes, as far as it is known."""
    owner = call.partition(".")[0]
    if parameter == "data" and owner in INSTANCES:
        return INSTANCES[owner]().to_json()
    if default is inspect.Parameter.empty:
        default = None
    value = EXACT.get(f"{call}.{parameter}", ARGUMENTS.get(parameter, default))
    return value() if inspect.isfunction(value) or hasattr(value, "cache_info") else value
