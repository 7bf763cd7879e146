"""Compiles a loop for a policy with Numba, and keeps the result on disk.

One kernel, specialised by type: a policy reaches it as the named tuple of its numbers, whose type
belongs to the policy's class (see `overloads`). The plain functions a policy calls are found by
walking its code, so a policy of your own needs no decorator to run at compiled speed.

Numba checks only the kernel's own file before it reuses a compiled kernel from disk, although the
policy's code is compiled into it. The cache folder is therefore named by a hash of the policy,
every source file and every constant that went in: editing a rule gives a new folder.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import sys
import threading
from pathlib import Path

from driftanchor.core.noise import PARTS, NotDrawn
from driftanchor.errors import InvalidInput, require
from driftanchor.policies.base import Policy
from driftanchor.simulation.engines.compiled.digest import functions_of, source_digest
from driftanchor.simulation.engines.compiled.overloads import OPTIONS, overload_dispatch, register
from driftanchor.simulation.engines.engine import PlayRuns
from driftanchor.simulation.engines.reference import play_runs

_NOT_DRAWN = re.compile(  # how Numba says that a policy reads noise it did not ask for
    rf"Unknown attribute '(?P<kind>\w+)' of type ({'|'.join(x.__name__ for x in PARTS)})\("
)
_kernels: dict[tuple[type[Policy] | None, PlayRuns], PlayRuns] = {}
_one_at_a_time = threading.Lock()  # Numba's cache folder is one setting for all threads


def kernel(policy: type[Policy] | None, loop: PlayRuns = play_runs) -> PlayRuns:
    """An engine's loop compiled for a policy class, to be called with `policy.numbers()`.

    A loop that plays no policy is compiled for `None`.
    """
    with _one_at_a_time:
        if (policy, loop) not in _kernels:
            _kernels[policy, loop] = _compile(policy, loop)
        return _kernels[policy, loop]


def _compile(policy: type[Policy] | None, loop: PlayRuns) -> PlayRuns:
    numba = require("numba", extra="fast", why="compiled simulation")
    overload_dispatch()
    for function in functions_of(policy, loop):
        register(function)
    folder = cache_folder(policy, loop)
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder or "")
    try:
        compiled: PlayRuns = numba.njit(nogil=True, cache=folder is not None, **OPTIONS)(loop)
    finally:
        numba.config.CACHE_DIR = previous

    def call(*arguments: object) -> bool:
        nonlocal compiled
        try:
            return compiled(*arguments)
        except (OSError, EOFError, pickle.UnpicklingError):  # what was kept on disk is damaged
            compiled = numba.njit(nogil=True, **OPTIONS)(loop)
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            return call(*arguments)
        except Exception as error:  # Numba's own, and others where it gives up early
            name = loop.__module__ if policy is None else policy.name
            missing = _NOT_DRAWN.search(str(error))
            if missing:
                raise NotDrawn(missing["kind"], name) from error
            raise InvalidInput(
                f"{name!r} cannot be compiled; its index and choose may use numbers, "
                'math, plain functions and no new arrays, or take engine="interpreted": '
                f"{_gist(error)}",
                argument="policy",
            ) from error

    return call


def _gist(error: Exception) -> str:
    """The innermost complaint of Numba, without its colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    telling = ("No implementation", "Unknown", "Cannot", "Untyped", "required", "unsupported")
    lines = [line.strip("> -") for line in text.splitlines()]
    complaints = (line for line in reversed(lines) if line.startswith(telling))
    return next(complaints, lines[0] if lines else type(error).__name__)


def cache_folder(policy: type[Policy] | None, loop: PlayRuns) -> Path | None:
    """Where the kernel is kept; `None` when a part of it has no file, or no name to load it by."""
    digest = source_digest(policy, loop)
    if digest is None:
        return None
    try:
        root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(root) / "driftanchor" / "kernels" / f"{digest}-{sys.hexversion:x}"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: no home
        return None
    return folder if os.access(folder, os.W_OK) else None
