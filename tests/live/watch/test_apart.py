"""One arm against all others together: what it costs, and that it is right at all times."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np
import pytest

from driftanchor import OfflineData
from driftanchor.live.state_events import Distrusted
from driftanchor.live.terms import Terms
from driftanchor.live.watch.alarm import Mark
from driftanchor.live.watch.apart import (
    NOBODY,
    Side,
    added,
    log_e_apart,
    reach_apart,
    rest_of,
    with_log,
)
from driftanchor.live.watch.look import look
from driftanchor.live.watch.move_interval import apart_prior, ruler_of, side_of
from driftanchor.live.watch.watch import Watch, fold

ARMS, BOUND = 4, 0.2


def declared(kind: str, means: list[float], logged: int = 400, bound: float = BOUND) -> Terms:
    logs: dict[str, tuple[float, ...]] = {f"arm {i}": (logged, x) for i, x in enumerate(means)}
    if kind == "gaussian":
        logs = {name: (*row, 1.0) for name, row in logs.items()}
    return Terms.declare(
        offline=OfflineData.from_summary(logs),
        relative_bound=bound,
        reward_range=None if kind == "gaussian" else (0, 1),
        seed=1,
    )


def test_the_rest_is_what_was_added_without_the_arm() -> None:
    arms = [with_log(Side(n, 0.1 * n, 0.2, 3.0, 0.0, 0.0), 50.0, 2.0) for n in (5.0, 7.0, 9.0)]
    every = functools.reduce(added, arms, NOBODY)
    rest, two = rest_of(every, arms[1], 6.0), functools.reduce(added, [arms[0], arms[2]], NOBODY)
    assert rest == pytest.approx(
        (14.0, two.move / 14.0, 0.2, 6.0, two.logs / 14.0**2, arms[0].price + arms[2].price)
    )


def test_the_reach_is_where_the_evidence_suffices() -> None:
    one = with_log(Side(500.0, 0.9, 0.1, 25.0, 0.0, 0.0), 800.0, 0.25)
    other = Side(900.0, 0.0, 0.1, 100.0, 0.001, 0.4)
    reach = reach_apart(one, other, 0.01)
    for far, enough in ((0.999, False), (1.001, True)):
        moved = one._replace(move=other.move + 0.2 + far * reach)
        assert (log_e_apart(moved, other) >= math.log(1 / 0.01)) is enough
    assert log_e_apart(one._replace(move=0.15), other) < 0.0  # within the bounds


@pytest.mark.parametrize("kind", ["gaussian", "coins"])
def test_kept_promises_are_rarely_contradicted(kind: str) -> None:
    """At 20 % at most so many of 150 campaigns; the test is wrong at a rate of 1e-6."""
    rng, out, noise = np.random.default_rng(3), 0, 1.0
    shifts = BOUND * np.array([1.0, -1.0, -1.0, -1.0])  # the hardest: one against all others
    for _ in range(150):
        if kind == "gaussian":
            means = rng.normal(size=ARMS) / math.sqrt(400)
            rewards = 0.3 + shifts + rng.normal(size=(300, ARMS)) * noise
        else:
            means = rng.binomial(400, 0.5, ARMS) / 400
            rewards = (rng.random((300, ARMS)) < 0.5 + shifts).astype(float)
        terms = declared(kind, means.tolist())
        rulers = [ruler_of(terms, i, 0.4)._replace(miss=0.2) for i in range(ARMS)]
        rulers = [r._replace(unit=1.0) for r in rulers]  # σ as it is, not its upper limit
        totals = rewards.cumsum(axis=0)
        for n in (10, 20, 40, 80, 160, 300):
            members = [side_of(r, n, t, r.rest) for r, t in zip(rulers, totals[n - 1], strict=True)]
            every = functools.reduce(added, members, NOBODY)
            rest = rest_of(every, members[0], 3 * apart_prior(rulers[0]))
            if log_e_apart(side_of(rulers[0], n, totals[n - 1, 0], 1.0), rest) >= math.log(5.0):
                out += 1
                break
    assert out < 150 * 0.2 + 4.8 * math.sqrt(150 * 0.16)


@pytest.mark.parametrize("kind", ["gaussian", "coins"])
def test_the_arm_that_moved_apart_is_named_before_the_intervals_would(kind: str) -> None:
    terms, found = declared(kind, [0.3] * ARMS, 4_000, 0.05), []
    both = Watch.start(terms)
    assert {arm.ruler.rest for arm in both.arms} == {3}
    without = tuple(arm._replace(ruler=arm.ruler._replace(rest=0.0)) for arm in both.arms)
    for start in (both, dataclasses.replace(both, arms=without)):
        rng, watch, i = np.random.default_rng(5), start, 0
        while not watch.alarms and i < 2_000:
            i += 1
            chances = np.array([0.3, 0.3, 0.7, 0.3])
            noisy = chances + rng.normal(size=ARMS) * 0.5
            rewards = noisy if kind == "gaussian" else (rng.random(ARMS) < chances).astype(float)
            watch = look(fold(watch, range(ARMS), rewards.tolist(), Mark(i)), Mark(i))
        found.append(watch.alarms[0])
    first, later = found
    assert (first.promise, first.columns) == ("relative_bound", (2,))
    assert first.arms[0].move.low > 0.05
    assert first.seen.number < later.seen.number


def test_nothing_is_compared_with_those_that_are_left_after_one_was_distrusted() -> None:
    terms = declared("gaussian", [0.3] * ARMS)
    watch = Watch.start(terms).after(Distrusted(1), terms)
    assert {arm.ruler.rest for arm in watch.arms} == {0.0}


def test_rewards_that_vary_little_have_intervals_only() -> None:
    terms = declared("coins", [0.5, 0.05, 0.5])
    assert [ruler_of(terms, i, 0.01).rest for i in range(3)] == [0, 0, 0]
    assert ruler_of(terms, 0, 0.01).miss == 0.01
    terms = declared("coins", [0.5, 0.4, 0.5])
    assert [ruler_of(terms, i, 0.01).rest for i in range(3)] == [2, 2, 2]
    assert ruler_of(terms, 0, 0.01).miss == 0.005
