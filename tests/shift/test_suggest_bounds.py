"""`suggest`: what it covers, what it says, and what it does with logs that say little."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from weekly_logs import MOVING, data, suggested, weeks

from driftanchor.core.offline import OfflineData
from driftanchor.errors import InvalidInput
from driftanchor.shift import suggest


def test_more_coverage_more_arms_and_fewer_periods_ask_for_more() -> None:
    usual = suggested().bias_bound
    assert suggested(coverage=0.8).bias_bound < usual < suggested(coverage=0.99).bias_bound
    fewer = suggest(dict(list(MOVING.items())[:2]))
    assert fewer.bias_bound > 1.5 * usual
    assert fewer.notes[0].startswith(
        "two periods are very little: they show the common move once, "
        "and the own moves of two arms only once"
    )
    three = suggest(weeks((0.5, 0.3, 0.4), (0.52, 0.3, 0.43)))
    assert "the own moves of 3 arms 2 times" in three.notes[0]
    one = suggest(weeks((0.5,), (0.52,)))
    assert one.notes[0].startswith("two periods are very little: they show the common move once.")


@pytest.mark.parametrize(("scale", "by"), [(100.0, 0.0), (1e-3, 7.0)])
def test_units_do_not_matter(scale: float, by: float) -> None:
    def moved(offline: OfflineData) -> OfflineData:
        mean, variance = by + scale * offline.mean, scale**2 * offline.variance
        return OfflineData(offline.arms, offline.n, mean.tolist(), variance.tolist())

    other = suggest({label: moved(offline) for label, offline in MOVING.items()})
    assert other.bias_bound == pytest.approx(scale * suggested().bias_bound, rel=1e-6)


def test_one_arm_is_enough() -> None:
    found = suggest(weeks((0.5,), (0.6,), (0.55,)))
    assert found.correlation == 0.0
    assert 0.1 < found.bias_bound < 1
    assert (found.common_sd, found.own_sd, found.relative_bound) == (None, None, math.inf)
    assert found.relative_meaning.startswith("W is not known: ")
    assert any(
        "its own moves cannot be separated from moves that all arms share" in n for n in found.notes
    )
    assert found.relative_sensitivity == ()


def test_arms_that_share_no_two_periods_leave_w_unknown() -> None:
    apart = {
        "1": data(A=(900, 0.5, 0.25)),
        "2": data(A=(900, 0.55, 0.25)),
        "3": data(B=(900, 0.3, 0.21)),
        "4": data(B=(900, 0.28, 0.2)),
    }
    found = suggest(apart)
    assert math.isinf(found.relative_bound)
    assert 0 < found.bias_bound < math.inf
    assert any(
        note.startswith("no two arms were seen in the same two periods") for note in found.notes
    )


def test_parts_that_share_nothing_and_periods_of_one_arm_are_fine() -> None:
    left = weeks((0.50, 0.30), (0.56, 0.37), (0.45, 0.24))
    right = {
        f"r{label}": data(C=(800, m + 0.1, 0.2), D=(900, m, 0.2))
        for label, m in {"1": 0.4, "2": 0.45, "3": 0.38}.items()
    }
    alone = {"alone": data(A=(700, 0.52, 0.25))}
    found = suggest({**left, **right, **alone})
    assert found.own_sd is not None
    assert found.common_sd is not None
    assert 0.02 < found.common_sd.estimate < 0.12
    assert 0 < found.relative_bound <= found.bias_bound
    assert any(note.startswith("arms were logged in different periods") for note in found.notes)


def eight_weeks(seed: int, sd: float = 0.02, n: int = 1_325) -> dict[str, OfflineData]:
    """Three arms whose order never changes, 10,600 coins an arm, and a common weekly move."""
    rng = np.random.default_rng(seed)
    found = {}
    for week in range(8):
        common = rng.normal(0, sd)
        rates = {arm: rng.binomial(n, p + common) / n for arm, p in GAPS.items()}
        found[f"W{week}"] = data(**{a: (n, x, x * (1 - x) * n / (n - 1)) for a, x in rates.items()})
    return found


GAPS = {"A": 0.1734, "B": 0.1412, "C": 0.0962}


def test_eight_weeks_that_move_together_keep_their_order() -> None:
    found = [suggest(eight_weeks(seed), unit="week") for seed in range(4)]
    # Medians of four: V has a standard error of 0.008 or so, W of 0.003.
    assert 0.03 < np.median([x.bias_bound for x in found]) < 0.07
    assert np.median([x.relative_bound for x in found]) < 0.028  # gaps: 0.032, 0.045, 0.077
    for one in found:
        assert one.common_sd is not None
        assert one.own_sd is not None
        assert one.own_sd.high < one.common_sd.high
        assert one.relative_bound < one.bias_bound
    one = found[0]
    means = np.stack([offline.mean for offline in eight_weeks(0).values()])
    assert np.corrcoef(one.common_moves, means.mean(axis=1))[0, 1] > 0.99
    assert one.common_moves.mean() == pytest.approx(0.0, abs=1e-12)


def test_a_rate_cannot_move_beyond_its_range() -> None:
    n = 400

    def coin(x: float) -> tuple[float, ...]:
        return (n, x, x * (1 - x) * n / (n - 1))

    two = {"1": data(A=coin(0.5), B=coin(0.3)), "2": data(A=coin(0.6), B=coin(0.2))}
    found = suggest(two)
    assert found.bias_bound == pytest.approx(1 - 0.25)  # of B, whose mean is 0.25
    assert found.relative_bound <= found.bias_bound
    assert any("as the range of the rewards allows no more" in note for note in found.notes)
    assert [line.chance for line in found.sensitivity][1:] == [1.0, 1.0]
    wide = {k: data(A=(n, d.mean[0], 0.1), B=(n, d.mean[1], 0.1)) for k, d in two.items()}
    free = suggest(wide)
    assert free.bias_bound > 1
    assert not any("range" in note for note in free.notes)
    assert suggest(wide, reward_range=(0, 2)).bias_bound == pytest.approx(1.75)
    assert suggest(wide, reward_range=(0, math.inf)).bias_bound == free.bias_bound


@pytest.mark.parametrize(
    ("span", "told"),
    [
        ((0.4, 1), "reward_range is 0.4 to 1, and the means of the logs go from 0.31 to 0.5125"),
        ((1, 0), "reward_range must rise"),
        ((0, math.nan), "reward_range must be a number"),
        ((0,), r"reward_range must be \(lowest, highest\)"),
        ("x", "reward_range"),
    ],
)
def test_bad_ranges_are_refused(span: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        suggest(MOVING, reward_range=span)


def test_arms_logged_at_different_times_need_a_larger_w() -> None:
    moves = (0.0, 0.08, -0.06, 0.03, -0.05, 0.06)
    same = weeks(*((0.5 + d, 0.3 + d) for d in moves), n=20_000)
    other = dict(same)
    for label, many in zip(same, (1, 1, 1, 9, 9, 9), strict=True):
        a, b = same[label].mean
        other[label] = data(A=(2_000 * many, a, 0.24), B=(2_000 * (10 - many), b, 0.2))
    apart, alike = suggest(other), suggest(same)
    assert apart.relative_bound > 2 * alike.relative_bound
    assert any("different periods" in note for note in apart.notes)
    assert not any("different periods" in note for note in alike.notes)


def test_moves_that_are_exactly_common_leave_next_to_nothing_for_w() -> None:
    sums = {
        str(i): data(A=(10, x), B=(10, x + 3), C=(10, x - 1)) for i, x in enumerate((1.0, 2, 4))
    }
    found = suggest(sums)
    assert found.own_sd is not None
    assert found.common_sd is not None
    assert found.own_sd.high < 1e-9
    assert found.relative_bound < 1e-6
    assert found.common_sd.estimate == pytest.approx(np.std([1, 2, 4], ddof=1))
    # Student's prediction interval of a new common move: 4.303 s √(1 + 1/3).
    assert found.bias_bound == pytest.approx(
        4.303 * np.std([1, 2, 4], ddof=1) * (4 / 3) ** 0.5, rel=0.01
    )


def test_identical_periods_leave_what_noise_may_hide() -> None:
    found = suggest(weeks((0.5, 0.3), (0.5, 0.3), (0.5, 0.3)))
    assert found.tau is not None
    assert (found.tau.estimate, found.tau.low) == (0.0, 0.0)
    assert 0 < found.tau.high < 0.05
    assert 0 < found.bias_bound < 0.1
    assert suggest(weeks((0.5,), (0.5,), (0.5,), n=10)).bias_bound > found.bias_bound


def test_arms_seen_once_are_covered_like_the_others() -> None:
    new = {**MOVING, "2026-W05": data(C=(500, 0.4, 0.24), A=(0,))}
    found = suggest(new)
    assert (found.arms["C"].periods, found.arms["C"].tau) == (1, None)
    assert found.tau == suggested().tau
    assert found.bias_bound > suggested().bias_bound  # one arm more, and less known of it
    assert (
        "arm 'C' is seen in one period only: the bounds assume that such arms move as the others do"
        in found.notes
    )


def test_without_variances_all_noise_counts_as_moves() -> None:
    money = {
        label: data(A=(100, x), B=(100, 9 - x))
        for label, x in {"1": 4.0, "2": 4.4, "3": 4.1}.items()
    }
    found = suggest(money)
    assert found.notes[0].startswith(
        "the rewards have no variance, so noise cannot be separated from"
    )
    assert found.tau is not None
    assert found.tau.estimate == pytest.approx(np.std([4.0, 4.4, 4.1], ddof=1))
    known = {k: data(A=(100, d.mean[0], 4.0), B=(100, d.mean[1], 4.0)) for k, d in money.items()}
    told = suggest(known).tau
    assert told is not None
    assert told.estimate < found.tau.estimate
    some = {k: data(A=(100, d.mean[0], 4.0), B=(100, d.mean[1])) for k, d in money.items()}
    assert suggest(some).bias_bound == pytest.approx(suggest(known).bias_bound)


def test_an_arm_without_variance_has_the_noise_of_the_others() -> None:
    rare = weeks((0.010, 0.0), (0.014, 0.0), (0.009, 0.0), n=500)
    found = suggest(rare)
    assert 0 < found.bias_bound < 0.05


def test_rewards_that_vary_between_periods_only() -> None:
    steps = {str(i): data(A=(10, x, 0.0)) for i, x in enumerate((1.0, 2.0, 4.0))}
    found = suggest(steps)
    assert found.tau is not None
    assert found.tau.estimate == pytest.approx(np.std([1, 2, 4], ddof=1))
    with pytest.raises(InvalidInput, match="all rewards are equal in every period"):
        suggest({str(i): data(A=(10, 1.0, 0.0)) for i in range(3)})


@pytest.mark.parametrize(
    ("periods", "told"),
    [
        ({}, "periods must map labels to OfflineData"),
        ([1], "periods must map labels to OfflineData"),
        ({"1": 3}, "periods must map labels to OfflineData, got '1': 3"),
        ({"1": data(A=(0,))}, "periods have no rewards at all"),
        (
            {"1": data(A=(9, 1.0, 1.0)), "2": data(A=(9, -1e300, 1.0))},
            r"rewards of arm 'A' in period '2' are too large: their mean is -1e\+300, and mean and",
        ),
        (
            {"1": data(A=(9, 1.0, 1e308)), "2": data(A=(9, 2.0, 1.0))},
            "rewards of arm 'A' in period '1' are too large: their mean is 1, and mean and",
        ),
    ],
)
def test_bad_periods_are_refused(periods: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        suggest(periods)


@pytest.mark.parametrize("coverage", [0.4, 1.0, math.nan, "x"])
def test_bad_coverage_is_refused(coverage: Any) -> None:
    with pytest.raises(InvalidInput, match="coverage must be"):
        suggest(MOVING, coverage=coverage)
