"""The laws of all indices of a round: what the probability of each arm is computed from.

A policy whose `choose` is the largest index names the law of one index, `law`. One with a `choose`
of its own names a function for the whole round, `laws`. An index without noise is a constant.
Compiled, each function below is that of the policy's class.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from driftanchor.core.common_move import common_move
from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.index_law import IndexLaw, constant, one_sample
from driftanchor.core.noise import NoDraws
from driftanchor.core.posterior import Posterior
from driftanchor.core.win_chances import NEVER, Column, Laws, write_law
from driftanchor.policies.base import Policy, index, moved_by, moves_together


class RoundKind(NamedTuple):
    """What a round draws beside the samples of its arms."""

    guard: float  # the probability of a guard pull, which draws none
    mean: float  # of the common move, drawn once for all arms
    sd: float  # 0 where it is not drawn


def has_law(cls: type[Policy]) -> bool:
    """Whether the probabilities of a policy can be computed.

    A subclass that changes the rule below the law that it inherits has none.
    """
    own: Any = cls
    return _has_law(own)


@functools.cache
def _has_law(cls: Any) -> bool:
    if cls.laws is not None:
        return _covers(cls, "laws")
    return cls.choose is Policy.choose and (_without_noise(cls) or _covers(cls, "law"))


def write_laws(
    policy: Policy, evidence: Evidence, now: Round, moves: Column, guard: bool, laws: Laws
) -> RoundKind:
    """Write the law of each arm's index, once for each draw of the common move.

    Args:
        policy: The policy.
        evidence: What it sees.
        now: The round.
        moves: Standard normals; the common move is `mean + sd` times each of them.
        guard: Whether a guard pull that is due is played.
        laws: Where to write: the laws of all arms for the first move, then for the next.
    """
    own = type(policy).laws or plain_laws
    kind: RoundKind = own(policy, evidence, now, moves, guard, laws)
    return kind


def plain_laws(
    policy: Policy, evidence: Evidence, now: Round, moves: Column, guard: bool, laws: Laws
) -> RoundKind:
    """As `write_laws`, for a policy that plays the largest index."""
    together = moves_together(policy, evidence)
    common = Posterior(0.0, 0.0)
    if together:
        common = common_move(evidence, policy.noise)
    row = 0
    for k in range(len(moves)):
        move = common.mean + common.sd * moves[k]
        for column in range(evidence.pulls.size):
            arm = arm_at(evidence, column)
            if not evidence.playable[column]:
                laws[row, 0] = NEVER
            elif together:
                write_law(laws, row, law_of(policy, moved_by(policy, arm, move), now))
            else:
                write_law(laws, row, law_of(policy, arm, now))
            row += 1
    return RoundKind(0.0, common.mean, common.sd)


def law_of(policy: Policy, arm: ArmEvidence, now: Round) -> IndexLaw:
    """The law of the index of one arm."""
    cls = type(policy)
    if cls.law is None or _without_noise(cls):
        return constant(index(policy, arm, now, NoDraws()))
    law: IndexLaw = cls.law(policy, policy.believe(arm), now)
    return law


def normal_law(policy: Policy, belief: Posterior, now: Round) -> IndexLaw:
    """One sample of the posterior: of TS and its like."""
    return one_sample(belief.mean, belief.sd)


ASKED = (write_laws, law_of)


def _without_noise(cls: type[Policy]) -> bool:
    return cls.draw is Policy.draw


def _covers(cls: Any, law: str) -> bool:
    """Whether nothing that decides the index is defined below the law."""
    if getattr(cls, law) is None:
        return False
    lineage = list(cls.__mro__)
    place = {name: i for i, x in reversed(list(enumerate(lineage))) for name in vars(x)}
    return all(place[law] <= place[name] for name in ("index", "sample", "choose", "draw"))
