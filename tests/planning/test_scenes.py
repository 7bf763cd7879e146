"""Who plays how, up to 20,000 rounds and beyond."""

from __future__ import annotations

import json
from typing import Any

import pytest
from two_months import NAMES, SAME, SPLIT

from driftanchor.core.offline import OfflineData
from driftanchor.planning.contenders import RULE, contenders
from driftanchor.planning.plan import Plan, plan
from driftanchor.planning.promise import promised
from driftanchor.planning.replay import replay
from driftanchor.planning.reward_law import COINS, law_of
from driftanchor.planning.scenes import Stage, fit_to_horizon, scene_of
from driftanchor.planning.worlds import Worlds
from driftanchor.simulation.batches import SHARE, batches

LOGS = OfflineData.from_summary(
    {"A": (2000, 0.12, 0.1056), "B": (2000, 0.10, 0.09), "C": (2000, 0.05, 0.0475)}
)
LONG = 20_001


def assumed(horizon: int) -> str:
    largest = max(size for _, size in batches(horizon))
    return (
        f"rewards are assumed to arrive in batches: a batch is 1/{SHARE} of all decisions before "
        f"it, at most {largest:,} decisions"
    )


def test_beyond_20_000_rounds_the_batch_is_named_and_min_ucb_is_left_out() -> None:
    who, _ = contenders(LOGS, COINS, None)
    assert fit_to_horizon(who, 20_000) == (who, ())
    kept, notes = fit_to_horizon(who, 1_000_000)
    assert set(who) - set(kept) == {"min-ucb"}
    assert list(kept) == [label for label in who if label != "min-ucb"]
    assert notes == (
        assumed(1_000_000),
        "left out, because it plays one arm for a whole batch: min-ucb",
    )
    few = {label: one for label, one in who.items() if label != "min-ucb"}
    assert fit_to_horizon(few, 20_001) == (few, (assumed(20_001),))


@pytest.fixture(scope="module", params=["bias_bound", "relative_bound"])
def long_plan(request: pytest.FixtureRequest) -> Plan:
    promise: dict[str, Any] = {request.param: 0.005}
    return plan(LOGS, **promise, horizon=LONG, worlds=12)


def test_a_long_plan_has_all_fields_of_a_short_one(long_plan: Plan) -> None:
    name = "relative_bound" if long_plan.promise.is_relative else "bias_bound"
    promise: dict[str, Any] = {name: 0.005}
    short = plan(LOGS, **promise, horizon=100, worlds=3)
    found, less = (json.loads(json.dumps(x.to_json(), allow_nan=False)) for x in (long_plan, short))
    assert set(found) == set(less)
    assert found["verdict"] == long_plan.verdict
    assert set(found["policies"]) == set(less["policies"]) - {"min-ucb"}
    for label, row in found["policies"].items():
        assert set(row) == set(less["policies"][label])
    assert assumed(LONG) in found["notes"]
    assert not any("batch" in note for note in less["notes"])


def test_a_long_plan_comes_to_a_verdict(long_plan: Plan) -> None:
    """Logs of 6,000 rewards that may be trusted to a quarter of the gap."""
    assert long_plan.decision == "use"
    assert long_plan.verdict.startswith(f"Use the logs, with {long_plan.best_policy}: about ")
    assert long_plan.best_policy in long_plan.contenders
    assert long_plan.saved(long_plan.best_policy).low > 0


def test_a_long_replay_names_the_batch_too() -> None:
    found = replay(SAME, split=SPLIT, bias_bound=0.05, horizon=LONG, worlds=3, **NAMES)
    assert assumed(LONG) in found.notes
    assert "min-ucb" not in found.contenders
    assert found.to_json()["verdict"] == found.verdict


def test_batches_depend_on_the_seed_and_not_on_threads() -> None:
    promise = promised(0.01, None, LOGS).promise
    truth = Worlds.draw(LOGS, law_of(LOGS, "bernoulli", COINS), promise, LONG, 4, 0)
    who, _ = contenders(LOGS, COINS, None)
    pair = {label: who[label] for label in (RULE, "log-best")}
    scenes = {0: scene_of(truth.expected, promise, pair)}

    def lost(seed: int, threads: int) -> dict[str, list[float]]:
        found = Stage(pair, horizon=LONG, seed=seed, threads=threads).play(scenes)[0]
        return {label: values.tolist() for label, values in found.items()}

    one = lost(1, 1)
    assert lost(1, 2) == one
    assert lost(2, 1)[RULE] != one[RULE]
    assert lost(2, 1)["log-best"] == one["log-best"]  # it draws nothing
