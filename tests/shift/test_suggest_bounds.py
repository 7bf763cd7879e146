"""`suggest`: what it covers, what it says, and what it does with logs that say little."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftanchor.core.arms import Arms
from driftanchor.core.check import Floats
from driftanchor.core.offline import OfflineData
from driftanchor.errors import InvalidInput
from driftanchor.shift import suggest
from driftanchor.shift.period_model import PeriodModel
from driftanchor.shift.period_table import PeriodTable
from driftanchor.shift.suggest_bounds import SCALE


def data(**arms: Any) -> OfflineData:
    return OfflineData.from_summary(arms)


def weeks(*means: tuple[float, ...], n: int = 1_000) -> dict[str, OfflineData]:
    """Weeks of coins with given means of arms A, B, …"""
    return {
        f"2026-W{i:02}": data(**{chr(65 + k): (n, m, m * (1 - m)) for k, m in enumerate(row)})
        for i, row in enumerate(means, start=1)
    }


MOVING = weeks((0.50, 0.30), (0.58, 0.27), (0.45, 0.36), (0.52, 0.31))


def test_what_a_suggestion_says() -> None:
    found = suggest(MOVING, unit="week")
    assert found.tau is not None
    assert 0.03 < found.tau.estimate < 0.07
    assert found.tau.low < found.tau.estimate < found.tau.high
    assert list(found.arms) == ["A", "B"]
    a = found.arms["A"]
    assert (a.periods, a.n) == (4, 4_000)
    assert a.mean == pytest.approx(0.5125)
    assert a.tau is not None
    assert a.tau.high > found.tau.high  # one arm knows less than two
    assert found.bias_bound > 2 * found.tau.estimate
    assert found.periods == tuple(MOVING)
    assert found.moves[0].tolist() == pytest.approx([-0.0125, 0.0675, -0.0625, 0.0075])
    assert found.meaning.startswith(f"V = {found.bias_bound:.4g}: in 95 % of new weeks, ")
    assert "no arm's true mean is further than that from the true mean behind its logs" in (
        found.meaning
    )
    error = math.sqrt(np.mean([m * (1 - m) for m in (0.50, 0.58, 0.45, 0.52)]) / 4_000)
    assert f"(standard error up to {error:.2g}, arm 'A')" in found.meaning
    assert "only if the future behaves like the past" in found.meaning
    assert found.relative_meaning.startswith(f"W = {found.relative_bound:.4g}: in 95 % of new w")


def test_sensitivity_lines_are_half_the_bound_the_bound_and_twice_the_bound() -> None:
    found = suggest(MOVING)
    half, whole, twice = found.sensitivity
    assert (2 * half.bias_bound, twice.bias_bound / 2) == (whole.bias_bound, found.bias_bound)
    assert half.chance < whole.chance < twice.chance < 1
    assert whole.chance == pytest.approx(0.95)
    assert half.past <= whole.past <= twice.past == 1.0
    others = [0.5 - (0.58 + 0.45 + 0.52) / 3, 0.36 - (0.30 + 0.27 + 0.31) / 3]
    assert suggest(MOVING).moves.shape == (2, 4)
    tight = suggest(MOVING, coverage=0.5)
    share = tight.sensitivity[0].past
    assert share == sum(abs(x) <= tight.bias_bound / 2 for x in _past(MOVING)) / 8
    assert min(abs(x - others[0]) for x in _past(MOVING)) < 1e-12


def _past(periods: Mapping[str, OfflineData]) -> list[float]:
    means = np.stack([offline.mean for offline in periods.values()])
    return [
        float(means[e, k] - np.delete(means[:, k], e).mean())
        for e in range(len(means))
        for k in range(2)
    ]


def test_more_coverage_more_arms_and_fewer_periods_ask_for_more() -> None:
    usual = suggest(MOVING).bias_bound
    assert (
        suggest(MOVING, coverage=0.8).bias_bound < usual < suggest(MOVING, coverage=0.99).bias_bound
    )
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
    assert other.bias_bound == pytest.approx(scale * suggest(MOVING).bias_bound, rel=1e-6)


def test_one_arm_is_enough() -> None:
    found = suggest(weeks((0.5,), (0.6,), (0.55,)))
    assert found.correlation == 0.0
    assert 0.1 < found.bias_bound < 1
    assert (found.common_sd, found.own_sd, found.relative_bound) == (None, None, math.inf)
    assert found.relative_meaning.startswith("W is not known: ")
    assert any(
        "its own moves cannot be told from moves that all arms share" in n for n in found.notes
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
    assert suggest(other).relative_bound > 2 * suggest(same).relative_bound
    assert any("different periods" in note for note in suggest(other).notes)
    assert not any("different periods" in note for note in suggest(same).notes)


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


def test_the_sentence_counts_the_noise_of_sparse_logs() -> None:
    rng = np.random.default_rng(8)
    rates = rng.binomial(40, [0.1, 0.12, 0.4], (4, 3)) / 40
    found = suggest(weeks(*map(tuple, rates), n=40), unit="week")
    error = math.sqrt((rates * (1 - rates))[:, 2].mean() / 160)
    assert f"sampling noise too (standard error up to {error:.2g}, arm 'C')" in found.meaning
    assert "comes on top, and policies count it by themselves" in found.meaning
    money = suggest({"1": data(A=(9, 4.0), B=(9, 5.0)), "2": data(A=(9, 4.2), B=(9, 5.5))})
    assert "It comes on top, and its size is not known here." in money.meaning


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
    assert found.tau == suggest(MOVING).tau
    assert found.bias_bound > suggest(MOVING).bias_bound  # one arm more, and less known of it
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
    assert found.notes[0].startswith("the rewards have no variance, so noise cannot be told from")
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


def test_one_period_says_what_cannot_be_known_and_offers_a_scale() -> None:
    found = suggest(weeks((0.5, 0.5)), unit="week")
    assert math.isinf(found.bias_bound)
    assert found.tau is None
    assert "in one week only, '2026-W01': how far a mean moves" in found.meaning
    assert [guess.word for guess in found.guesses] == list(SCALE)
    assert [guess.worth for guess in found.guesses] == [256, 64, 16, 4, 1]
    # σ = 1/2, τ = σ/16, two arms: the move has √2 τ, and 2.236 of these cover both (Šidák).
    assert found.guesses[0].bias_bound == pytest.approx(0.5 / 16 * 2**0.5 * 2.2365, rel=2e-3)
    assert json.loads(json.dumps(found.to_json()))["suggested_bias_bound"] == "inf"
    apart = suggest({"1": data(A=(10, 0.5, 0.1)), "2": data(B=(10, 0.5, 0.1))})
    assert "in 2 periods, but no arm in two of them" in apart.meaning
    money = suggest({"1": data(A=(10, 0.5))})
    assert all(math.isnan(guess.bias_bound) for guess in money.guesses)
    with pytest.raises(InvalidInput, match="no arm was seen in two periods"):
        found.plot("x.svg")


def test_notes_name_restless_arms_common_moves_and_useless_bounds() -> None:
    calm = [(0.5, 0.3, 0.2), (0.5, 0.302, 0.2), (0.501, 0.3, 0.199), (0.5, 0.298, 0.2)]
    wild = weeks(*((a, b, c, 0.5 + 0.3 * (-1) ** i) for i, (a, b, c) in enumerate(calm)))
    assert any("arm 'D' is moving more than the others" in note for note in suggest(wild).notes)
    common = weeks(*((0.5 + d, 0.3 + d, 0.4 + d) for d in (0.0, 0.08, -0.06, 0.03)))
    found = suggest(common)
    assert found.correlation > 0.9
    assert any(note.startswith("arms move together (correlation ") for note in found.notes)
    assert any("can hardly rule out an arm" in note for note in found.notes)
    assert not any(
        "rule out" in note
        for note in suggest(weeks((0.1, 0.9), (0.11, 0.9), (0.1, 0.89), n=10**5)).notes
    )


def test_json_is_strict_and_complete() -> None:
    told = json.loads(json.dumps(suggest(MOVING).to_json(), allow_nan=False))
    assert told["suggested_bias_bound"] == suggest(MOVING).bias_bound
    assert set(told["arms"]["A"]) == {"periods", "n", "mean", "tau"}
    assert set(told["tau"]) == {"estimate", "low", "high"}
    assert len(told["sensitivity"]) == len(told["relative_sensitivity"]) == 3
    found = suggest(MOVING)
    assert found.common_sd is not None
    assert found.own_sd is not None
    assert told["suggested_relative_bound"] == found.relative_bound
    assert told["common_sd"] == found.common_sd.estimate
    assert told["own_sd_interval"] == [found.own_sd.low, found.own_sd.high]
    assert len(told["common_moves"]) == 4
    one = json.loads(json.dumps(suggest(weeks((0.5, 0.5))).to_json(), allow_nan=False))
    assert (one["common_sd"], one["own_sd"], one["own_sd_interval"]) == (None, None, None)
    assert one["suggested_relative_bound"] == "inf"
    assert len(told["guesses"]) == 5


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_plots_are_written(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"moves.{suffix}"
    suggest(MOVING).plot(path)
    assert path.stat().st_size > 5_000
    suggest(weeks((0.5,), (0.6,), (0.55,))).plot(path)  # without own moves
    assert path.stat().st_size > 5_000


def test_plots_of_many_arms_and_odd_labels(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    labels = [f"${i}$ " + "x" * 40 for i in range(30)]
    many = {
        f"period {e}": OfflineData(Arms(labels), [100] * 30, rng.normal(0, 1, 30), [1.0] * 30)
        for e in range(15)
    }
    suggest(many).plot(tmp_path / "many.svg")
    with pytest.raises(InvalidInput, match=r"must end in one of .png, .pdf, .svg, got 'x.gif'"):
        suggest(many).plot("x.gif")


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


def made(
    rng: np.random.Generator, *, arms: int, periods: int, law: str, tau: float, together: float
) -> tuple[dict[str, OfflineData], Floats, Floats]:
    """Periods with a known shift between them, the true moves of the next one, and own ones."""
    mean = rng.uniform(0.3, 0.7, (arms, 1)) if law == "bernoulli" else rng.normal(5, 1, (arms, 1))
    common, own = rng.normal(0, 1, periods + 1), rng.normal(0, 1, (arms, periods + 1))
    truth = mean + tau * (math.sqrt(together) * common + math.sqrt(1 - together) * own)
    n = rng.integers(500, 2_000, (arms, periods))
    if law == "bernoulli":
        truth = truth.clip(0.01, 0.99)
        seen = rng.binomial(n, truth[:, :-1]) / n
        variance = seen * (1 - seen) * n / (n - 1)
    else:
        seen = truth[:, :-1] + rng.normal(0, 1, n.shape) / np.sqrt(n)
        variance = rng.chisquare(n - 1) / (n - 1)
    labels = Arms.numbered(arms)
    past = {
        str(e): OfflineData(labels, n[:, e], seen[:, e], variance[:, e]) for e in range(periods)
    }
    share = n / n.sum(axis=1, keepdims=True)
    moves = truth[:, -1] - (share * truth[:, :-1]).sum(axis=1)
    shared_part = tau * math.sqrt(together) * (common[-1] - share.mean(axis=0) @ common[:-1])
    return past, moves, moves - shared_part


CASES = [  # arms, periods, law, τ, how much of the variance all arms share
    (1, 4, "gaussian", 0.08, 0.0),
    (2, 12, "bernoulli", 0.02, 0.5),
    (3, 4, "bernoulli", 0.08, 0.0),
    (3, 8, "gaussian", 0.08, 1.0),
    (5, 8, "gaussian", 0.02, 0.8),
    (10, 6, "bernoulli", 0.08, 0.8),
    (10, 4, "gaussian", 0.08, 0.0),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arms", "periods", "law", "tau", "together"), CASES)
def test_both_bounds_cover_the_moves_of_all_arms(
    arms: int, periods: int, law: str, tau: float, together: float
) -> None:
    """A period's mean has a noise of 0.01 to 0.045, so that one τ is hidden in it.

    A rule that covers 95 % covers fewer than 42 of 50 data sets with probability 0.0008: under
    other seeds one of these 13 bounds fails once in 100 times.
    """
    rng = np.random.default_rng([arms, periods])
    level = relative = 0
    for _ in range(50):
        past, move, own = made(rng, arms=arms, periods=periods, law=law, tau=tau, together=together)
        model = PeriodModel(PeriodTable.of(past))
        level += bool((np.abs(move) <= model.level.bound(0.95)).all())
        relative += model.relative is None or bool(
            (np.abs(own) <= model.relative.bound(0.95)).all()
        )
    assert level >= 42
    assert relative >= 42


@pytest.mark.slow
def test_v_is_not_too_wide_where_moves_are_common() -> None:
    """Three arms that move together, eight periods: V covers 95 %.

    Of 150 data sets a rule that covers 95 % covers 148 or more, or 133 or fewer, with probability
    0.02; one that covers 98.7 % covers 148 or more with probability 0.69.
    """
    rng = np.random.default_rng(38)
    covered = 0
    for _ in range(150):
        past, move, _ = made(rng, arms=3, periods=8, law="gaussian", tau=0.3, together=1.0)
        covered += bool((np.abs(move) <= PeriodModel(PeriodTable.of(past)).level.bound(0.95)).all())
    assert 134 <= covered <= 147
