"""Whether Python and the packages that are needed are there, work and are new enough."""

from __future__ import annotations

import importlib
import platform
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from driftanchor.checkup import requirements as needed
from driftanchor.checkup.diagnosis import Diagnosis, fine, missing, problem
from driftanchor.errors import how_to_install
from driftanchor.version import __version__

OPTIONAL = {  # parts of Python that some builds lack, and what does not work without them
    "sqlite3": "SQLite stores",
    "ssl": "https addresses of servers",
}
WITHOUT = {  # what does not work without an extra
    "fast": "nothing is compiled: simulations, plans and decisions of many arms take longer",
    "plot": "no figures and pages are drawn: --plot, --page and reproduce do not work",
    "logs": "log files and data frames cannot be read; plans from saved offline data work",
    "live": "there are no campaigns, and no stores to keep them in",
    "postgres": "campaigns cannot be kept in PostgreSQL; SQLite needs the extra live alone",
    "serve": "driftanchor serve does not work; campaigns in Python and by commands do",
    "cluster": "nothing can be run on a Dask cluster",
}


def python() -> Iterator[Diagnosis]:
    """The version of Python, and parts of it that some builds lack."""
    version = platform.python_version()
    found = f"Python {version}, {sys.executable}"
    least = _least_python()
    lacking = [name for name in OPTIONAL if not _imports(name)]
    if not needed.is_reached(version, least):
        advice = f"driftanchor needs Python {least} or newer: make an environment with a newer one"
        yield problem("python", found, advice)
    elif lacking:
        lost = " and ".join(OPTIONAL[name] for name in lacking)
        advice = (
            f"{lost} do not work: install Python from your system or from python.org, or build it "
            "again with the libraries of SQLite and OpenSSL"
        )
        yield problem("python", f"{found}, was built without {' and '.join(lacking)}", advice)
    else:
        yield fine("python", found)


def package() -> Iterator[Diagnosis]:
    """This package: the code that runs, and the metadata that was installed with it."""
    place = Path(__file__).parents[1]
    found = f"driftanchor {__version__}, {place}"
    again = "the versions of other packages cannot be checked: in a clone, run pip install ."
    try:
        version = metadata.version(needed.PACKAGE)
    except metadata.PackageNotFoundError:
        yield problem("driftanchor", f"{found}, was never installed", again)
        return
    if version != __version__:
        yield problem("driftanchor", f"{found}, was installed as {version}", again)
    else:
        yield fine("driftanchor", found)


def core() -> Iterator[Diagnosis]:
    """The packages that everything needs."""
    yield _packages("packages", "", "driftanchor does not work without them")


def extras() -> Iterator[Diagnosis]:
    """The packages of each extra."""
    for name in _known_extras():
        yield _packages(f"extra {name}", name, WITHOUT[name])


def _packages(name: str, extra: str, cost: str) -> Diagnosis:
    """The packages of an extra, or those that all need."""
    try:
        wanted = [each for each in needed.requirements() if each.extra == extra]
    except metadata.PackageNotFoundError:
        return problem(name, "unknown: driftanchor was never installed", "see driftanchor above")
    seen = [needed.installed(each) for each in wanted]
    absent = [each.wanted.name for each in seen if each.version is None]
    there = [_said(each) for each in seen if each.version is not None]
    found = "; ".join(
        filter(None, (", ".join(there), f"not installed: {', '.join(absent)}" if absent else ""))
    )
    for bad, how in (
        ([each for each in seen if each.is_old], "--upgrade"),
        ([each for each in seen if each.trouble], "--force-reinstall"),
    ):
        if bad:
            named = " ".join(f'"{each.wanted}"' for each in bad)
            return problem(name, found, f"{cost}; run pip install {how} {named}")
    if not absent:
        return fine(name, found)
    if not extra:
        return problem(name, found, f"{cost}: in a clone, run pip install .")
    return missing(name, found, f"{cost}; {how_to_install(extra)}")


def _said(seen: needed.Installed) -> str:
    """A package that is there, in words."""
    old = f" is older than {seen.wanted.least}" if seen.is_old else ""
    broken = f" cannot be imported ({seen.trouble})" if seen.trouble else ""
    return f"{seen.wanted.name} {seen.version}{old}{broken}"


def _known_extras() -> list[str]:
    try:
        return [name for name in WITHOUT if name in needed.extras()]
    except metadata.PackageNotFoundError:
        return []


def _least_python() -> str:
    try:
        said = metadata.metadata(needed.PACKAGE).get_all("Requires-Python") or [""]
    except metadata.PackageNotFoundError:
        return ""
    return str(said[0]).removeprefix(">=")


def _imports(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
