"""Guarded Anchor-TS does not depend on location and scale, nor on the common move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from guarded_cases import (
    ARMS,
    CLOSE,
    INF,
    ROUNDS,
    RULES,
    SEEDS,
    Array,
    account,
    at,
    judged,
    state_of,
)
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import ArmEvidence, Bandit, Evidence, GuardedAnchorTS, simulate
from driftanchor.core.evidence import arm_at
from driftanchor.policies.account import Account
from driftanchor.policies.guarded_bounds import guess, upper_bound


def shifted(state: Evidence, live: float, logs: float) -> Evidence:
    return state._replace(
        totals=state.totals + live * state.pulls,
        offline_means=np.where(state.offline_pulls > 0, state.offline_means + logs, 0.0),
    )


def says_the_same(one: Account, other: Account, by: float, playable: Array) -> None:
    """The decisions agree and the numbers differ by `by`, where rounding does not decide."""
    before, after = ([value for value, _ in decision.arms] for decision in (one, other))
    assert np.array(after) - by == pytest.approx(np.array(before), abs=CLOSE)
    top = np.sort(np.array(before)[playable])[::-1]
    if top.size == 1 or top[0] > top[1] + CLOSE:
        assert other.column == one.column
        assert other.leader == one.leader


def is_close_call(rule: GuardedAnchorTS, state: Evidence, t: int) -> bool:
    """Whether rounding may decide who leads or who decides."""
    judgement = judged(rule, state, t)
    guesses = [
        guess(rule, arm_at(state, i), judgement) for i in np.flatnonzero(state.playable).tolist()
    ]
    highs = [
        upper_bound(rule, arm_at(state, i), at(state, t), judgement)
        for i in np.flatnonzero(state.playable).tolist()
    ]
    gaps = -np.diff(np.sort(guesses)[::-1][:2])
    return bool((gaps < CLOSE).any()) or any(
        abs(high - judgement.threshold) < CLOSE and i != judgement.leader
        for i, high in zip(np.flatnonzero(state.playable).tolist(), highs, strict=True)
    )


@given(RULES, ARMS, ROUNDS, SEEDS, st.floats(-100, 100))
def test_adding_a_number_to_all_rewards_and_logs_changes_no_decision(
    rule: GuardedAnchorTS, arms: list[tuple[ArmEvidence, bool]], t: int, seed: int, by: float
) -> None:
    """Once there is a reward or a log that speaks; before, the level is the prior mean."""
    state = state_of(arms)
    if not state.playable.any() or is_close_call(rule, state, t):
        return
    one, other = (account(rule, x, t, seed) for x in (state, shifted(state, by, by)))
    known = state.pulls > 0
    known |= (state.offline_pulls > 0) & np.isfinite(
        np.minimum(state.bias_bounds, state.relative_bounds)
    )
    if known[state.playable].any():
        says_the_same(one, other, by, state.playable)
    else:
        assert other.column == one.column


@given(RULES, ARMS, ROUNDS, SEEDS, st.sampled_from([2.0**-20, 0.5, 4.0, 2.0**30]))
def test_multiplying_all_by_a_power_of_two_changes_no_decision(
    rule: GuardedAnchorTS, arms: list[tuple[ArmEvidence, bool]], t: int, seed: int, by: float
) -> None:
    """To the bit: rewards, logs, noise and bounds."""
    state = state_of(arms)
    bigger = state._replace(
        totals=state.totals * by,
        offline_means=state.offline_means * by,
        bias_bounds=state.bias_bounds * by,
        relative_bounds=state.relative_bounds * by,
    )
    scaled = GuardedAnchorTS(**{**rule.parameters(), "noise": rule.noise * by, "prior_mean": 0.0})
    plain = GuardedAnchorTS(**{**rule.parameters(), "prior_mean": 0.0})
    one, other = account(plain, state, t, seed), account(scaled, bigger, t, seed)
    assert (other.column, other.leader) == (one.column, one.leader)
    assert [value for value, _ in other.arms] == [value * by for value, _ in one.arms]


@given(RULES, ARMS, ROUNDS, SEEDS, st.floats(-100, 100))
def test_a_common_move_of_all_live_rewards_changes_no_decision_under_relative_bounds(
    rule: GuardedAnchorTS, arms: list[tuple[ArmEvidence, bool]], t: int, seed: int, by: float
) -> None:
    """Where no level is promised, and once an arm with logs and a finite W has a reward.

    Then all indices move by as much. Before, nobody knows how arms with logs compare with others.
    """
    state = state_of(arms)._replace(bias_bounds=np.full(len(arms), INF))
    tells = (state.pulls > 0) & (state.offline_pulls > 0) & np.isfinite(state.relative_bounds)
    if not state.playable.any() or not tells.any() or is_close_call(rule, state, t):
        return
    live = (state.pulls > 0) | ((state.offline_pulls > 0) & np.isfinite(state.relative_bounds))
    if not live[state.playable].any():
        return  # only arms that nothing is known of can be played
    moved = shifted(state, by, 0.0)
    says_the_same(account(rule, state, t, seed), account(rule, moved, t, seed), by, state.playable)


@pytest.mark.parametrize("common", [-1.0, 2.0, 1000.0])
def test_runs_under_a_relative_bound_do_not_depend_on_the_common_move(common: float) -> None:
    """All arms have logs, so this holds from the first reward on; before there is nothing to move.

    The regret after every round tells which arm was played: all gaps differ.
    """
    online, offline = np.array([0.8, 0.5, 0.4, 0.1]), np.array([0.7, 0.6, 0.4, 0.3])
    effort: dict[str, Any] = {"horizon": 500, "runs": 20, "checkpoints": 500}
    here, there = (
        simulate(
            GuardedAnchorTS(),
            Bandit(online, offline, [5, 40, 200, 1], relative_bound=0.2, common_shift=c),
            **effort,
        )
        for c in (0.0, common)
    )
    np.testing.assert_allclose(there.regret, here.regret, atol=1e-8)


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 2.0), (10.0, 0.0), (10.0, 20.0), (0.25, -1.0)])
@pytest.mark.parametrize("logs", [0, 20])
def test_the_prior_mean_need_not_follow_the_units(scale: float, shift: float, logs: int) -> None:
    online, offline = np.array([0.8, 0.5, 0.4, 0.1]), np.array([0.5, 0.6, 0.4, 0.3])
    effort: dict[str, Any] = {"horizon": 1_000, "runs": 20, "checkpoints": 1_000}
    plain = simulate(GuardedAnchorTS(), Bandit(online, offline, logs, 0.2), **effort)
    world = Bandit(online * scale + shift, offline * scale + shift, logs, 0.2 * scale, noise=scale)
    moved = simulate(GuardedAnchorTS(noise=scale), world, **effort)
    np.testing.assert_allclose(moved.regret, plain.regret * scale, rtol=1e-9, atol=1e-9 * scale)
