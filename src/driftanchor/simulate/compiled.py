"""Compiles the reference simulator for a policy with Numba, and keeps the result on disk.

One kernel, specialised by type: a policy reaches it as the named tuple of its numbers, whose type
belongs to the policy's class; `index`, `choose` and `draw` are overloaded to that class's methods.
The plain functions a policy calls are found by walking its code, so a policy of your own needs no
decorator to run at compiled speed.

Numba checks only the kernel's own file before it reuses a compiled kernel from disk, although the
policy's code is compiled into it. The cache folder is therefore named by a hash of every source
file that went in: editing a rule gives a new folder.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from driftanchor.errors import require
from driftanchor.policies import base
from driftanchor.policies.base import Policy
from driftanchor.simulate import reference

_kernels: dict[type[Policy], Callable[..., bool]] = {}


def kernel(policy: type[Policy]) -> Callable[..., bool]:
    """`reference.run_many` compiled for a policy class, to be called with `policy.numbers()`."""
    if policy not in _kernels:
        _kernels[policy] = _compile(policy)
    return _kernels[policy]


def _compile(policy: type[Policy]) -> Callable[..., bool]:
    numba = require("numba", extra="fast", why="compiled simulation")
    _overload_dispatch()
    roots = [reference.run_many, policy.index, policy.choose, policy.draw]
    functions = list(_reachable(roots))
    for function in functions:
        _register(function)
    folder = _cache_folder(functions)
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder or "")
    try:
        compiled: Callable[..., bool] = numba.njit(
            nogil=True, error_model="numpy", cache=folder is not None
        )(reference.run_many)
    finally:
        numba.config.CACHE_DIR = previous
    return compiled


@functools.cache
def _overload_dispatch() -> None:
    """Let compiled code find `index`, `choose` and `draw` by the type of the policy's numbers."""
    extending = require("numba.extending", extra="fast", why="compiled simulation")

    def index(policy: Any, arm: Any, now: Any, z: Any) -> Any:
        return policy.instance_class.policy.index

    def choose(policy: Any, evidence: Any, now: Any, stream: Any) -> Any:
        return policy.instance_class.policy.choose

    def draw(policy: Any, stream: Any) -> Any:
        draws = policy.instance_class.policy.draw
        return lambda policy, stream: draws(stream)

    for asked, resolve in ((base.index, index), (base.choose, choose), (base.draw, draw)):
        extending.overload(asked, strict=False)(resolve)


@functools.cache
def _register(function: types.FunctionType) -> None:
    """Let compiled code call a plain function."""
    extending = require("numba.extending", extra="fast", why="compiled simulation")
    if function not in (base.index, base.choose, base.draw):
        extending.register_jitable(error_model="numpy")(function)


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
        named = (function.__globals__.get(name) for name in function.__code__.co_names)
        waiting += [found for found in named if isinstance(found, types.FunctionType)]


def _cache_folder(functions: list[types.FunctionType]) -> Path | None:
    """Where the kernel made of these functions is kept; `None` when one has no file of its own."""
    files = sorted({inspect.getsourcefile(function) or "" for function in functions})
    digest = hashlib.sha256(sys.version.encode())
    for file in files:
        if not Path(file).is_file() or any(f.__module__ == "__main__" for f in functions):
            return None
        digest.update(Path(file).read_bytes())
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(root) / "driftanchor" / "kernels" / digest.hexdigest()[:20]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
