"""What a compiled kernel is made of: every function, file and constant, and a hash of them."""

from __future__ import annotations

import hashlib
import inspect
import numbers
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from driftanchor.core.common_move import is_relative
from driftanchor.core.evidence import arm_at
from driftanchor.policies.base import Policy
from driftanchor.simulation.engines.compiled.overloads import BOUNDED, INLINED
from driftanchor.simulation.engines.engine import PlayRuns
from driftanchor.simulation.engines.reference import play_runs


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


def functions_of(policy: type[Policy], loop: PlayRuns) -> list[types.FunctionType]:
    """Every function that becomes part of the kernel of a policy."""
    own = policy.index is not Policy.index
    rule = [policy.index] if own else [policy.believe, policy.sample]
    rule += [policy.choose, policy.draw, policy.moved]
    return list(_reachable([loop, arm_at, is_relative, *rule, *(policy.tails or ())]))


def source_digest(policy: type[Policy], loop: PlayRuns = play_runs) -> str | None:
    """A hash of all that a policy's runs are computed by; `None` when some of it is in no file."""
    if "<locals>" in policy.__qualname__ or policy.__module__ == "__main__":
        return None  # the same name may hold other code in the next process
    functions = functions_of(policy, loop)
    if not all(_is_plain(function) for function in functions):
        return None
    digest = hashlib.sha256(
        f"{policy.__module__}.{policy.__qualname__} {INLINED} {BOUNDED}".encode()
    )
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
