"""Overloads through which compiled code calls the methods of a policy's class.

In compiled code a policy is a named tuple of its numeric parameters, and each policy class has its
own tuple type. All code calls a policy through functions in `driftanchor.policies.base`. The
overloads here replace these functions with the methods of the class that the tuple type stands for.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import numbers
import re
import types
from collections import namedtuple
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.common_move import is_relative
from driftanchor.core.evidence import arm_at
from driftanchor.core.index_law import constant, draw_upper
from driftanchor.core.noise import Draws, draws, outside
from driftanchor.core.variates import binomial
from driftanchor.errors import require
from driftanchor.policies.base import (
    Policy,
    cache_belief,
    caches_beliefs,
    choose,
    draw,
    index,
    index_at,
    largest,
    law_at,
    law_of,
    laws_of_indices,
    laws_of_unmoved,
    moved_by,
    moves_together,
    write_laws,
)

NAN = math.nan
# Compiled loops allocate nothing, so they need no reference counts for the arrays they pass on.
# Counting references would take three times as long as drawing all samples of a round.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
# Without inlining, LLVM passes the evidence array by array to each small function.
INLINED = {**OPTIONS, "forceinline": True}
# Long functions that are rarely called: inlined copies would only take time to compile.
RARE = (outside, draw_upper, binomial)
# Users' own functions get bounds checks: a wrong index would overwrite other memory.
CHECKED = {**OPTIONS, "boundscheck": True}

_names: dict[str, int] = {}


def numbers_of(policy: Policy) -> dict[str, float]:
    """Return the policy's numeric fields and properties: all that compiled methods can read."""
    cls = type(policy)
    names = [field.name for field in dataclasses.fields(cls) if field.default is not None]
    names += [name for name in dir(cls) if isinstance(getattr(cls, name), property)]
    values = {name: getattr(policy, name) for name in names if not name.startswith("_")}
    return {name: float(x) for name, x in values.items() if isinstance(x, numbers.Real)}


def parameters_of(policy: Policy) -> Floats:
    """Return the policy's numeric parameters as an array, the first argument of compiled rules."""
    return np.array([*numbers_of(policy).values(), 0.0])  # never empty


def numbers_type(policy: Policy, version: object = None) -> Any:
    """Return the named tuple type that stands for the policy's class in compiled code.

    Numba treats named tuples with the same name and fields as one type. The name therefore ends in
    a number, so that a class redefined under the same name, as in a notebook, gets a new type. The
    type is stored on the class, because Numba's disk cache must find it under the same name in
    every process. A `version` of the class's code that differs from the last one gives a new type.
    """
    cls: Any = type(policy)
    fields = tuple(numbers_of(policy))
    known = vars(cls).get("_compiled_numbers")
    if known is None or known._fields != fields or version not in (None, known.version):
        name = re.sub(r"\W", "_", f"{cls.__module__}_{cls.__qualname__}")
        _names[name] = _names.get(name, 0) + 1
        make: Any = namedtuple
        known = make(f"{name}_{_names[name]}", fields, module=cls.__module__)
        known.__qualname__ = f"{cls.__qualname__}._compiled_numbers"
        known.policy, known.version, known.copies = cls, version, {}
        cls._compiled_numbers = known
    return known


def method(numbers: Any, name: str) -> Any:
    """Return the function to compile for a method: the class's own, or the copy of a user's."""
    function = getattr(numbers.policy, name)
    return numbers.copies.get(function, function)


def is_ours(function: Any) -> bool:
    """Return whether a function or class belongs to this package."""
    return bool(function.__module__.partition(".")[0] == "driftanchor")


def copies_of(functions: Iterable[types.FunctionType]) -> dict[Any, types.FunctionType]:
    """Copy users' functions so that the copies call each other; return each function's copy.

    Numba compiles a function once for its argument types, and would not notice that a helper or a
    constant which the function reads has another value by now. A copy is a new function to Numba.
    """
    copies = {
        x: types.FunctionType(x.__code__, dict(x.__globals__), x.__name__, x.__defaults__, cells)
        for x in functions
        if not is_ours(x)
        for cells in [tuple(types.CellType() for _ in x.__closure__ or ())]
    }
    for function, copied in copies.items():
        copied.__kwdefaults__ = function.__kwdefaults__
        copied.__module__, copied.__qualname__ = function.__module__, function.__qualname__
        for name in names_in(function):
            value = function.__globals__.get(name)
            if isinstance(value, types.FunctionType) and value in copies:
                copied.__globals__[name] = copies[value]
        for old, new in zip(function.__closure__ or (), copied.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # not assigned yet
                value = old.cell_contents
                known = isinstance(value, types.FunctionType) and value in copies
                new.cell_contents = copies[value] if known else value
    return copies


def policy_from(numbers: Any, parameters: Floats) -> Any:
    """Rebuild a policy, as a tuple of the type `numbers`, from `parameters_of(policy)`.

    In interpreted code, `numbers` is the policy itself.
    """
    return numbers


def _read(length: int, source: str) -> str:
    """Format `source` with each number from 0 to `length` − 1, and join the results with commas."""
    return ", ".join(source.format(i) for i in range(length))


@functools.cache
def overload_all() -> None:
    """Register all `OVERLOADS` with Numba, once per process."""
    extending = require("numba.extending", extra="fast", why="compiled simulation")
    for target, resolve in OVERLOADS.items():
        extending.overload(target, strict=False, jit_options=INLINED)(resolve)


def _policy_from(numbers: Any, parameters: Any) -> Any:
    cells = _read(len(numbers.instance_class._fields), "parameters[{}]")
    return eval(f"lambda numbers, parameters: numbers({cells})")


def _index(policy: Any, arm: Any, now: Any, z: Any) -> Any:
    cls = policy.instance_class.policy
    if cls.index is not Policy.index:
        # Called, not returned: a user's functions have other compile options.
        own = method(policy.instance_class, "index")
        return lambda policy, arm, now, z: float(own(policy, arm, now, z))
    believe, sample = (method(policy.instance_class, x) for x in ("believe", "sample"))
    return lambda policy, arm, now, z: sample(policy, believe(policy, arm), now, z)


def _index_at(policy: Any, evidence: Any, column: Any, now: Any, z: Any) -> Any:
    cls = policy.instance_class.policy
    if not caches_beliefs(cls):
        return lambda policy, evidence, column, now, z: index(
            policy, arm_at(evidence, column), now, z
        )
    cells = _read(len(cls.belief._fields), "evidence.memory[column, {}]")
    code = f"lambda policy, evidence, column, now, z: sample(policy, belief({cells}), now, z)"
    return eval(code, {"sample": method(policy.instance_class, "sample"), "belief": cls.belief})


def _cache_belief(policy: Any, evidence: Any, column: Any) -> Any:
    cls = policy.instance_class.policy
    if not caches_beliefs(cls):
        return lambda policy, evidence, column: None
    believe = method(policy.instance_class, "believe")

    def write(policy: Any, evidence: Any, column: Any) -> None:
        belief = believe(policy, arm_at(evidence, column))
        for i in range(len(belief)):
            evidence.memory[column, i] = belief[i]

    return write


def _choose(policy: Any, evidence: Any, now: Any, stream: Any, together: Any) -> Any:
    cls = policy.instance_class.policy
    if cls.choose is not Policy.choose:
        own = method(policy.instance_class, "choose")
        return lambda policy, evidence, now, stream, together: own(policy, evidence, now, stream)
    if cls.uses_logs:
        return largest
    return lambda policy, evidence, now, stream, together: largest(
        policy, evidence, now, stream, False
    )


def _draw(policy: Any, stream: Any) -> Any:
    normals, uniforms = (
        policy.instance_class.policy.normals,
        policy.instance_class.policy.uniforms,
    )
    return lambda policy, stream: draws(stream, normals, uniforms)


def _moved_by(policy: Any, arm: Any, common: Any) -> Any:
    own = method(policy.instance_class, "moved")
    return lambda policy, arm, common: own(policy, arm, common)


def _moves_together(policy: Any, evidence: Any) -> Any:
    if policy.instance_class.policy.uses_logs:
        return lambda policy, evidence: is_relative(evidence)
    return lambda policy, evidence: False


def _law_of(policy: Any, arm: Any, now: Any) -> Any:
    cls = policy.instance_class.policy
    if cls.normals == 0 and cls.uniforms == 0:
        return lambda policy, arm, now: constant(index(policy, arm, now, Draws(NAN, NAN, NAN)))
    law, believe = (method(policy.instance_class, x) for x in ("law", "believe"))
    return lambda policy, arm, now: law(policy, believe(policy, arm), now)


def _law_at(policy: Any, evidence: Any, column: Any, now: Any) -> Any:
    cls = policy.instance_class.policy
    if cls.law_at is not Policy.law_at:
        own = method(policy.instance_class, "law_at")
        return lambda policy, evidence, column, now: own(policy, evidence, column, now)
    return lambda policy, evidence, column, now: law_of(policy, arm_at(evidence, column), now)


def _write_laws(policy: Any, evidence: Any, now: Any, moves: Any, guard: Any, laws: Any) -> Any:
    cls = policy.instance_class.policy
    if cls.laws is not Policy.laws:
        own = method(policy.instance_class, "laws")
    else:
        own = laws_of_indices if cls.uses_logs else laws_of_unmoved
    return lambda policy, evidence, now, moves, guard, laws: own(
        policy, evidence, now, moves, guard, laws
    )


OVERLOADS: dict[Any, Any] = {
    policy_from: _policy_from,
    index: _index,
    index_at: _index_at,
    cache_belief: _cache_belief,
    choose: _choose,
    draw: _draw,
    moved_by: _moved_by,
    moves_together: _moves_together,
    law_of: _law_of,
    law_at: _law_at,
    write_laws: _write_laws,
}


@functools.cache
def register(function: types.FunctionType) -> None:
    """Register a plain Python function with Numba, so that compiled code can call it."""
    extending = require("numba.extending", extra="fast", why="compiled simulation")
    ours = OPTIONS if function in RARE else INLINED
    options = ours if is_ours(function) else CHECKED
    extending.register_jitable(**options)(function)


def reachable(roots: Iterable[Any]) -> Iterator[types.FunctionType]:
    """Yield the plain functions among `roots` and all functions that they call, at any depth.

    Skips overloaded functions, and functions that only overloaded functions call.
    """
    seen: set[types.FunctionType] = set()
    waiting = [root for root in roots if isinstance(root, types.FunctionType)]
    while waiting:
        function = waiting.pop()
        if function not in seen:
            seen.add(function)
            if function in OVERLOADS:
                continue
            yield function
            waiting += [x for x in values_read(function) if isinstance(x, types.FunctionType)]


def values_read(function: types.FunctionType) -> Iterator[object]:
    """Yield the values of the global names and closure variables that a function uses."""
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # not assigned yet
            yield cell.cell_contents
    yield from (function.__globals__.get(name) for name in names_in(function))


def names_in(function: types.FunctionType) -> Iterator[str]:
    """Yield the global names and attributes that a function and its nested functions use."""
    codes = [function.__code__]
    for code in codes:
        yield from code.co_names
        codes += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
