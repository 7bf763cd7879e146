"""Compiles the reference simulator for a policy with Numba, and keeps the result on disk.

One kernel, specialised by type: a policy reaches it as the named tuple of its numbers, whose type
belongs to the policy's class; `index`, `choose` and `draw` are overloaded to that class's methods.
The plain functions a policy calls are found by walking its code, so a policy of your own needs no
decorator to run at compiled speed.

Numba checks only the kernel's own file before it reuses a compiled kernel from disk, although the
policy's code is compiled into it. The cache folder is therefore named by a hash of the policy,
every source file and every constant that went in: editing a rule gives a new folder.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import numbers
import os
import pickle
import re
import shutil
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from driftanchor.core.common_move import is_relative
from driftanchor.core.evidence import arm_at
from driftanchor.errors import InvalidInput, require
from driftanchor.policies import base
from driftanchor.policies.base import Policy
from driftanchor.simulation import reference, tails

# No reference counts: the loop allocates nothing, and counting the arrays it passes around would
# cost more than drawing a normal.
_OPTIONS = {"error_model": "numpy", "_nrt": False}
# Left to itself LLVM calls small functions with all their arrays spread out over the stack. Inlined
# by LLVM, and not by Numba's `inline="always"`, a kernel runs faster and compiles no slower.
_PART_OPTIONS = {**_OPTIONS, "forceinline": True}

RunMany = Callable[..., bool]
_kernels: dict[tuple[type[Policy], RunMany], RunMany] = {}
_one_at_a_time = threading.Lock()  # Numba's cache folder is one setting for all threads


def kernel(policy: type[Policy], run_many: RunMany = reference.run_many) -> RunMany:
    """An engine's loop compiled for a policy class, to be called with `policy.numbers()`."""
    with _one_at_a_time:
        if (policy, run_many) not in _kernels:
            _kernels[policy, run_many] = _compile(policy, run_many)
        return _kernels[policy, run_many]


def _compile(policy: type[Policy], run_many: RunMany) -> RunMany:
    numba = require("numba", extra="fast", why="compiled simulation")
    _overload_dispatch()
    for function in _compiled_in(policy, run_many):
        _register(function)
    folder = _cache_folder(policy, run_many)
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder or "")
    try:
        compiled: Callable[..., bool] = numba.njit(
            nogil=True, cache=folder is not None, **_OPTIONS
        )(run_many)
    finally:
        numba.config.CACHE_DIR = previous

    def loop(*arguments: object) -> bool:
        nonlocal compiled
        try:
            return compiled(*arguments)
        except (OSError, EOFError, pickle.UnpicklingError):  # what was kept on disk is damaged
            compiled = numba.njit(nogil=True, **_OPTIONS)(run_many)
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            return loop(*arguments)
        except Exception as error:  # Numba's own, and others where it gives up early
            raise InvalidInput(
                f"{policy.name!r} cannot be compiled; its index and choose may use numbers, "
                'math, plain functions and no new arrays, or take engine="interpreted": '
                f"{_gist(error)}",
                argument="policy",
            ) from error

    return loop


@functools.cache
def _overload_dispatch() -> None:
    """Let compiled code find `index`, `choose` and `draw` by the type of the policy's numbers."""
    extending = require("numba.extending", extra="fast", why="compiled simulation")

    fixed = require("numba.np.unsafe.ndarray", extra="fast", why="compiled simulation")
    to_tuple = fixed.to_fixed_tuple

    def index(policy: Any, arm: Any, now: Any, z: Any) -> Any:
        cls = policy.instance_class.policy
        if cls.index is not Policy.index:
            return cls.index
        believe, sample = cls.believe, cls.sample
        return lambda policy, arm, now, z: sample(policy, believe(policy, arm), now, z)

    def choose(policy: Any, evidence: Any, now: Any, stream: Any, together: Any) -> Any:
        own = policy.instance_class.policy.choose
        if own is Policy.choose:
            return base.largest
        return lambda policy, evidence, now, stream, together: own(policy, evidence, now, stream)

    def moved_by(policy: Any, arm: Any, common: Any) -> Any:
        return policy.instance_class.policy.moved

    def moves_together(policy: Any, evidence: Any) -> Any:
        if policy.instance_class.policy.uses_logs:
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
        belief, first, count = cls.belief, cls.memory, len(cls.belief._fields)
        return lambda policy, evidence, column: belief(
            *to_tuple(evidence.memory[column, first:], count)
        )

    def remember(policy: Any, evidence: Any, column: Any) -> Any:
        cls = policy.instance_class.policy
        if base.kept_belief(cls) is None:
            return lambda policy, evidence, column: None
        believe = cls.believe
        first, count = cls.memory, len(cls.belief._fields)

        def keep(policy: Any, evidence: Any, column: Any) -> None:
            belief = believe(policy, arm_at(evidence, column))
            for i in range(count):
                evidence.memory[column, first + i] = belief[i]

        return keep

    asked_of_rules = (index, choose, draw, index_at, belief_at, remember, moved_by, moves_together)
    for resolve in asked_of_rules:
        extending.overload(
            getattr(base, resolve.__name__), strict=False, jit_options=_PART_OPTIONS
        )(resolve)
    for asked in tails.ASKED:
        _overload_tail(extending, asked)


def _overload_tail(extending: Any, asked: Callable[..., Any]) -> None:
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
    extending.overload(asked, strict=False, jit_options=_PART_OPTIONS)(resolve)


_DISPATCH = (
    base.index,
    base.choose,
    base.draw,
    base.index_at,
    base.belief_at,
    base.remember,
    base.moved_by,
    base.moves_together,
    *tails.ASKED,
)


@functools.cache
def _register(function: types.FunctionType) -> None:
    """Let compiled code call a plain function."""
    extending = require("numba.extending", extra="fast", why="compiled simulation")
    if function not in _DISPATCH:
        inlined = "apart" not in vars(function)
        extending.register_jitable(**{**_PART_OPTIONS, "forceinline": inlined})(function)


def _gist(error: Exception) -> str:
    """The innermost complaint of Numba, without its colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    telling = ("No implementation", "Unknown", "Cannot", "Untyped", "required", "unsupported")
    lines = [line.strip("> -") for line in text.splitlines()]
    told = (line for line in reversed(lines) if line.startswith(telling))
    return next(told, lines[0] if lines else type(error).__name__)


def _reachable(roots: list[Any]) -> Iterator[types.FunctionType]:
    """The plain Python functions that `roots` call, and what those call, roots included."""
    seen: set[types.FunctionType] = set()
    waiting = [root for root in roots if isinstance(root, types.FunctionType)]
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        yield function
        waiting += [x for x in _globals(function) if isinstance(x, types.FunctionType)]


def _globals(function: types.FunctionType) -> Iterator[object]:
    """The values of the module-level names that a function reads, nested code included."""
    codes = [function.__code__]
    for code in codes:
        yield from (function.__globals__.get(name) for name in code.co_names)
        codes += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]


def _compiled_in(policy: type[Policy], run_many: RunMany) -> list[types.FunctionType]:
    """Every function that becomes part of the kernel of a policy."""
    own = policy.index is not Policy.index
    rule = [policy.index] if own else [policy.believe, policy.sample]
    rule += [policy.choose, policy.draw, policy.moved]
    return list(_reachable([run_many, arm_at, is_relative, *rule, *(policy.tails or ())]))


def source_digest(policy: type[Policy], run_many: RunMany = reference.run_many) -> str | None:
    """A hash of all that a policy's runs are computed by; `None` when some of it is in no file."""
    if "<locals>" in policy.__qualname__ or policy.__module__ == "__main__":
        return None  # the same name may hold other code in the next process
    functions = _compiled_in(policy, run_many)
    if not all(_is_plain(function) for function in functions):
        return None
    digest = hashlib.sha256(f"{policy.__module__}.{policy.__qualname__} {_PART_OPTIONS}".encode())
    for file in sorted({inspect.getsourcefile(function) or "" for function in functions}):
        if not Path(file).is_file() or any(f.__module__ == "__main__" for f in functions):
            return None
        digest.update(Path(file).read_bytes())
    for function in functions:
        digest.update(repr((function.__defaults__, function.__kwdefaults__)).encode())
    for value in (value for function in functions for value in _globals(function)):
        if isinstance(value, np.ndarray):
            digest.update(value.tobytes())
        elif isinstance(value, numbers.Number | str | tuple):
            digest.update(repr(value).encode())
    return digest.hexdigest()[:20]


def _is_plain(function: types.FunctionType) -> bool:
    """Whether all that a function reads is in the files and constants that the digest covers."""
    known = (
        types.FunctionType,
        types.BuiltinFunctionType,
        np.ufunc,
        type,
        np.ndarray,
        numbers.Number,
        str,
        tuple,
        type(None),
    )
    read = list(_globals(function))
    modules = [x for x in read if isinstance(x, types.ModuleType)]
    others = [x for x in read if not isinstance(x, types.ModuleType)]
    stable = ("math", "numpy", "driftanchor")
    fixed = all(module.__name__.partition(".")[0] in stable for module in modules)
    return function.__closure__ is None and fixed and all(isinstance(x, known) for x in others)


def _cache_folder(policy: type[Policy], run_many: RunMany) -> Path | None:
    """Where the kernel is kept; `None` when a part of it has no file, or no name to load it by."""
    digest = source_digest(policy, run_many)
    if digest is None:
        return None
    try:
        root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(root) / "driftanchor" / "kernels" / f"{digest}-{sys.hexversion:x}"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: no home
        return None
    return folder if os.access(folder, os.W_OK) else None
