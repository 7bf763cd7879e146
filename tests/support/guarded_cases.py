"""Arms, states and rules for the tests of guarded Anchor-TS."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from driftanchor import ArmEvidence, Evidence, GuardedAnchorTS, Round
from driftanchor.core.evidence import arm_at
from driftanchor.core.noise import keyed_stream, wrapping
from driftanchor.core.posterior import Posterior
from driftanchor.policies.base import Account
from driftanchor.policies.guarded_anchor_ts import Judgement, Shared, guess, judge, upper_bound

Array = npt.NDArray[Any]
INF = math.inf
PROVED: dict[str, Any] = {"budget": 0.0, "eps": 0.0}
CLOSE = 1e-7  # differences that rounding may decide


def arm(
    pulls: int,
    mean: float = 0.0,
    logs: int = 0,
    logged: float = 0.0,
    bound: float = INF,
    pending: int = 0,
    relative: float = INF,
) -> ArmEvidence:
    return ArmEvidence(pulls, pulls * mean, logs, logged if logs else 0.0, bound, pending, relative)


def seen(arms: list[ArmEvidence], playable: list[bool] | None = None) -> Evidence:
    pulls, totals, logs, means, levels, pending, relative = zip(*arms, strict=True)
    return Evidence(
        np.array(pulls),
        np.array(totals, np.float64),
        np.array(logs),
        np.array(means, np.float64),
        np.array(levels, np.float64),
        np.array(playable or [True] * len(arms)),
        np.zeros((len(arms), 0)),
        np.array(pending),
        np.array(relative, np.float64),
    )


def at(evidence: Evidence, t: int) -> Round:
    return Round(t, max(1, int(evidence.playable.sum())))


def choose(rule: GuardedAnchorTS, evidence: Evidence, t: int, seed: int = 0) -> int:
    with wrapping():
        return rule.choose(evidence, at(evidence, t), keyed_stream(seed, "choose", 0))


def account(rule: GuardedAnchorTS, evidence: Evidence, t: int, seed: int = 0) -> Account:
    with wrapping():
        return rule.account(evidence, at(evidence, t), keyed_stream(seed, "choose", 0))


def judged(rule: GuardedAnchorTS, evidence: Evidence, t: int) -> Judgement:
    with wrapping():
        return judge(rule, evidence, at(evidence, t))


def guessed(rule: GuardedAnchorTS, one: ArmEvidence, shared: Shared) -> float:
    return guess(rule, one, shared.move_law.mean, shared.level)


def threshold(rule: GuardedAnchorTS, evidence: Evidence, t: int) -> float:
    """The larger of the leader's guess and U, which another arm's U must exceed."""
    judgement = judged(rule, evidence, t)
    if judgement.leader < 0:
        return -INF
    leader, shared = arm_at(evidence, judgement.leader), judgement.shared
    return max(guessed(rule, leader, shared), upper_bound(rule, leader, at(evidence, t), shared))


def beside(level: float = 0.0, others: int = 10**9, move_margin: float = 0.0) -> Shared:
    """What the bounds of one arm need to know about the others."""
    return Shared(Posterior(0.0, 0.0), level, others, move_margin)


BOUNDS = st.sampled_from([0.0, 0.1, 0.3, 2.5, INF])
ARMS = st.lists(
    st.tuples(
        st.builds(
            arm,
            st.integers(0, 60),
            st.floats(-2, 2),
            st.sampled_from([0, 1, 7, 60, 5_000]),
            st.floats(-2, 2),
            BOUNDS,
            st.sampled_from([0, 0, 1, 4, 9]),
            st.one_of(st.just(INF), BOUNDS),
        ),
        st.sampled_from([True, True, True, False]),
    ),
    min_size=1,
    max_size=5,
)
ROUNDS, SEEDS = st.integers(1, 10**6), st.integers(0, 99)
RULES = st.builds(
    GuardedAnchorTS,
    prior_mean=st.just(0.4),
    noise=st.sampled_from([0.25, 0.7, 1.0]),
    budget=st.sampled_from([0.0, 1.0, 5.0]),
    eps=st.sampled_from([0.0, 0.2, 1.0]),
    clip=st.sampled_from([0.0, 1.0, 2.0]),
)


def state_of(arms: list[tuple[ArmEvidence, bool]]) -> Evidence:
    return seen([some for some, _ in arms], [on for _, on in arms])
