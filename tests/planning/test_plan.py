from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftanchor as da
from benchmarks import example_log
from driftanchor.errors import InvalidInput
from driftanchor.planning import pictures, plan_prose
from driftanchor.planning.contenders import RULE, RULE_COLD, contenders
from driftanchor.planning.plan import Plan, plan
from driftanchor.planning.promise import promised
from driftanchor.planning.reward_law import COINS, law_of
from driftanchor.planning.safe_choice import safe_choice
from driftanchor.planning.scenes import Stage, scene_of
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
    assert "Worst case, with the bounds fully used against the logs: if " in helpful.verdict
    assert helpful.limit in helpful.verdict


def test_logs_that_say_nothing_any_more_are_not(harmful: Plan) -> None:
    assert harmful.decision == "without"
    assert harmful.best_policy == harmful.baseline
    assert harmful.verdict.startswith(
        "Do not use the logs: with means that may have moved by 0.3, "
    )
    assert harmful.saved("hybrid-ts").high < 0
    assert not harmful.safety["hybrid-ts"].safe
    assert f"With the logs, {RULE} loses " in harmful.verdict
    assert harmful.verdict.endswith(plan_prose.INSTEAD)


def test_two_arms_that_may_have_changed_places_make_it_a_risk_to_trust_the_logs() -> None:
    logs = da.OfflineData.from_summary({"A": (150, 50.0, 100.0), "B": (150, 48.0, 100.0)})
    found = plan(logs, bias_bound=4.0, horizon=1500, worlds=12)
    for label in ("hybrid-ts", "log-best"):
        assert not found.safety[label].safe
        assert found.safety[label].extra.low > found.cold_loss
    assert found.best_policy not in ("hybrid-ts", "log-best")


def test_arms_that_moved_together_leave_the_logs_their_worth() -> None:
    found = plan(LOGS, relative_bound=0.005, horizon=1000, worlds=12)
    assert found.decision == "use"
    assert found.saved("hierarchical-ts").low > 0.3 * found.cold_loss
    assert found.promise.to_json(LOGS.arms)["bias_bound"] is None
    assert math.isinf(found.bias_bounds[0])
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert told["relative_bound"] == dict.fromkeys("ABCD", 0.005)


def test_both_promises_are_told() -> None:
    found = plan(LOGS, bias_bound=0.02, relative_bound=0.01, horizon=50, worlds=3)
    told = found.to_json()
    assert (told["bias_bound"]["A"], told["relative_bound"]["A"]) == (0.02, 0.01)
    assert told["worst_case"] == pytest.approx({"A": -0.01, "B": 0.01})  # W is smaller


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
    truth = Worlds.draw(LOGS, helpful.law, helpful.promise, 1000, 3, helpful.seed)
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
    assert told["by_shift"]["shift"] == pytest.approx([0, *np.geomspace(0.01, 0.14, 8)])
    other = plan(LOGS, bias_bound=0.012, horizon=10, worlds=2).by_shift.x
    assert other == pytest.approx(sorted([0, *np.geomspace(0.01, 0.14, 8), 0.012]))
    assert set(told["safety"][RULE]) == {"safe", "ratio", "extra"}
    assert told["relative_bound"] is None
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
    assert found.worst_moves == {}
    assert found.compared.worst is found.by_shift.lost[0]
    assert found.largest_shift == pytest.approx(4 * 0.07 / 2)
    assert 0 < found.break_even_shift <= found.largest_shift


# One baseline, one worst case, paired worlds, and sentences that are true as written.


def test_every_number_of_the_verdict_is_measured_against_one_baseline(helpful: Plan) -> None:
    assert helpful.baseline == RULE_COLD
    cold = f"{helpful.cold_loss:.1f}"
    without = re.findall(r"([\d.]+) without the logs", helpful.verdict)
    assert without == [cold]  # the only loss without the logs that is stated
    for label in helpful.lost:
        saved = helpful.lost[RULE_COLD] - helpful.lost[label]
        extra = helpful.compared.worst[label] - helpful.compared.worst[RULE_COLD]
        assert helpful.saved(label).value == saved.mean()
        assert helpful.safety[label].extra.value == extra.mean()
        assert helpful.safety[label].safe == (extra.mean() <= helpful.cold_loss)


def test_the_worst_case_is_one_shift_at_the_declared_bounds_for_every_rule(helpful: Plan) -> None:
    assert helpful.worst_moves == pytest.approx({"A": -0.01, "B": 0.01})
    clause = "the mean of A falls by 0.01 and that of B rises by 0.01"
    assert f"fully used against the logs: if {clause}, it loses " in helpful.verdict
    truth = Worlds.draw(LOGS, helpful.law, helpful.promise, 1000, 3, helpful.seed)
    for world, (warm, cold) in enumerate(
        zip(
            truth.worst(helpful.promise),
            truth.worst(helpful.promise, logs=False),
            strict=True,
        )
    ):
        moved = warm.online - truth.means[world]
        assert moved == pytest.approx([-0.01, 0.01, 0, 0])
        assert (cold.online == warm.online).all()
        for label in (RULE, RULE_COLD, "hybrid-ts"):
            one = helpful.contenders[label]
            assert one.policy is not None
            alone = da.simulate(
                one.policy,
                cold if one.cold else warm,
                horizon=1000,
                runs=world + 1,
                engine="every-round",
            ).final(one.policy.name)
            assert alone[world] == helpful.compared.worst[label][world]


def test_the_worst_case_is_a_point_of_the_curve(helpful: Plan) -> None:
    at = helpful.by_shift.x.tolist().index(0.01)
    assert helpful.by_shift.lost[at] is helpful.compared.worst


def test_the_break_even_agrees_with_the_worst_case() -> None:
    """The break-even is above the bound exactly if the rule saves at all shifts up to the bound."""
    assert "; you allowed 0.005." in plan(LOGS, bias_bound=0.005, horizon=500, worlds=6).limit
    for bound in (0.005, 0.015, 0.03):
        found = plan(LOGS, bias_bound=bound, horizon=500, worlds=6)
        rule = found.break_even_policy
        saves = [(x[RULE_COLD] - x[rule]).mean() > 0 for x in found.by_shift.lost]
        before = [ok for ok, x in zip(saves, found.by_shift.x, strict=True) if x <= bound]
        assert (found.break_even.value > bound) == all(before)


def test_the_ratio_in_19_of_20_worlds_is_true_as_written(helpful: Plan) -> None:
    (times,) = re.findall(r"In 19 of 20 worlds it loses at most ([\d.]+) times", helpful.verdict)
    mine, cold = helpful.lost[helpful.best_policy], helpful.lost[RULE_COLD]
    assert (mine <= float(times) * cold).mean() >= 0.95


def test_every_scene_has_the_same_number_of_worlds(helpful: Plan) -> None:
    scenes = [helpful.lost, helpful.compared.worst, *helpful.by_shift.lost]
    assert {lost.size for scene in scenes for lost in scene.values()} == {helpful.worlds}
    assert f"Means of {helpful.worlds} runs " in pictures.by_shift(helpful).caption


def test_a_move_of_a_rate_is_told_as_far_as_it_goes(harmful: Plan) -> None:
    assert harmful.worst_moves["A"] == pytest.approx(-0.12)  # V is 0.3, and a rate stops at 0


def test_bounds_that_differ_are_told_by_arm() -> None:
    bounds = {"A": 0.01, "B": 0.01, "C": 0.05, "D": 0.1}
    found = plan(LOGS, bias_bound=bounds, horizon=500, worlds=6)
    assert found.worst_moves == pytest.approx({"A": -0.01, "D": 0.1})
    assert "you allowed" not in found.limit
    assert all(found.compared.worst is not lost for lost in found.by_shift.lost)


@pytest.mark.slow
def test_the_recommendation_does_not_depend_on_the_seed_or_on_a_digit_of_the_bound(
    tmp_path: Path,
) -> None:
    """README's example.

    Seeds are fixed. Seeds 0 to 7 chose the same at both bounds, 16 of 16; by the rule of three,
    another seed differs with a probability of at most about 0.19 (95 %).
    """
    example_log.write_file(tmp_path / "log.csv")
    logs = da.OfflineData.from_logs(str(tmp_path / "log.csv"), arm="ad", reward="converted")
    law = law_of(logs, "auto", COINS)
    who, _ = contenders(logs, COINS, None)
    for bound in (0.02, 0.0216):
        promise = promised(None, bound, logs).promise
        for seed in (0, 1, 2):
            truth = Worlds.draw(logs, law, promise, 10_000, 100, seed)
            found = Stage(who, horizon=10_000, seed=seed).play(
                {
                    "expected": scene_of(truth.expected, promise, who),
                    "worst": scene_of(truth.worst, promise, who),
                }
            )
            choice = safe_choice(found["expected"], found["worst"])
            assert (choice.best, choice.bolder) == (RULE, "hybrid-ts"), (bound, seed)


def test_a_cold_start_by_an_infinite_bound_is_the_baseline(harmful: Plan) -> None:
    """With bias_bound=inf a learner knows the noise of the logs, and plays as the baseline does."""
    told = da.Learner(offline=LOGS, bias_bound=math.inf, reward_range=(0, 1), seed=3)
    assert told.policy == harmful.contenders[RULE_COLD].policy
    bare = da.Learner(told.policy, arms=list("ABCD"), reward_range=(0, 1), seed=3)
    coins_of = np.random.default_rng(0)
    for _ in range(300):
        arm = told.pull()
        assert bare.pull() == arm
        reward = float(coins_of.random() < 0.3)
        for learner in (told, bare):
            learner.update([arm], [reward])


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
