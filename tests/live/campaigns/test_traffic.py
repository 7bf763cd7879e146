"""The sample-ratio check: rarely wrong at any time, and it sees lost decisions."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from driftanchor.core.check import Floats, Ints
from driftanchor.errors import InvalidInput, UnreadableState
from driftanchor.live.campaigns.traffic import (
    ARMS_PER_CHECK,
    PropensitySums,
    RatioCheck,
    fold,
    log_e_value,
)


def adaptive(n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Decisions whose propensities follow what was played before, so as to drift."""
    columns, shares = np.zeros(n, np.int64), np.zeros((n, 3))
    wins = np.ones(3)
    for i in range(n):
        shares[i] = 0.02 + 0.94 * wins / wins.sum()
        columns[i] = rng.choice(3, p=shares[i])
        wins[columns[i]] += rng.random() < 0.5
    return columns, shares


def ever(columns: Ints, shares: Floats, every: int = 1) -> float:
    """The largest e-value at all looks, without folding one by one."""
    hits = np.zeros_like(shares)
    hits[np.arange(len(columns)), columns] = 1.0
    excess, variance = np.cumsum(hits - shares, axis=0), np.cumsum(shares * (1 - shares), axis=0)
    return max(log_e_value(excess[i], variance[i]) for i in range(every - 1, len(columns), every))


def test_false_alarms_are_rarer_than_stated() -> None:
    """Of 150 at 10 %, at most 15 + 4.8 deviations; the test is wrong at a rate of 1e-6."""
    rng = np.random.default_rng(1)
    found = [ever(*adaptive(300, rng), every=3) for _ in range(150)]
    assert sum(x >= math.log(10) for x in found) < 15 + 4.8 * math.sqrt(13.5)


def test_a_test_for_one_look_would_be_noticed() -> None:
    """A chi-square test at 10 % after each tenth decision is wrong far more often."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(150):
        hits = np.cumsum(rng.random(1_000) < 0.5)[9::10]
        n = np.arange(10, 1_001, 10)
        alarms += bool((np.abs(hits - n / 2) / np.sqrt(n / 4) > 1.645).any())
    assert alarms > 15 + 4.8 * math.sqrt(13.5)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_two_lost_decisions_of_a_hundred_are_seen(share: float) -> None:
    """Twenty campaigns with Q = 200,000 each: 800,000 decisions where p is one half."""
    rng, seen = np.random.default_rng(2), 0
    n = int(200_000 / (share * (1 - share)))
    for _ in range(20):
        kept = rng.binomial(n, share * 0.98 / (share * 0.98 + 1 - share))
        excess, variance = kept - n * share, n * share * (1 - share)
        both = np.array([excess, -excess]), np.array([variance, variance])
        seen += log_e_value(*both) >= math.log(1_000)
    assert seen == 20


def folded(ratio: RatioCheck, columns: Ints | list[int], shares: Floats) -> RatioCheck:
    for column, row in zip(columns, shares, strict=True):
        ratio = fold(ratio, int(column), row)
    return ratio


def test_it_counts_plays_and_keeps_the_largest_evidence() -> None:
    columns, shares = adaptive(60, np.random.default_rng(3))
    columns[:30] = 2
    start = RatioCheck.start(3)
    ratio = folded(start, columns, shares)
    assert ratio.played.tolist() == np.bincount(columns, minlength=3).tolist()
    assert ratio.expected == pytest.approx(shares.sum(axis=0))
    assert ratio.log_e == pytest.approx(ever(columns, shares))
    assert ratio.log_e > 0
    assert start == RatioCheck.start(3)


def test_evidence_stays() -> None:
    ratio = folded(RatioCheck.start(2), [0] * 60, np.full((60, 2), 0.5))
    assert ratio.is_off()
    assert folded(ratio, [1] * 60, np.full((60, 2), 0.5)).p_value == ratio.p_value


def test_arms_come_later() -> None:
    ratio = fold(RatioCheck.start(1), 0, [1.0]).with_arm()
    ratio = fold(ratio, 1, [0.25, 0.75])
    assert (ratio.played.tolist(), ratio.expected.tolist()) == ([1, 1], [1.25, 0.75])


def test_it_comes_back() -> None:
    ratio = folded(RatioCheck.start(3), *adaptive(40, np.random.default_rng(4)))
    again = RatioCheck.from_json(json.loads(json.dumps(ratio.to_json())))
    assert again == ratio
    assert hash(again) == hash(ratio)
    assert ratio != RatioCheck.start(3)


@pytest.mark.parametrize("damage", [None, {}, {"played": [-1]}, {"played": [1], "expected": ["x"]}])
def test_damage_is_noticed(damage: object) -> None:
    with pytest.raises(UnreadableState, match="ratio check is damaged"):
        RatioCheck.from_json(damage)


@pytest.mark.parametrize("shares", [[0.5, 0.6], [1.5, -0.5], [1.0], [math.nan, 1.0]])
def test_propensities_that_are_none_are_refused(shares: list[float]) -> None:
    with pytest.raises(InvalidInput, match="propensities must be"):
        fold(RatioCheck.start(2), 0, shares)


def test_what_it_says() -> None:
    ratio = folded(RatioCheck.start(2), [0] * 60, np.full((60, 2), 0.5))
    text = ratio.text(["A", "B"])
    assert text.startswith(
        "Arms are not played as often as they should be: 'A' has 60 of 60 decisions, 100 %, and 30 "
        "are expected, 50 % (p = "
    )
    assert RatioCheck.start(2).text(["A", "B"]).startswith("The 0 decisions are shared")


@pytest.mark.parametrize(("arms", "every"), [(2, 1), (3 * ARMS_PER_CHECK, 3)])
def test_the_evidence_is_the_largest_of_all_checks(arms: int, every: int) -> None:
    rng = np.random.default_rng(arms)
    traffic, decisions, largest = PropensitySums(arms), np.zeros(arms, np.int64), 0.0
    for n in range(1, 301):
        shares = rng.dirichlet(np.ones(arms))
        decisions[0 if rng.random() < 0.2 else rng.choice(arms, p=shares)] += 1
        traffic.add(shares)
        traffic.check(decisions, n, 1)
        if n % every == 0:
            evidence = log_e_value(decisions - traffic.expected, traffic.variance)
            largest = max(largest, evidence)
        assert traffic.log_e == largest
    assert largest > 2.0


def test_an_added_arm_was_not_played_before() -> None:
    traffic = PropensitySums(2)
    traffic.add(np.array([0.5, 0.5]))
    older = traffic.to_bytes()
    traffic.check(np.array([1, 0]), 1, 1)
    before = traffic.log_e
    traffic.add_arm()
    assert traffic.expected.tolist() == [0.5, 0.5, 0.0]
    assert traffic.variance.tolist() == [0.25, 0.25, 0.0]
    assert traffic.log_e == before
    wider = PropensitySums(3)
    wider.load(older)
    assert wider.to_bytes() == traffic.to_bytes()


def test_damaged_sums_are_refused() -> None:
    traffic = PropensitySums(3)
    traffic.add(np.array([0.25, 0.25, 0.5]))
    stored = traffic.to_bytes()
    for i in range(len(stored)):
        with pytest.raises(UnreadableState, match="checksum"):
            traffic.load(stored[:i] + bytes([stored[i] ^ 1]) + stored[i + 1 :])
    with pytest.raises(UnreadableState, match="damaged"):
        traffic.load(stored[:-1])
    plain = PropensitySums(3)
    plain.load(stored[:-8])  # as older versions stored them
    assert plain.to_bytes() == stored
