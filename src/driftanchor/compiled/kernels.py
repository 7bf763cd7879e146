"""Compiles a loop for a policy with Numba, and keeps the result on disk.

One kernel, specialised by type: a policy reaches it as the named tuple of its numbers, whose type
belongs to the policy's class (see `overloads`). The plain functions a policy calls are found by
walking its code, so a policy of your own needs no decorator to run at compiled speed.

Numba checks only the kernel's own file before it reuses a compiled kernel from disk, although the
policy's code is compiled into it. The cache folder is therefore named by a hash of the policy,
every source file and every constant that went in: editing a rule gives a new folder. What is in a
folder is checked before it is loaded (see `kernel_cache`).

With the environment variable NUMBA_BOUNDSCHECK=1 all of a kernel checks every index, which finds
mistakes of ours; such kernels are kept apart. A policy of the user's own is checked in any case.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import logging
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from driftanchor.compiled import kernel_cache
from driftanchor.compiled.digest import Loop, functions_of, source_digest
from driftanchor.compiled.overloads import PART, overload_dispatch, register
from driftanchor.core.noise import PARTS, NotDrawn
from driftanchor.errors import InvalidInput, require
from driftanchor.policies.base import Policy

_NOT_DRAWN = re.compile(  # how Numba says that a policy reads noise it did not ask for
    rf"Unknown attribute '(?P<kind>\w+)' of type ({'|'.join(x.__name__ for x in PARTS)})\("
)
_log = logging.getLogger("driftanchor")
_kernels: dict[tuple[type[Policy] | None, Loop], Loop] = {}
_one_at_a_time = threading.Lock()  # who asks for a kernel
_compiling = threading.Lock()  # who compiles one, which takes long


def kernel(policy: type[Policy] | None, loop: Loop) -> Loop:
    """An engine's loop compiled for a policy class, to be called with `policy.numbers()`.

    A loop that plays no policy is compiled for `None`.
    """
    with _one_at_a_time:
        if (policy, loop) not in _kernels:
            _kernels[policy, loop] = _compile(policy, loop)
        return _kernels[policy, loop]


def entry(loop: Loop, *arguments: Any) -> Loop:
    """A kernel for arguments of these types alone. It does not look at the types of what it gets.

    A call through a kernel finds out the type of each argument first, which takes longer than a
    decision of ten arms.
    """
    numba = require("numba", extra="fast", why="compiled decisions")
    compiled: Any = loop
    found: Loop = compiled.compile(tuple(numba.typeof(x) for x in arguments))
    return found


def _compile(policy: type[Policy] | None, loop: Loop) -> Loop:
    """The loop, compiled or loaded when it is first called with arguments of new types."""
    overload_dispatch()
    for function in functions_of(policy, loop):
        register(function)
    folder = cache_folder(policy, loop)
    compiled = _dispatcher(loop, folder)
    compile_or_load = compiled.compile

    def guarded(types: object) -> object:
        name = loop.__module__ if policy is None else policy.name
        # What is brief is compiled beside other work, whose garbage must not pile up.
        undisturbed = contextlib.nullcontext() if "brief" in vars(loop) else _without_collecting()
        try:
            with _compiling, undisturbed, _shortcuts():
                if folder is None or not kernel_cache.is_whole(folder):
                    _log.info("compiling %s: once, for some seconds", name)
                if folder is None:
                    return compile_or_load(types)
                return kernel_cache.through(folder, functools.partial(compile_or_load, types))
        except Exception as error:  # Numba's own, and others where it gives up early
            missing = _NOT_DRAWN.search(str(error))
            if missing:
                raise NotDrawn(missing["kind"], name) from error
            raise InvalidInput(
                f"{name!r} cannot be compiled; its index and choose may use numbers, "
                'math, plain functions and no new arrays, or take engine="interpreted": '
                f"{_gist(error)}",
                argument="policy",
            ) from error

    compiled.compile = guarded  # a call with arguments of new types asks this
    ready: Loop = compiled
    return ready


def _shortcuts() -> contextlib.AbstractContextManager[None]:
    """Let Numba take its shorter ways."""
    module = importlib.import_module("driftanchor.compiled.shortcuts")  # which imports Numba
    shorter: contextlib.AbstractContextManager[None] = module.shortcuts()
    return shorter


@contextlib.contextmanager
def _without_collecting() -> Iterator[None]:
    """Let Python not look for garbage: compiling makes much that is needed until its end."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _dispatcher(loop: Loop, folder: Path | None) -> Any:
    """What Numba compiles the loop with, or loads it by from a folder."""
    numba = require("numba", extra="fast", why="compiled simulation")
    if numba.config.DISABLE_JIT:
        raise InvalidInput(
            "the environment variable NUMBA_DISABLE_JIT switches Numba off: unset it (simulations "
            "also run without Numba, with engine='processes')"
        )
    parts = importlib.import_module("driftanchor.compiled.parts")
    options = {
        **PART,
        "nogil": "brief" not in vars(loop),
        "pipeline_class": parts.KernelCompiler,
    }
    previous = numba.config.CACHE_DIR  # one setting for all threads
    numba.config.CACHE_DIR = str(folder or "")
    try:
        compiled = numba.njit(cache=folder is not None, **options)(loop)
    finally:
        numba.config.CACHE_DIR = previous
    if folder is not None and not Path(compiled.stats.cache_path).is_relative_to(folder):
        return numba.njit(**options)(loop)  # a setting of Numba leads elsewhere
    return compiled


def _gist(error: Exception) -> str:
    """The innermost complaint of Numba, without its colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    telling = ("No implementation", "Unknown", "Cannot", "Untyped", "required", "unsupported")
    lines = [line.strip("> -") for line in text.splitlines()]
    complaints = (line for line in reversed(lines) if line.startswith(telling))
    return next(complaints, lines[0] if lines else type(error).__name__)


def cache_folder(policy: type[Policy] | None, loop: Loop) -> Path | None:
    """Where the kernel is kept; `None` when a part of it has no file, or no name to load it by."""
    digest = source_digest(policy, loop)
    if digest is None:
        return None
    numba = require("numba", extra="fast", why="compiled simulation")
    checks = numba.config.BOUNDSCHECK  # None, or 0 or 1 for all functions
    return kernel_cache.kept_in(f"{digest}-{sys.hexversion:x}-{checks}")
