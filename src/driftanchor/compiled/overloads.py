"""How compiled code finds a policy's own functions.

A policy reaches a kernel as the named tuple of its numbers, whose type belongs to the policy's
class. The functions of `driftanchor.policies.base` through which loops call a policy, such as
`index`, `choose` and `draw`, are overloaded: for each such type, with that class's methods.
"""

from __future__ import annotations

import functools
import importlib
import types
from collections.abc import Callable
from typing import Any

from driftanchor.core.common_move import Alone, is_relative
from driftanchor.core.evidence import arm_at
from driftanchor.core.index_law import constant
from driftanchor.core.noise import NoDraws
from driftanchor.errors import require
from driftanchor.policies import base, policy_tails, round_law
from driftanchor.policies.base import Policy

# No reference counts: the loop allocates nothing, and counting the arrays it passes around would
# cost more than drawing a normal.
OPTIONS = {"error_model": "numpy", "_nrt": False}
# Of a part of a kernel. Left to itself LLVM calls small functions with all their arrays spread out
# over the stack. So LLVM is made to inline them (see `parts`); with Numba's `inline="always"` a
# kernel runs no faster, and takes longer to compile.
PART = {**OPTIONS, "no_cfunc_wrapper": True}
# Numba looks at no index by itself. The functions of a policy of the user's own are made to: what
# they write beyond an array would destroy the process, long after.
BOUNDED = {"boundscheck": True}


@functools.cache
def overload_dispatch() -> None:
    """Let compiled code find `index`, `choose` and the like by the type of the policy's numbers."""
    extending = require("numba.extending", extra="fast", why="compiled simulation")

    kept_row = importlib.import_module("driftanchor.compiled.kept_row")  # which imports Numba

    def index(policy: Any, arm: Any, now: Any, z: Any) -> Any:
        cls = policy.instance_class.policy
        if cls.index is not Policy.index:
            return cls.index
        believe, sample = cls.believe, cls.sample
        return lambda policy, arm, now, z: sample(policy, believe(policy, arm), now, z)

    def choose(policy: Any, evidence: Any, now: Any, stream: Any, together: Any) -> Any:
        own = policy.instance_class.policy.choose
        if own is Policy.choose and getattr(together, "instance_class", None) is not Alone:
            return base.largest
        if own is Policy.choose:
            own = base.largest_alone
        return lambda policy, evidence, now, stream, together: own(policy, evidence, now, stream)

    def moved_by(policy: Any, arm: Any, common: Any) -> Any:
        return policy.instance_class.policy.moved

    def moves_together(policy: Any, evidence: Any) -> Any:
        cls = policy.instance_class.policy
        if cls.uses_logs and cls.choose is Policy.choose:  # a `choose` of its own sees for itself
            return lambda policy, evidence: is_relative(evidence)
        return lambda policy, evidence: False

    def draw(policy: Any, stream: Any) -> Any:
        draws = policy.instance_class.policy.draw
        return lambda policy, stream: draws(stream)

    def index_at(policy: Any, evidence: Any, column: Any, now: Any, z: Any) -> Any:
        cls = policy.instance_class.policy
        if base.kept_belief(cls) is None:
            return lambda policy, evidence, column, now, z: base.index(
                policy, arm_at(evidence, column), now, z
            )
        sample = cls.sample
        return lambda policy, evidence, column, now, z: sample(
            policy, base.belief_at(policy, evidence, column), now, z
        )

    def belief_at(policy: Any, evidence: Any, column: Any) -> Any:
        cls = policy.instance_class.policy
        if base.kept_belief(cls) is None:
            believe = cls.believe
            return lambda policy, evidence, column: believe(policy, arm_at(evidence, column))
        read = kept_row.reader(cls.belief, cls.memory)
        return lambda policy, evidence, column: read(evidence.memory, column)

    def remember(policy: Any, evidence: Any, column: Any) -> Any:
        cls = policy.instance_class.policy
        if base.kept_belief(cls) is None:
            return lambda policy, evidence, column: None
        believe, write = cls.believe, kept_row.writer(cls.belief, cls.memory)
        return lambda policy, evidence, column: write(
            evidence.memory, column, believe(policy, arm_at(evidence, column))
        )

    def keeps_beliefs(policy: Any) -> Any:
        kept = base.kept_belief(policy.instance_class.policy) is not None
        return (lambda policy: True) if kept else (lambda policy: False)

    def keep(policy: Any, evidence: Any, column: Any, place: Any, value: Any) -> Any:
        cls = policy.instance_class.policy
        if base.kept_belief(cls) is None:
            return lambda policy, evidence, column, place, value: None
        first = cls.memory

        def write(policy: Any, evidence: Any, column: Any, place: Any, value: Any) -> None:
            evidence.memory[column, first + place] = value

        return write

    def law_of(policy: Any, arm: Any, now: Any) -> Any:
        cls = policy.instance_class.policy
        if cls.law is None or cls.draw is Policy.draw:
            return lambda policy, arm, now: constant(base.index(policy, arm, now, NoDraws()))
        law, believe = cls.law, cls.believe
        return lambda policy, arm, now: law(policy, believe(policy, arm), now)

    def write_laws(policy: Any, evidence: Any, now: Any, moves: Any, guard: Any, laws: Any) -> Any:
        own = policy.instance_class.policy.laws
        if own is None:
            return round_law.plain_laws  # which reads no kept beliefs

        def remember_first(
            policy: Any, evidence: Any, now: Any, moves: Any, guard: Any, laws: Any
        ) -> Any:
            for column in range(evidence.pulls.size):
                base.remember(policy, evidence, column)
            return own(policy, evidence, now, moves, guard, laws)

        return remember_first

    options = part_options(ours=True)
    asked_of_rules = (
        index,
        choose,
        draw,
        index_at,
        belief_at,
        remember,
        keeps_beliefs,
        keep,
        moved_by,
        moves_together,
    )
    asked_of_laws = (law_of, write_laws)
    for module, resolvers in ((base, asked_of_rules), (round_law, asked_of_laws)):
        for resolve in resolvers:
            asked = getattr(module, resolve.__name__)
            extending.overload(asked, strict=False, jit_options=options)(resolve)
    for asked in policy_tails.ASKED:
        _overload_tail(extending, asked, options)


def _overload_tail(extending: Any, asked: Callable[..., Any], options: dict[str, Any]) -> None:
    """Let compiled code ask for a function of the policy's index law."""
    name = asked.__name__

    def of_belief(policy: Any, belief: Any, level: Any) -> Any:
        law = getattr(policy.instance_class.policy.tails, name)
        return lambda policy, belief, level: law(belief, level)

    def drawn(policy: Any, belief: Any, level: Any, stream: Any) -> Any:
        law = getattr(policy.instance_class.policy.tails, name)
        return lambda policy, belief, level, stream: law(belief, level, stream)

    def weight(policy: Any, arm: Any) -> Any:
        law = policy.instance_class.policy.tails.weight
        return lambda policy, arm: law(arm)

    def leader_below(policy: Any, mean: Any, sd: Any, level: Any) -> Any:
        law = policy.instance_class.policy.tails.leader_below
        return lambda policy, mean, sd, level: law(mean, sd, level)

    resolve = {"weight": weight, "leader_below": leader_below}.get(name)
    if resolve is None:
        resolve = of_belief if name in ("above", "below") else drawn
    extending.overload(asked, strict=False, jit_options=options)(resolve)


_DISPATCH = (
    base.index,
    base.choose,
    base.draw,
    base.index_at,
    base.belief_at,
    base.remember,
    base.moved_by,
    base.moves_together,
    base.keeps_beliefs,
    base.keep,
    *policy_tails.ASKED,
    *round_law.ASKED,
)


@functools.cache
def register(function: types.FunctionType) -> None:
    """Let compiled code call a plain function."""
    extending = require("numba.extending", extra="fast", why="compiled simulation")
    if function not in _DISPATCH:
        options = part_options(ours=is_ours(function))
        extending.register_jitable(**options)(function)


def part_options(*, ours: bool) -> dict[str, Any]:
    """How Numba compiles a function that a kernel calls, of this package or of the user's own."""
    parts = importlib.import_module("driftanchor.compiled.parts")  # which imports Numba
    if ours:
        return {**PART, "pipeline_class": parts.PlainPartCompiler}
    return {**PART, **BOUNDED, "pipeline_class": parts.PartCompiler}


def is_ours(function: types.FunctionType) -> bool:
    """Whether a function belongs to this package."""
    return function.__module__.partition(".")[0] == "driftanchor"
