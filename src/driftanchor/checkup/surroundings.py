"""What the machine gives: compiling and its folder, and variables that change behaviour."""

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

NOT_KEPT = "each process compiles anew, for some seconds"


def compiling() -> Iterator[Diagnosis]:
    """Whether a small function can be compiled, and is kept; nothing where Numba is missing."""
    name = "compiling"
    try:
        numba = importlib.import_module("numba")
    except Exception:  # the extra fast says why
        return
    if numba.config.DISABLE_JIT:
        need = "simulations need --engine interpreted, and decisions are interpreted"
        advice = f"{need}; run unset NUMBA_DISABLE_JIT"
        yield problem(name, "NUMBA_DISABLE_JIT is set", advice)
        return
    began = time.perf_counter()
    try:
        kernels: Any = importlib.import_module("driftanchor.compiled.kernels")
        with warnings.catch_warnings():  # about the folder, which is the next check
            warnings.simplefilter("ignore")
            compiled = kernels.loop(triangle, 4)
            answer = compiled(4)
    except Exception as error:  # of Numba, LLVM or the file system
        yield problem(name, f"it fails: {excerpt(str(error))}", _compile_again(numba.__version__))
        return
    took = f"{time.perf_counter() - began:.1f} s"
    if answer != triangle(4):
        yield problem(name, f"1 + 2 + 3 + 4 gives {answer}", _compile_again(numba.__version__))
    elif sum(compiled.stats.cache_hits.values()):
        yield fine(name, f"loaded a compiled function from disk in {took}")
    else:
        yield fine(name, f"compiled a function in {took}")


def _compile_again(version: str) -> str:
    return (
        "simulations need --engine interpreted, and decisions of many arms take long; run "
        f'pip install --force-reinstall "numba=={version}"'
    )


def kernels_kept() -> Iterator[Diagnosis]:
    """Whether compiled functions can be kept, and how large that folder is."""
    name = "kernels"
    try:
        importlib.import_module("numba")
    except Exception:  # then there is nothing to keep
        return
    kernels: Any = importlib.import_module("driftanchor.compiled.kernels")
    try:
        home: Path = kernels.cache_home()
    except RuntimeError as error:
        yield problem(name, str(error), f"{NOT_KEPT}; set XDG_CACHE_HOME to a folder of yours")
        return
    where = shown(str(home))
    try:
        for place in (home.parent, home):  # one by one: the mode is for the last alone
            place.mkdir(0o700, parents=True, exist_ok=True)
        shared = kernels.open_to_others(home.parent, home)
        if shared is not None:
            risk = f"other users can write to {shown(str(shared))}"
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
