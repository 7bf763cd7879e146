"""Policies from outside this package: from a module, a file, or an installed package.

The address of a class is `module:Class` or `folder/file.py:Class`. Modules are searched on Python's
path and then in the current folder. Packages offer policies by name in the entry point group
`driftanchor.policies`. Code is imported only when its address or name is used.
"""

from __future__ import annotations

import contextlib
import importlib
import operator
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from driftanchor.errors import InvalidInput, UnknownName, shown
from driftanchor.policies.base import Policy

if TYPE_CHECKING:
    from importlib import metadata

GROUP = "driftanchor.policies"


def is_address(name: str) -> bool:
    """Return whether a policy's name is an address such as `module:Class` or `file.py:Class`."""
    return ":" in name or name.endswith(".py")


def within(folder: Path, name: str) -> str:
    """Resolve the path in `file.py:Class` against `folder`; return other names unchanged.

    Example:
        >>> within(Path("/home/me"), "./mine.py:Mine"), within(Path("/home/me"), "mine:Mine")
        ('/home/me/mine.py:Mine', 'mine:Mine')
    """
    place, _, cls = name.rpartition(":")
    return f"{folder / place}:{cls}" if place.endswith(".py") else name


def imported(address: str) -> type[Policy]:
    """Import and return the policy class at the address `module:Class` or `file.py:Class`.

    The import runs the module's code. A file is imported as a module of the same name, so that
    other processes can import it too.
    """
    place, _, name = address.rpartition(":")
    if not place or not name:
        raise _unusable(address, "name the class too: module:Class or folder/file.py:Class")
    file = Path(place).absolute() if place.endswith(".py") else None
    if file is not None and not file.is_file():
        raise _unusable(address, f"there is no file {str(file)!r}")
    module = _import(place if file is None else file.stem, file, address)
    try:
        found = operator.attrgetter(name)(module)
    except AttributeError:
        there = [x for x, thing in vars(module).items() if _is_policy(thing, module.__name__)]
        origin = getattr(module, "__file__", None) or module.__name__
        raise UnknownName(f"class of {origin}", name, there, argument="policy") from None
    if not _is_policy(found):
        raise _unusable(address, f"it is {shown(found)}, not a class derived from Policy")
    cls: type[Policy] = found
    return cls


def _import(name: str, file: Path | None, address: str) -> ModuleType:
    """Import a module; turn any error into a one-line InvalidInput."""
    folder = str(Path.cwd() if file is None else file.parent)
    if folder not in sys.path:
        sys.path.append(folder)  # last, so that nothing there shadows an installed module
    importlib.invalidate_caches()  # the file may be new
    try:
        with contextlib.redirect_stdout(sys.stderr):  # keep its output out of results
            module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            places = f"on Python's path or in {folder!r}"
            raise _unusable(address, f"there is no module {error.name!r} {places}") from error
        raise _unusable(address, f"it cannot be imported: {_one_line(error)}") from error
    origin = getattr(module, "__file__", None)
    if file is not None and (origin is None or not file.samefile(origin)):
        taken = f"the module name {name!r} is taken by {origin or 'Python itself'}"
        raise _unusable(address, f"{taken}: give the file another name")
    return module


def _one_line(error: BaseException) -> str:
    """Return an error in one line, with the file and line that raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    has_place = isinstance(error, SyntaxError) or last.filename.startswith("<")
    where = "" if has_place else f" ({Path(last.filename).name}, line {last.lineno})"
    return f"{type(error).__name__}: {error}{where}".replace("\n", " ")


def _is_policy(thing: Any, module: str | None = None) -> bool:
    """Return whether `thing` is a policy class and, if `module` is given, defined there."""
    policy = isinstance(thing, type) and issubclass(thing, Policy)
    return policy and module in (None, thing.__module__)


def installed() -> dict[str, list[metadata.EntryPoint]]:
    """Return a dict from policy name to the installed packages' entry points for that policy."""
    from importlib import metadata  # imported late: most programs never need it

    found: dict[str, dict[str, metadata.EntryPoint]] = {}
    for point in metadata.entry_points(group=GROUP):
        found.setdefault(point.name, {}).setdefault(point.value, point)
    return {name: list(points.values()) for name, points in sorted(found.items())}


def package_of(point: metadata.EntryPoint) -> str:
    """Return the name of the package that an entry point belongs to."""
    return point.dist.name if point.dist is not None else point.module


def offered(points: list[metadata.EntryPoint]) -> type[Policy]:
    """Import and return the policy class that a package offers; more than one entry is an error."""
    first, *others = points
    if others:
        packages = ", ".join(map(package_of, points))
        raise InvalidInput(
            f"{first.name!r} is offered by several packages, {packages}: "
            f"write {first.module}:{first.attr} for one of them",
            argument="policy",
        )
    return imported(f"{first.module}:{first.attr}")


def _unusable(address: str, why: str) -> InvalidInput:
    return InvalidInput(f"{shown(address)}: {why}", argument="policy")
