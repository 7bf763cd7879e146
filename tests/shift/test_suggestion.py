"""What a suggestion says: its sentences, its notes, its table and its JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import numpy as np
import pytest
from weekly_logs import MOVING, data, suggested, weeks

from driftanchor.core.offline import OfflineData
from driftanchor.errors import InvalidInput
from driftanchor.shift import suggest
from driftanchor.shift.suggest_bounds import SCALE


def test_what_a_suggestion_says() -> None:
    found = suggested(unit="week")
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
    found = suggested()
    half, whole, twice = found.sensitivity
    assert (2 * half.bias_bound, twice.bias_bound / 2) == (whole.bias_bound, found.bias_bound)
    assert half.chance < whole.chance < twice.chance < 1
    assert whole.chance == pytest.approx(0.95)
    assert half.past <= whole.past <= twice.past == 1.0
    others = [0.5 - (0.58 + 0.45 + 0.52) / 3, 0.36 - (0.30 + 0.27 + 0.31) / 3]
    assert suggested().moves.shape == (2, 4)
    tight = suggested(coverage=0.5)
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


def test_the_sentence_counts_the_noise_of_sparse_logs() -> None:
    rng = np.random.default_rng(8)
    rates = rng.binomial(40, [0.1, 0.12, 0.4], (4, 3)) / 40
    found = suggest(weeks(*map(tuple, rates), n=40), unit="week")
    error = math.sqrt((rates * (1 - rates))[:, 2].mean() / 160)
    assert f"sampling noise too (standard error up to {error:.2g}, arm 'C')" in found.meaning
    assert "comes on top, and policies account for it." in found.meaning
    money = suggest({"1": data(A=(9, 4.0), B=(9, 5.0)), "2": data(A=(9, 4.2), B=(9, 5.5))})
    assert "It comes on top, and its size is not known here." in money.meaning


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
    assert any("these logs rule out no arm" in note for note in found.notes)
    assert not any(
        "rule out" in note
        for note in suggest(weeks((0.1, 0.9), (0.11, 0.9), (0.1, 0.89), n=10**5)).notes
    )


def test_json_is_strict_and_complete() -> None:
    told = json.loads(json.dumps(suggested().to_json(), allow_nan=False))
    assert told["suggested_bias_bound"] == suggested().bias_bound
    assert set(told["arms"]["A"]) == {"periods", "n", "mean", "tau"}
    assert set(told["tau"]) == {"estimate", "low", "high"}
    assert len(told["sensitivity"]) == len(told["relative_sensitivity"]) == 3
    found = suggested()
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
