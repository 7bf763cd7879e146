"""What the machine gives: compiling and its folder, cores, and variables that change behaviour."""

from __future__ import annotations

import importlib
import os
import shlex
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from driftanchor.checkup.diagnosis import Diagnosis, fine, problem, sized
from driftanchor.checkup.tiny_kernel import triangle
from driftanchor.errors import excerpt, shown
from driftanchor.render.numbers import count

CGROUP = Path("/sys/fs/cgroup/cpu.max")  # what a container may use, as "200000 100000"
NOT_KEPT = "each process compiles anew, for some seconds"


def compiling() -> Iterator[Diagnosis]:
    """Whether a small function can be compiled, and is kept; nothing where Numba is missing."""
    name = "compiling"
    try:
        numba = importlib.import_module("numba")
    except Exception:  # the extra fast says why
        return
    if numba.config.DISABLE_JIT:
        advice = "no simulation works with Numba switched off; run unset NUMBA_DISABLE_JIT"
        yield problem(name, "NUMBA_DISABLE_JIT is set", advice)
        return
    began = time.perf_counter()
    try:
        kernels: Any = importlib.import_module("driftanchor.compiled.kernels")
        with warnings.catch_warnings():  # about the folder, which is the next check
            warnings.simplefilter("ignore")
            compiled = kernels.kernel(None, triangle)
            answer = compiled(4)
            folder = kernels.cache_folder(None, triangle)
    except Exception as error:  # of Numba, LLVM or the file system
        yield problem(name, f"it fails: {excerpt(str(error))}", _compile_again(numba.__version__))
        return
    took = f"{time.perf_counter() - began:.1f} s"
    if answer != triangle(4):
        yield problem(name, f"1 + 2 + 3 + 4 gives {answer}", _compile_again(numba.__version__))
    elif folder is not None and not kernels.kernel_cache.is_whole(folder):
        advice = f"{NOT_KEPT}; make room on the disk of {shown(str(folder.parent))}"
        yield problem(name, f"compiled a function in {took}, which could not be kept", advice)
    elif sum(compiled.stats.cache_hits.values()):
        yield fine(name, f"loaded a compiled function from disk in {took}")
    else:
        yield fine(name, f"compiled a function in {took}")


def _compile_again(version: str) -> str:
    return (
        "simulations need --engine processes, and decisions of many arms take long; run "
        f'pip install --force-reinstall "numba=={version}"'
    )


def kernels_kept() -> Iterator[Diagnosis]:
    """Whether compiled functions can be kept, and how large that folder is."""
    name = "kernels"
    try:
        importlib.import_module("numba")
    except Exception:  # then there is nothing to keep
        return
    kernel_cache: Any = importlib.import_module("driftanchor.compiled.kernel_cache")
    try:
        home: Path = kernel_cache.home()
    except RuntimeError as error:
        yield problem(name, str(error), f"{NOT_KEPT}; set XDG_CACHE_HOME to a folder of yours")
        return
    where = shown(str(home))
    try:
        home.mkdir(0o700, parents=True, exist_ok=True)
        risk = kernel_cache.open_to_others(home)
        if risk is not None:
            both = " ".join(shlex.quote(str(place)) for place in (home.parent, home))
            advice = f"nothing is kept or loaded there: {NOT_KEPT}; run chmod go-w {both}"
            yield problem(name, risk, f"{advice}, or set XDG_CACHE_HOME to a folder of yours")
            return
        if not os.access(home, os.W_OK):
            raise PermissionError(13, "Permission denied", str(home))
        files = [file.stat().st_size for file in home.rglob("*") if file.is_file()]
        folders = sum(1 for each in home.iterdir() if each.is_dir())
    except OSError as error:
        advice = f"{NOT_KEPT}; make {where} writable, or set XDG_CACHE_HOME to a folder of yours"
        yield problem(name, str(error), advice)
        return
    yield fine(name, f"{count(folders, 'kernel')}, {sized(sum(files))}, in {where}")


def cores() -> Iterator[Diagnosis]:
    """Whether simulations start more threads than there are cores for them."""
    try:
        machine: Any = importlib.import_module("driftanchor.simulation.machine")
    except ImportError:  # without NumPy there are no simulations
        return
    threads, usable = machine.threads_to_use(None), _usable_cores()
    found = f"{count(usable, 'core')}; simulations use {count(threads, 'thread')}"
    if threads > usable:
        advice = f"threads wait for each other and take memory: give simulate --threads {usable}"
        yield problem("cores", found, advice)
    else:
        yield fine("cores", found)


def _usable_cores() -> int:
    """How many cores this process may use, which a container or `taskset` may limit."""
    found = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        found = min(found, len(os.sched_getaffinity(0)))
    try:
        quota, period = CGROUP.read_text().split()[:2]
        found = min(found, max(1, -(-int(quota) // int(period))))
    except (OSError, ValueError):  # there is no such file, or it says "max"
        pass
    return found


class Variable(NamedTuple):
    """A variable of the environment that changes what happens.

    Attributes:
        effect: What it does.
        hurts: Whether a value of it does harm.
    """

    effect: str
    hurts: Callable[[str], bool]


SETTINGS = {
    "NUMBA_BOUNDSCHECK": Variable(
        "compiled code checks every index, which is slower", lambda value: value not in ("", "0")
    ),
    "NUMBA_OPT": Variable(
        "compiled code is optimised less, and slower", lambda value: value not in ("", "3", "max")
    ),
    "NUMBA_CACHE_DIR": Variable(
        "nothing here: XDG_CACHE_HOME says where kernels are kept", lambda value: False
    ),
    "PROMETHEUS_MULTIPROC_DIR": Variable(
        "servers add up their metrics with all that is left in that folder", lambda value: True
    ),
    "NO_COLOR": Variable("tables have no colours", lambda value: False),
    "COLUMNS": Variable("tables and help are as wide as it says", lambda value: False),
}


def settings() -> Iterator[Diagnosis]:
    """Variables of the environment that are set and change what happens."""
    is_any = False
    for name, setting in SETTINGS.items():
        value = os.environ.get(name)
        if value is not None:
            is_any = True
            found = f"{name}={excerpt(value)}: {setting.effect}"
            if setting.hurts(value):
                yield problem(f"setting {name}", found, f"unless you want that, run unset {name}")
            else:
                yield fine(f"setting {name}", found)
    if not is_any:
        yield fine("settings", "no variable is set that changes what happens")
