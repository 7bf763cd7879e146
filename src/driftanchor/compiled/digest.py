"""What a compiled kernel is made of: every function, file and constant, and a hash of them."""

from __future__ import annotations

import hashlib
import inspect
import numbers
import secrets
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from driftanchor.compiled.overloads import BOUNDED, PART
from driftanchor.compiled.plain_builtins import larger, smaller
from driftanchor.core.common_move import is_relative
from driftanchor.core.evidence import arm_at
from driftanchor.core.index_law import constant
from driftanchor.policies.base import Policy
from driftanchor.policies.round_law import plain_laws

Loop = Callable[..., Any]  # what is compiled
_PROCESS = secrets.token_hex(8)


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


def functions_of(policy: type[Policy] | None, loop: Loop) -> list[types.FunctionType]:
    """Every function that becomes part of a kernel: the loop's, and those of the policy, if any."""
    if policy is None:
        return list(_reachable([loop, larger, smaller]))
    own = policy.index is not Policy.index
    rule = [policy.index] if own else [policy.believe, policy.sample]
    rule += [policy.choose, policy.draw, policy.moved]
    rule += [plain_laws, constant, policy.law, policy.laws, *(policy.tails or ())]
    return list(_reachable([loop, larger, smaller, arm_at, is_relative, *rule]))


def source_digest(policy: type[Policy] | None, loop: Loop) -> str | None:
    """A hash of all that a policy's runs are computed by; `None` when some of it is in no file."""
    name = "" if policy is None else f"{policy.__module__}.{policy.__qualname__}"
    if "<locals>" in name or name.startswith("__main__."):
        return None  # the same name may hold other code in the next process
    functions = functions_of(policy, loop)
    if not all(_is_plain(function) for function in functions):
        return None
    digest = hashlib.sha256(f"{name} {PART} {BOUNDED}".encode())
    for file in _files(policy, functions):
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


def source_key(policy: type[Policy], loop: Loop) -> str:
    """As `source_digest`; where there is none, a key that no other process has.

    What is kept under it is then not found again, when the code may have changed.
    """
    here = f"{policy.__module__}.{policy.__qualname__} {_PROCESS}"
    return source_digest(policy, loop) or here


def _files(policy: type[Policy] | None, functions: list[types.FunctionType]) -> list[str]:
    """The files of functions, of the classes that the policy is made of, and of what these use.

    A property is not part of a kernel, but its value is: it becomes one of the policy's numbers.
    """
    classes = () if policy is None else policy.__mro__[:-1]  # the last is object
    own = [x.fget for cls in classes for x in vars(cls).values() if isinstance(x, property)]
    properties = list(_reachable(own))
    read = {x for f in (*functions, *properties) for x in _globals(f) if isinstance(x, type)}
    read = {cls for cls in read if not issubclass(cls, BaseException)}  # decides no number
    files = {inspect.getsourcefile(function) or "" for function in (*functions, *properties)}
    return sorted(files.union(*map(_file_of, (*classes, *read))))


def _file_of(cls: type) -> set[str]:
    """The file of a class; none for one that is written in C."""
    try:
        return {inspect.getsourcefile(cls) or ""}
    except (OSError, TypeError):
        return set()


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
