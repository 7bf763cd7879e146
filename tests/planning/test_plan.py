from __future__ import annotations

import json
import math
from typing import Any

import pytest

import driftanchor as da
from driftanchor.errors import InvalidInput
from driftanchor.planning.contenders import RULE, RULE_COLD
from driftanchor.planning.plan import Plan, plan
from driftanchor.planning.worlds import Worlds
from driftanchor.shift import suggest

RATES = {"A": (2000, 0.12), "B": (2000, 0.10), "C": (2000, 0.08), "D": (2000, 0.05)}


def coins(summary: dict[str, tuple[int, float]]) -> da.OfflineData:
    """Logs of rewards that are 0 or 1."""
    rows = {x: (n, m, m * (1 - m) * n / (n - 1)) for x, (n, m) in summary.items()}
    return da.OfflineData.from_summary(rows)


LOGS = coins(RATES)
OTHERS = da.OfflineData.from_summary({"X": (90, 0.5, 0.25), "Y": (90, 0.4, 0.24)})


@pytest.fixture(scope="module")
def helpful() -> Plan:
    return plan(LOGS, bias_bound=0.01, horizon=1000, worlds=16)


@pytest.fixture(scope="module")
def harmful() -> Plan:
    """Logs of a time since which anything may have happened."""
    return plan(LOGS, bias_bound=0.3, horizon=1000, worlds=16)


def test_logs_that_fit_are_to_be_used(helpful: Plan) -> None:
    assert helpful.decision == "use"
    best = helpful.best_policy
    assert helpful.verdict.startswith(f"Use the logs, with {best}: about ")
    assert helpful.safety[best].safe
    assert helpful.saved(best).low > 0.05 * helpful.cold_loss
    assert helpful.saved("hybrid-ts").low > 0
    assert f" instead of {helpful.cold_loss:.1f} without the logs" in helpful.answer
    assert "The risk: " in helpful.verdict
    assert helpful.limit in helpful.verdict


def test_logs_that_say_nothing_any_more_are_not(harmful: Plan) -> None:
    assert harmful.decision == "without"
    assert harmful.best_policy == harmful.baseline
    assert harmful.verdict.startswith(
        "Do not use the logs: with means that may have moved by 0.3, "
    )
    cost = harmful.saved("hybrid-ts")
    assert cost.high < 0
    assert f"trusting the logs loses {-cost.value:.0f} more" in harmful.verdict
    assert not harmful.safety["hybrid-ts"].safe


def test_two_arms_that_may_have_changed_places_make_it_a_risk_to_trust_the_logs() -> None:
    logs = da.OfflineData.from_summary({"A": (150, 50.0, 100.0), "B": (150, 48.0, 100.0)})
    found = plan(logs, bias_bound=4.0, horizon=1500, worlds=12)
    for label in ("hybrid-ts", "log-best"):
        assert not found.safety[label].safe
        assert found.safety[label].worst > 2 * found.safety[label].cold_worst
    assert found.best_policy not in ("hybrid-ts", "log-best")


@pytest.mark.slow
def test_the_break_even_does_not_depend_on_what_is_declared() -> None:
    logs = coins({"A": (12_000, 0.1734), "B": (12_000, 0.1412), "C": (12_000, 0.0962)})
    found = [plan(logs, bias_bound=v, horizon=2000, worlds=4) for v in (0.03, 0.17, 0.84)]
    none = [one.to_json()["break_even_by_bound"][0] for one in found]
    assert [row["bias_bound"] for row in none] == [0.0, 0.0, 0.0]
    assert none[0] == none[1] == none[2]
    # the second arm overtakes from 0.0161 on; at half of the largest gap, 0.0386, all is lost
    assert 0.0161 < none[0]["shift"] < 0.0386
    assert 0.0161 / 2 < none[0]["low"] < none[0]["shift"] < none[0]["high"]


def test_arms_that_moved_together_leave_the_logs_their_worth() -> None:
    found = plan(LOGS, relative_bound=0.005, horizon=1000, worlds=12)
    assert found.decision == "use"
    assert found.saved("hierarchical-ts").low > 0.3 * found.cold_loss
    assert found.promise.to_json(LOGS.arms)["bias_bound"] is None
    assert math.isinf(found.bias_bounds[0])
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert told["relative_bound"] == dict.fromkeys("ABCD", 0.005)
    assert told["by_bound"]["relative_bound"] == pytest.approx([0, 0.0025, 0.005, 0.01, 0.02])
    assert "bias_bound" not in told["by_bound"]
    assert [row["relative_bound"] for row in told["break_even_by_bound"]] == pytest.approx(
        [0, 0.0025, 0.005, 0.01, 0.02]
    )


def test_both_promises_are_given_to_every_rule_and_scaled_together() -> None:
    found = plan(LOGS, bias_bound=0.02, relative_bound=0.01, horizon=50, worlds=3)
    told = found.to_json()
    assert (told["bias_bound"]["A"], told["relative_bound"]["A"]) == (0.02, 0.01)
    assert told["by_bound"]["bias_bound"] == pytest.approx([0, 0.01, 0.02, 0.04, 0.08])
    assert told["by_bound"]["relative_bound"] == pytest.approx([0, 0.005, 0.01, 0.02, 0.04])


def test_a_suggestion_is_a_bound_and_is_told() -> None:
    weeks = {
        week: coins({"A": (3000, 0.12 + c), "B": (3000, 0.10 + c), "C": (3000, 0.07 + c)})
        for week, c in (("W1", 0.02), ("W2", -0.02), ("W3", 0.01), ("W4", 0.0))
    }
    found = suggest(weeks, unit="week")
    logs = coins({"A": (12_000, 0.1225), "B": (12_000, 0.1025), "C": (12_000, 0.0725)})
    options: dict[str, Any] = {"horizon": 50, "worlds": 3}
    given = plan(logs, relative_bound=found, **options)
    assert set(given.relative_bounds) == {found.relative_bound}
    auto = plan(logs, relative_bound="auto", periods=weeks, **options)
    assert auto.to_json() == given.to_json()
    assert auto.notes[0].startswith("W = ")
    assert auto.notes[0].endswith(
        "how far arms may have moved apart, estimated from 4 periods of the logs"
    )
    both = plan(logs, bias_bound="auto", relative_bound="auto", periods=weeks, **options)
    assert set(both.bias_bounds) == {found.bias_bound}
    assert both.notes[0].startswith("V = ")


def test_losses_are_those_of_simulate(helpful: Plan) -> None:
    truth = Worlds.draw(LOGS, helpful.law, helpful.promise, 3, helpful.seed)
    for world, (bandit, cold) in enumerate(
        zip(
            truth.expected(helpful.promise),
            truth.expected(helpful.promise, logs=False),
            strict=True,
        )
    ):
        for label, one in helpful.contenders.items():
            there = cold if one.cold else bandit
            if one.policy is None:
                assert helpful.lost[label][world] == 1000 * there.gaps[0]
                continue
            alone = da.simulate(
                one.policy, there, horizon=1000, runs=world + 1, engine="every-round"
            ).final(one.policy.name)
            assert alone[world] == helpful.lost[label][world]


def test_units_are_those_of_a_learner(helpful: Plan) -> None:
    learner = da.Learner(offline=LOGS, bias_bound=0.01, reward_range=(0, 1), seed=0)
    assert helpful.contenders[RULE].policy == learner.policy
    assert helpful.contenders[RULE_COLD].policy == learner.policy
    assert helpful.reasons == learner.reasons
    policies = [one.policy for one in helpful.contenders.values() if one.policy is not None]
    units = {(policy.prior_mean, policy.noise) for policy in policies}
    assert units == {(learner.policy.prior_mean, learner.policy.noise)}


def test_json(helpful: Plan) -> None:
    told = json.loads(json.dumps(helpful.to_json(), allow_nan=False))
    assert told["verdict"] == helpful.verdict
    assert list(told["policies"]) == list(helpful.contenders)
    assert set(told["policies"][RULE]) == {"mean", "se", "median", "q95", "max", "saved"}
    assert told["policies"]["ts"]["mean"] == helpful.lost["ts"].mean()
    assert told["best_policy"] == helpful.best_policy
    assert told["break_even_policy"] == helpful.best_policy
    assert 0 < told["break_even_shift"] <= told["by_shift"]["shift"][-1]
    shifts = [0, 0.01, 0.02, 0.035, 0.07, 0.14, 0.28]  # half of each gap, and doubled thrice
    assert told["by_shift"]["shift"] == pytest.approx(shifts)
    assert set(told["safety"][RULE]) == {"safe", "tail", "cold_tail", "worst", "cold_worst"}
    assert told["relative_bound"] is None
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
    assert list(done) == sorted(set(done))
    assert set(total) == {done[-1]}


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
    assert found.by_bound.x[-1] == pytest.approx(4 * 0.07)  # so far are the logged means apart
    assert found.break_evens[0][0].size == 0


def test_an_arm_of_which_nothing_is_promised_is_planned_for_without_logs() -> None:
    some = coins({"A": (900, 0.5), "B": (900, 0.3), "C": (900, 0.2)})
    bounds = {"A": 0.01, "B": 0.01, "C": math.inf}
    found = plan(some, bias_bound=bounds, horizon=50, worlds=4)
    assert found.offline.n.tolist() == [900, 900, 0]
    assert found.notes[:2] == (
        "nothing is promised of C, so these logs are left out",
        "no logs of C: in each world such an arm is like one of the others",
    )
    without = coins({"A": (900, 0.5), "B": (900, 0.3)}).over(["A", "B", "C"])
    same = plan(without, bias_bound=0.01, horizon=50, worlds=4)
    assert same.summary() == found.summary()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offline": "logs.csv"}, "offline must be OfflineData, got 'logs.csv'"),
        ({"offline": coins({"A": (9, 0.5)})}, "the logs have one arm only, 'A'"),
        (
            {"offline": da.OfflineData.empty(da.Arms(["A", "B"]))},
            "the logs have no rewards: there is nothing to plan with",
        ),
        ({"bias_bound": None}, "bias_bound and relative_bound are missing: say how far"),
        ({"relative_bound": -0.1}, "relative_bound of arm 'A' must be at least 0, got -0.1"),
        ({"relative_bound": math.nan}, "relative_bound of arm 'A' must be"),
        ({"relative_bound": {"Z": 0.1}}, "unknown arm 'Z'"),
        (
            {"bias_bound": None, "relative_bound": math.inf},
            "relative_bound must be finite for at least one arm with logs, got inf",
        ),
        (
            {
                "offline": da.OfflineData.from_summary({"A": (9, 0.5, 0.25), "B": (0,)}),
                "relative_bound": 0.01,
            },
            "relative_bound needs at least two arms with logs",
        ),
        ({"relative_bound": "auto"}, "relative_bound is 'auto' and the logs are not in periods"),
        ({"bias_bound": "much"}, "bias_bound must be numbers or 'auto', got 'much'"),
        (
            {"bias_bound": "auto", "periods": {"one": LOGS}},
            "bias_bound is to be taken from the logs, and they do not show how far arms move: no "
            "arm was seen in two periods (there is one period only); give a number, or shorter",
        ),
        (
            {"relative_bound": "auto", "periods": {"1": LOGS, "2": OTHERS}},
            "relative_bound is to be taken from the logs, and they do not show how far arms move: "
            "no two arms were seen in the same two periods (of 2 periods); give a number",
        ),
        (
            {"relative_bound": "auto", "periods": {"1": OTHERS, "2": OTHERS}},
            "periods have none of the arms of the logs: they have ['X', 'Y'], the logs ['A', 'B'",
        ),
        ({"bias_bound": -0.1}, "bias_bound of arm 'A' must be at least 0, got -0.1"),
        (
            {"bias_bound": math.inf},
            "bias_bound must be finite for at least one arm with logs, got inf",
        ),
        ({"bias_bound": {"A": 0.1}}, "bias_bound has no number for arm 'B'"),
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
