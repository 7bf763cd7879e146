"""What can be declared, what is refused, and what is warned of."""

import math
from typing import Any

import numpy as np
import pytest

from driftanchor import (
    POLICIES,
    TS,
    UCB,
    AnchorTS,
    GuardedAnchorTS,
    HybridTS,
    InvalidInput,
    Learner,
    OfflineData,
    Policy,
    Suggestion,
)
from driftanchor.live.state_events import Distrusted
from driftanchor.live.terms import Terms
from driftanchor.shift import suggest

OFFLINE = OfflineData.from_summary({"A": (200, 0.51), "B": (200, 0.48), "C": (50, 0.2)})


LOGS = OfflineData.from_summary({"A": (200, 0.5), "B": (200, 0.25), "C": (0,)})


UNITS: dict[str, Any] = {"prior_mean": 0.4, "noise": 0.5}


def learner(policy: str = "anchor-ts", **promises: Any) -> Learner:
    promises = promises or {"relative_bound": 0.05}
    return Learner(POLICIES[policy](**UNITS), offline=LOGS, seed=1, **promises)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "arms is missing: name the arms"),
        ({"arms": []}, "arms is empty"),
        ({"arms": ["A", "A"]}, "arms has the label 'A' twice"),
        ({"arms": [1]}, "arms must be text, got the label 1"),
        ({"offline": {"A": (1, 2)}}, "offline must be OfflineData"),
        ({"offline": OFFLINE}, "bias_bound is missing and arm 'A' has 200 logged rewards"),
        ({"offline": OFFLINE, "bias_bound": -0.1}, "bias_bound of arm 'A' must be at least 0"),
        ({"offline": OFFLINE, "bias_bound": {"A": 1}}, "bias_bound has no number for arm 'B'"),
        ({"offline": OFFLINE, "bias_bound": {"X": 1}}, "unknown arm 'X'"),
        ({"offline": OFFLINE, "arms": ["A"], "bias_bound": 1}, "arms lacks 'B', which has logs"),
        ({"arms": ["A"], "policy": "ts"}, "policy must be a Policy"),
        ({"arms": ["A"], "bias_bound_source": "proven"}, "did you mean 'proved'"),
        ({"arms": ["A"], "bias_bound_source": 1}, "must be one of proved, estimated, guessed"),
        (
            {"arms": ["A"], "policy": TS(), "bias_bound_source": "proved"},
            "bias_bound_source is 'proved' and a policy is given",
        ),
        (
            {"offline": OFFLINE, "bias_bound": 0.1, "reward_range": (5, 6)},
            "reward_range is 5 to 6, and the means of the logs go from",
        ),
        (
            {"offline": OfflineData.from_summary({"A": (9, 1e308, 1.0)}), "bias_bound": 0.1},
            "offline has the mean 1e.308",
        ),
        ({"arms": ["A"], "reward_range": (1, 0)}, "must rise"),
        ({"arms": ["A"], "reward_range": (1,)}, r"must be \(lowest, highest\)"),
        ({"arms": ["A"], "seed": -1}, "seed must be at least 0, got -1"),
        ({"arms": ["A"], "seed": 1.5}, "seed must be a whole number, got 1.5"),
    ],
)
def test_bad_construction_is_refused(arguments: dict[str, object], message: str) -> None:
    build: Any = Learner
    with pytest.raises(InvalidInput, match=message):
        build(**arguments)


def test_a_relative_bound_is_enough_and_promises_no_level() -> None:
    pupil = learner()
    assert pupil.relative_bounds.tolist() == [0.05] * 3
    assert pupil.bias_bounds.tolist() == [math.inf] * 3
    assert learner(bias_bound=0.1).relative_bounds.tolist() == [math.inf] * 3
    both = learner(bias_bound=0.1, relative_bound={"A": 0.1, "B": 0.2, "C": math.inf})
    assert both.bias_bounds.tolist() == [0.1] * 3
    assert both.relative_bounds.tolist() == [0.1, 0.2, math.inf]


def test_arms_are_added_with_either_promise() -> None:
    pupil = learner()
    pupil.add_arm("D", (50, 0.3), relative_bound=0.2)
    pupil.add_arm("E", (50, 0.3), bias_bound=0.1)
    pupil.add_arm("F")
    assert pupil.relative_bounds.tolist() == [0.05] * 3 + [0.2, math.inf, math.inf]
    assert pupil.bias_bounds.tolist() == [math.inf] * 4 + [0.1, math.inf]
    with pytest.raises(InvalidInput, match="bias_bound is missing and arm 'G' has 5"):
        pupil.add_arm("G", (5, 0.3))
    assert len(pupil.arms) == 6


@pytest.mark.parametrize("relative", [0.1, 0.2, 0.3, 50.0])
def test_a_relative_bound_that_the_bias_bound_implies_is_redundant_and_accepted(
    relative: float,
) -> None:
    """Each arm within 0.1 of its logs is within 0.1 of a common move of 0."""
    logs = OfflineData.from_summary({"A": (2_000, 0.5), "B": (2_000, 0.25), "C": (2_000, 0.3)})
    for policy in POLICIES.values():
        both = Learner(
            policy(**UNITS), offline=logs, seed=1, bias_bound=0.1, relative_bound=relative
        )
        assert {both.pull() for _ in range(20)} <= set(both.arms)
    pupil = learner(bias_bound=0.1, relative_bound=relative)
    pupil.add_arm("D", (50, 0.3), bias_bound=0.1, relative_bound=relative)
    assert pupil.terms.relative_bounds.tolist() == [relative] * 4


def test_an_arm_whose_relative_bound_has_no_other_logs_is_not_added() -> None:
    pupil = learner(bias_bound=0.1)
    with pytest.raises(InvalidInput, match="relative_bound needs at least two arms with logs"):
        pupil.add_arm("D", (50, 0.3), relative_bound=0.2)
    assert (len(pupil.arms), pupil.tally.arms) == (3, pupil.arms)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"offline": LOGS}, "or give relative_bound, how far arms may have moved apart"),
        ({"arms": ["A", "B"], "relative_bound": 0.1}, "relative_bound is given and no arm has"),
        ({"offline": LOGS, "relative_bound": {"X": 0.1}}, "unknown arm 'X'"),
        ({"offline": LOGS, "relative_bound": -1}, "relative_bound of arm 'A' must be at least 0"),
        (
            {"offline": OfflineData.from_summary({"A": (9, 0.5), "B": (0,)}), "relative_bound": 1},
            "with one logged arm a common move cannot be separated from its own",
        ),
    ],
)
def test_what_cannot_be_promised_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Learner(AnchorTS(**UNITS), **options)


def declared(**options: Any) -> Terms:
    return Terms.declare(AnchorTS(**UNITS), offline=LOGS, seed=1, **options)


def test_restored_terms_equal_those_declared() -> None:
    terms = Terms.declare(offline=LOGS, bias_bound=0.1, reward_range=(0, 1), seed=1)
    assert terms.reasons
    restored = Terms.restore(
        terms.policy,
        offline=terms.offline,
        bias_bounds=terms.bias_bounds,
        relative_bounds=None,
        reward_range=terms.reward_range,
        seed=terms.seed,
        reasons=terms.reasons,
    )
    assert restored == terms
    assert hash(restored) == hash(terms)


def test_restoring_warns_of_nothing_and_chooses_nothing() -> None:
    far = OfflineData.from_summary({"A": (200, 50.0, 90.0), "B": (100, 56.0, 120.0)})
    with pytest.warns(UserWarning, match="rewards are in other units than AnchorTS expects"):
        terms = Terms.declare(AnchorTS(), offline=far, bias_bound=1.0, seed=1)
    options: dict[str, Any] = {"bias_bounds": 1.0, "relative_bounds": None, "reward_range": None}
    assert Terms.restore(AnchorTS(), offline=far, seed=1, **options) == terms
    with pytest.raises(InvalidInput, match="seed must be a whole number, got None"):
        Terms.restore(AnchorTS(), offline=far, seed=None, **options)


@pytest.mark.parametrize(
    "other",
    [
        {"bias_bound": 0.2},
        {"bias_bound": 0.1, "relative_bound": 0.05},
        {"bias_bound": 0.1, "reward_range": (0, 1)},
    ],
)
def test_terms_that_differ_are_not_equal(other: dict[str, Any]) -> None:
    assert declared(bias_bound=0.1) == declared(bias_bound=0.1)
    assert declared(**other) != declared(bias_bound=0.1)
    assert declared(**other) != "terms"


def test_terms_never_change() -> None:
    terms: Any = declared(bias_bound=0.1)
    with pytest.raises(ValueError, match="read-only"):
        terms.bias_bounds[0] = 1.0
    with pytest.raises(AttributeError):
        terms.seed = 2
    wider = terms.with_arm("D", (5, 0.3), bias_bound=0.5)
    assert (len(wider.arms), len(terms.arms)) == (4, 3)
    assert wider.bias_bounds.tolist() == [0.1] * 3 + [0.5]


def test_arms_without_logs_and_another_order_are_taken_as_named() -> None:
    logs = OfflineData.from_summary({"A": (10, 0.5, 0.2), "B": (20, 0.25)})
    terms = Terms.declare(AnchorTS(), offline=logs, arms=["C", "B", "A"], bias_bound=0.1, seed=1)
    assert list(terms.arms) == ["C", "B", "A"]
    assert terms.offline.n.tolist() == [0, 20, 10]
    np.testing.assert_array_equal(terms.offline.mean, [math.nan, 0.25, 0.5])
    np.testing.assert_array_equal(terms.offline.variance, [math.nan, math.nan, 0.2])


class Counted(str):
    """A label that counts how often it is compared."""

    __slots__ = ()
    times = 0

    def __eq__(self, other: object) -> bool:
        Counted.times += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def test_many_arms_are_found_without_comparing_each_with_each() -> None:
    labels = [Counted(f"arm {i}") for i in range(300)]
    logs = OfflineData.from_summary({str(label): (10, 0.5) for label in labels})
    Counted.times = 0
    Learner(TS(), offline=logs, arms=labels, bias_bound=0.1)
    assert Counted.times < 20 * len(labels)  # each with each is 45,000


def test_nothing_is_promised_of_distrusted_logs() -> None:
    promises: dict[str, Any] = {"bias_bound": 0.1, "relative_bound": 0.05}
    terms = Terms.declare(AnchorTS(**UNITS), offline=OFFLINE, seed=1, **promises)
    terms = terms.after(Distrusted(0))
    assert terms.bias_bounds.tolist()[0] == math.inf
    assert terms.relative_bounds.tolist()[0] == math.inf
    assert terms.offline.n[0] > 0
    for rest in (terms.bias_bounds, terms.relative_bounds):
        assert np.isfinite(rest[1:]).all()


def test_a_relative_bound_that_is_left_alone_promises_nothing() -> None:
    terms = Terms.declare(AnchorTS(**UNITS), offline=LOGS, relative_bound=0.05, seed=1)
    assert np.isinf(terms.after(Distrusted(0)).relative_bounds).all()


NEAR_50 = OfflineData.from_summary({"A": (200, 50.0, 90.0), "B": (100, 56.0, 120.0)})


SD = math.sqrt((199 * 90 + 99 * 120) / 298)


# 5 % of chi-square laws lie below these (any table has them): the limit is s √(ν/χ²).
TABLE = {2: 0.103, 5: 1.145, 10: 3.940, 30: 18.493, 100: 77.929}


def test_without_a_policy_it_is_the_guarded_rule_in_the_units_of_the_logs() -> None:
    learner = Learner(offline=NEAR_50, bias_bound=5.0)
    rule = learner.policy
    assert isinstance(rule, GuardedAnchorTS)
    assert rule == GuardedAnchorTS(prior_mean=rule.prior_mean, noise=rule.noise)
    assert rule.prior_mean == pytest.approx(52.0)
    assert SD < rule.noise < 1.1 * SD
    text = "\n".join(learner.reasons)
    for word in (
        "guarded-anchor-ts is the default",
        "anchor-ts is the paper",
        "52:",
        "9.998",
        "estimated",
    ):
        assert word in text


@pytest.mark.parametrize("degrees", TABLE)
def test_the_noise_is_an_upper_limit_of_the_standard_deviation(degrees: int) -> None:
    logs = OfflineData.from_summary({"A": (degrees, 1.0, 9.0), "B": (2, 1.0, 9.0), "C": (1, 1.0)})
    limit = 3.0 * math.sqrt(degrees / TABLE[degrees])
    assert logs.noise_limit() == pytest.approx(limit, rel=0.15 if degrees == 2 else 0.01)
    assert logs.noise_limit() > 0.999 * limit
    assert Learner(offline=logs, bias_bound=0.0).policy.noise == logs.noise_limit()


def test_with_more_logs_the_limit_comes_down_to_the_standard_deviation() -> None:
    logs = OfflineData.from_summary({"A": (10**12, 1.0, 9.0)})
    assert logs.noise_limit() == pytest.approx(3.0, rel=1e-5)


@pytest.mark.parametrize("row", [(0,), (2, 1.0, 4.0), (50, 1.0)])
def test_too_few_logs_have_no_limit(row: tuple[float, ...]) -> None:
    assert math.isnan(OfflineData.from_summary({"A": row, "B": (1, 2.0, 0.0)}).noise_limit())


@pytest.mark.parametrize(
    ("variance", "noise"),
    [(0.04, 0.2), (0.24, 0.5), (9.0, 0.5), (None, 0.5), (0.0, 0.5)],
)
def test_a_declared_range_holds_the_noise_down_to_half_of_it(
    variance: float | None, noise: float
) -> None:
    logs = OfflineData.from_summary({"A": (400, 0.3, variance)})
    rule = Learner(offline=logs, bias_bound=0.1, reward_range=(0, 1)).policy
    assert rule.prior_mean == 0.3
    assert noise <= rule.noise < min(1.07 * noise, 0.5 + 1e-9)


def test_without_logs_the_units_come_from_the_range_or_are_assumed() -> None:
    learner = Learner(arms=["A"], reward_range=(0, 10))
    assert (learner.policy.prior_mean, learner.policy.noise) == (5.0, 5.0)
    assert len(learner.reasons) == 3  # no logs, nothing to say of a bias bound
    for reward_range in (None, (0.0, math.inf)):
        learner = Learner(arms=["A"], reward_range=reward_range)
        assert (learner.policy.prior_mean, learner.policy.noise) == (0.0, 1.0)
        assert "noise 1: assumed" in learner.reasons[2]


@pytest.mark.parametrize(
    ("source", "eps", "budget"),
    [("proved", 0.0, 0.0), ("estimated", 0.2, 5.0), ("guessed", 0.4, 8.0)],
)
def test_the_less_sure_the_bias_bound_the_more_the_guard_insures(
    source: str, eps: float, budget: float
) -> None:
    learner = Learner(offline=NEAR_50, bias_bound=5.0, bias_bound_source=source)
    assert isinstance(learner.policy, GuardedAnchorTS)
    assert (learner.policy.eps, learner.policy.budget) == (eps, budget)
    begins = f"budget {budget:g}, eps {eps:g}: the bounds are {source}, so "
    assert learner.reasons[3].startswith(begins)


def test_logs_without_variance_are_warned_of() -> None:
    bare = OfflineData.from_summary({"A": (200, 0.51), "B": (200, 0.48)})
    with pytest.warns(UserWarning, match="no variance, so noise=1 is assumed") as caught:
        Learner(offline=bare, bias_bound=0.1)
    assert caught[0].filename == __file__


def week(move: float, **rates: float) -> OfflineData:
    rates = rates or {"A": 0.5, "B": 0.3}
    return OfflineData.from_summary(
        {arm: (400, p + move, (p + move) * (1 - p - move)) for arm, p in rates.items()}
    )


@pytest.mark.parametrize("name", ["bias_bound", "relative_bound"])
def test_a_suggestion_from_one_period_is_warned_of(name: str) -> None:
    found = suggest({"W1": week(0.0)}, unit="week")
    options: dict[str, Any] = {name: found, "reward_range": (0, 1), "seed": 1}
    with pytest.warns(UserWarning, match=f"{name} is a Suggestion without a bound") as caught:
        made = Learner(offline=week(0.0), **options)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    text = str(caught[0].message)
    assert (found.meaning if name == "bias_bound" else found.relative_meaning) in text
    assert text.endswith(f"Give {name} a number, or inf for no promise")
    assert not np.isfinite([made.bias_bounds, made.relative_bounds]).any()
    Learner(offline=week(0.0), **(options | {name: math.inf}))  # said so, no warning


def test_a_suggestion_with_a_bound_is_not() -> None:
    found = suggest({f"W{i}": week(x) for i, x in enumerate([0.0, 0.1, -0.1, 0.05])}, unit="week")
    terms = Terms.declare(offline=week(0.0), relative_bound=found, reward_range=(0, 1), seed=1)
    assert terms.relative_bounds.tolist() == [found.relative_bound] * 2


def found(moves: list[float], **rates: float) -> Suggestion:
    periods = {f"W{i}": week(x, **rates) for i, x in enumerate(moves)}
    return suggest(periods, unit="week")


MOVES = [0.0, 0.1, -0.1, 0.05]


@pytest.mark.parametrize("name", ["bias_bound", "relative_bound"])
def test_a_suggestion_from_other_arms_is_warned_of(name: str) -> None:
    logs = OfflineData.from_summary({"A": (400, 0.5, 0.25), "X": (400, 0.3, 0.2), "Y": (0,)})
    options: dict[str, Any] = {name: found(MOVES), "reward_range": (0, 1), "seed": 1}
    with pytest.warns(UserWarning, match=f"{name} is a Suggestion from other arms") as caught:
        made = Learner(offline=logs, **options)
    assert "it saw ['A', 'B'], and never ['X']." in str(caught[0].message)
    assert caught[0].filename == __file__
    assert np.isfinite([made.bias_bounds, made.relative_bounds]).any()
    Learner(offline=logs, **(options | {name: getattr(options[name], name)}))  # meant: no warning


def test_a_suggestion_for_an_arm_that_is_added_becomes_a_number() -> None:
    pupil = Learner(TS(noise=0.5), offline=week(0.0), bias_bound=0.1, seed=1)
    seen: Any = found(MOVES, A=0.5, D=0.4)
    nothing: Any = found([0.0], A=0.5, F=0.4)
    pupil.add_arm("D", (9, 0.4), bias_bound=seen)
    assert pupil.bias_bounds.tolist() == [0.1, 0.1, seen.bias_bound]
    with pytest.warns(UserWarning, match="Suggestion from other arms") as caught:
        pupil.add_arm("E", (9, 0.4), bias_bound=seen)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="Suggestion without a bound"):
        pupil.add_arm("F", (9, 0.4), bias_bound=nothing)
    assert Learner.from_json(pupil.to_json()).state == pupil.state


def test_a_policy_given_is_taken_as_it_is() -> None:
    learner = Learner(AnchorTS(prior_mean=52, noise=10), offline=NEAR_50, bias_bound=5.0)
    assert learner.policy == AnchorTS(prior_mean=52, noise=10)
    assert learner.reasons == ()


@pytest.mark.parametrize(
    ("policy", "advice"),
    [
        (AnchorTS(), r"mean 52, far from .*use AnchorTS\(prior_mean=52, noise=9.998\)"),
        (TS(prior_mean=52, noise=4), r"deviation 9.998 within .*use TS\(noise=9.998\)"),
        (UCB(), r"deviation 9.998 within arms, more than twice noise=1.*use UCB\(noise=9.998\)"),
        (GuardedAnchorTS(), r"deviation 9.998 within arms.*use GuardedAnchorTS\(noise=9.998\)"),
        (HybridTS(noise=9), r"mean 52, far from prior_mean=0 at noise=9"),
    ],
)
def test_logs_in_other_units_than_the_policy_are_warned_of(policy: Policy, advice: str) -> None:
    with pytest.warns(UserWarning, match=advice) as caught:
        Learner(policy, offline=NEAR_50, bias_bound=5.0)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("policy", [UCB(noise=10), GuardedAnchorTS(noise=10), TS(noise=100)])
def test_units_that_fit_are_not_warned_of(policy: Policy) -> None:
    Learner(policy, offline=NEAR_50, bias_bound=5.0)
