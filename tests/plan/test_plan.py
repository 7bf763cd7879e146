from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import driftanchor as da
from driftanchor.errors import InvalidInput
from driftanchor.plan import Plan
from driftanchor.plan.contenders import RULE, RULE_COLD
from driftanchor.plan.plan import plan
from driftanchor.plan.worlds import Worlds

RATES = {"A": (2000, 0.12), "B": (2000, 0.10), "C": (2000, 0.08), "D": (2000, 0.05)}


def coins(summary: dict[str, tuple[int, float]]) -> da.OfflineData:
    """Logs of rewards that are 0 or 1."""
    rows = {x: (n, m, m * (1 - m) * n / (n - 1)) for x, (n, m) in summary.items()}
    return da.OfflineData.from_summary(rows)


LOGS = coins(RATES)


@pytest.fixture(scope="module")
def helpful() -> Plan:
    return plan(LOGS, bias_bound=0.01, horizon=2000, worlds=60)


@pytest.fixture(scope="module")
def harmful() -> Plan:
    """Logs of a time since which anything may have happened."""
    return plan(LOGS, bias_bound=0.3, horizon=2000, worlds=60)


def test_logs_that_fit_are_to_be_used(helpful: Plan) -> None:
    assert helpful.decision == "use"
    assert helpful.verdict.startswith("Use the logs: guarded-anchor-ts saves about ")
    assert helpful.saved().low > 0.05 * helpful.cold_loss
    assert helpful.saved("hybrid-ts").low > 0


def test_logs_that_say_nothing_any_more_are_not(harmful: Plan) -> None:
    assert harmful.decision == "without"
    assert harmful.verdict.startswith("Go without: with means that may have moved by 0.3, ")
    cost = harmful.saved("hybrid-ts")
    assert cost.high < 0
    assert harmful.verdict.endswith(f"to trust them costs about {-cost.value:.0f} more.")


def test_two_arms_that_may_have_changed_places_make_the_logs_a_risk() -> None:
    logs = da.OfflineData.from_summary({"A": (150, 50.0, 100.0), "B": (150, 48.0, 100.0)})
    found = plan(logs, bias_bound=4.0, horizon=2000, worlds=60)
    assert found.decision == "without"
    assert found.break_even.value < 1.0  # half of what tells the arms apart


def test_losses_are_those_of_simulate(helpful: Plan) -> None:
    truth = Worlds.draw(LOGS, helpful.law, helpful.bias_bounds, 3, helpful.seed)
    for world, (bandit, cold) in enumerate(
        zip(
            truth.expected(helpful.bias_bounds),
            truth.expected(helpful.bias_bounds, logs=False),
            strict=True,
        )
    ):
        for label, one in helpful.contenders.items():
            there = cold if one.cold else bandit
            alone = da.simulate(
                one.policy, there, horizon=2000, runs=world + 1, engine="every-round"
            ).final(one.policy.name)
            assert alone[world] == helpful.lost[label][world]


def test_worlds_have_the_logs_as_they_are_and_means_within_the_bound() -> None:
    bounds = np.array([0.01, 0.02, 0.0, 0.03])
    found = plan(LOGS, bias_bound=bounds.tolist(), horizon=50, worlds=40)
    truth = Worlds.draw(LOGS, found.law, bounds, 40, 0)
    for world, bandit in enumerate(truth.expected(bounds)):
        assert bandit.logs == "given"
        assert (bandit.offline == LOGS.mean).all()
        assert (bandit.offline_pulls == LOGS.n).all()
        moved = np.abs(bandit.online - truth.means[world])
        assert (moved <= bounds + 1e-15).all()
    for shift, moves in ((1.0, [-1, 1, 0, 0]), (1.5, [-1, 1, 0, 0]), (2.0, [-1, 0, 0, 1])):
        expected = truth.means[0] + shift * bounds * moves
        far = truth.moved(shift, bounds)[0]
        assert far.online == pytest.approx(np.clip(expected, 0, 1))


def test_units_are_those_of_a_learner(helpful: Plan) -> None:
    learner = da.Learner(offline=LOGS, bias_bound=0.01, reward_range=(0, 1), seed=0)
    assert helpful.contenders[RULE].policy == learner.policy
    assert helpful.contenders[RULE_COLD].policy == learner.policy
    assert helpful.reasons == learner.reasons
    units = {(one.policy.prior_mean, one.policy.noise) for one in helpful.contenders.values()}
    assert units == {(learner.policy.prior_mean, learner.policy.noise)}


def test_json(helpful: Plan) -> None:
    told = json.loads(json.dumps(helpful.to_json(), allow_nan=False))
    assert told["verdict"] == helpful.verdict
    assert list(told["policies"]) == list(helpful.contenders)
    assert set(told["policies"][RULE]) == {"mean", "se", "median", "q95", "max", "saved"}
    assert told["policies"]["ts"]["mean"] == helpful.lost["ts"].mean()
    assert 0 < told["break_even_shift"] <= told["by_shift"]["shift"][-1] == pytest.approx(0.08)
    assert told["by_bound"]["bias_bound"] == pytest.approx([0, 0.005, 0.01, 0.02, 0.04])
    bounds = [row["bias_bound"] for row in told["break_even_by_bound"]]
    assert bounds == told["by_bound"]["bias_bound"]
    assert told["bias_bound"] == dict.fromkeys("ABCD", 0.01)
    assert set(told["theory"]) == {"B", "C", "D"}
    assert told["law"]["name"] == "bernoulli"
    assert told["parameters"][RULE_COLD]["logs"] is False


def test_numbers_depend_on_the_seed_and_not_on_threads() -> None:
    def run(**options: Any) -> dict[str, Any]:
        return plan(LOGS, bias_bound=0.01, horizon=100, worlds=4, **options).to_json()

    assert run(threads=1) == run(threads=2)
    assert run(seed=1)["policies"] != run()["policies"]


def test_progress_counts_every_run() -> None:
    seen: list[tuple[int, int]] = []
    plan(LOGS, bias_bound=0.01, horizon=20, worlds=2, progress=lambda *now: seen.append(now))
    done, total = zip(*seen, strict=True)
    assert list(done) == list(range(1, total[0] + 1))
    assert set(total) == {2 * (6 * 9 + 4 * (3 + 8))}  # worlds × (here, and at other bounds)


def test_theory_is_that_of_the_theory_package(helpful: Plan) -> None:
    from driftanchor import theory

    gap = 0.12 - 0.05
    saves = helpful.theory["D"]["min-ucb saves"]
    assert saves == pytest.approx(float(theory.min_ucb_savings(2000, 0.01, gap)))
    equal = coins({"A": (50, 0.5), "B": (50, 0.5)})
    assert plan(equal, bias_bound=0.1, horizon=20, worlds=2).theory == {}


def test_an_arm_without_logs_takes_part() -> None:
    summary: dict[str, Any] = {"A": (300, 50.0, 9.0), "B": (300, 49.0, 9.0), "new": (0,)}
    found = plan(da.OfflineData.from_summary(summary), bias_bound=0.2, horizon=50, worlds=5)
    assert found.notes == ("no logs of new: in each world such an arm is like one of the others",)
    assert found.law.name == "gaussian"
    assert found.law.noise == 3.0
    assert "new" not in found.theory


def test_a_bound_of_zero_still_asks_how_far_is_too_far() -> None:
    found = plan(LOGS, bias_bound=0, horizon=200, worlds=5)
    assert found.by_bound.x[0] == 0
    assert found.largest_shift == pytest.approx(8 * 0.07)  # so far are the logged means apart
    assert found.break_even == found.break_evens[0][1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offline": "logs.csv"}, "offline must be OfflineData, got 'logs.csv'"),
        ({"offline": coins({"A": (9, 0.5)})}, "the logs have one arm only, 'A'"),
        (
            {"offline": da.OfflineData.empty(da.Arms(["A", "B"]))},
            "the logs have no rewards: there is nothing to plan with",
        ),
        ({"bias_bound": None}, "bias_bound must be a list of values, got None"),
        ({"bias_bound": -0.1}, "bias_bound of arm 'A' must be at least 0, got -0.1"),
        ({"bias_bound": math.inf}, "bias_bound of arm 'A' must be finite here, got inf"),
        ({"bias_bound": {"A": 0.1}}, "bias_bound of arm 'B' must be a number, got None"),
        ({"horizon": 0}, "horizon must be at least 1, got 0"),
        ({"horizon": 1.5}, "horizon must be a whole number, got 1.5"),
        ({"worlds": 1}, "worlds must be between 2 and 1e+06, got 1"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"law": "normal"}, "unknown law 'normal'"),
        ({"bias_bound_source": "hoped"}, "unknown bias_bound_source 'hoped'"),
        ({"reward_range": (1, 0)}, "reward_range must rise"),
        ({"threads": 0}, "threads must be between 1 and 4096, got 0"),
    ],
)
def test_bad_input(changes: dict[str, Any], message: str) -> None:
    given = {"offline": LOGS, "bias_bound": 0.01, "horizon": 10, "worlds": 2, **changes}
    with pytest.raises(InvalidInput) as error:
        plan(given.pop("offline"), **given)
    assert str(error.value).startswith(message)
