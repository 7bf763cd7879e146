"""What this package needs, from its own metadata: the versions are written in one place alone."""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from driftanchor.errors import excerpt

PACKAGE = "driftanchor"
_LINE = re.compile(
    r"(?P<name>[\w.-]+)\s*(?P<parts>\[[^\]]*\])?\s*(>=\s*(?P<least>[\w.]+))?\s*(;(?P<if>.*))?"
)
_TERM = re.compile(r"\(?\s*(?P<what>\w+)\s*(?P<how>==|!=|<)\s*['\"](?P<value>[^'\"]*)['\"]\s*\)?")


@dataclass(frozen=True)
class Requirement:
    """A package that is needed.

    Attributes:
        name: Its name, as `pip` knows it.
        parts: The extras of it that are needed, such as `"[binary]"`; empty for none.
        least: The oldest version that will do; empty if any will.
        extra: The extra that needs it; empty if all of this package does.
    """

    name: str
    parts: str
    least: str
    extra: str

    def __str__(self) -> str:
        least = f">={self.least}" if self.least else ""
        return f"{self.name}{self.parts}{least}"


@dataclass(frozen=True)
class Installed:
    """What there is of a package that is needed.

    Attributes:
        wanted: The requirement.
        version: Its version; `None` if it is not there.
        trouble: Why it cannot be imported; empty if it can.
    """

    wanted: Requirement
    version: str | None
    trouble: str = ""

    @property
    def is_old(self) -> bool:
        """Whether it is there and too old."""
        return self.version is not None and not is_reached(self.version, self.wanted.least)


def requirements() -> list[Requirement]:
    """All packages that are needed on this Python and system.

    Raises:
        PackageNotFoundError: This package was never installed.
    """
    return list(filter(None, map(read, metadata.requires(PACKAGE) or [])))


def extras() -> list[str]:
    """The names of all extras but of the one that has all of them."""
    names = metadata.metadata(PACKAGE).get_all("Provides-Extra") or []
    return [name for name in names if name != "all"]


def read(line: str) -> Requirement | None:
    """A requirement as metadata has it; `None` if it is not for this Python or system.

    Example:
        >>> read("duckdb>=1.4; extra == 'logs'")
        Requirement(name='duckdb', parts='', least='1.4', extra='logs')
        >>> read("tomli; python_version < '3.9'")
    """
    found = _LINE.fullmatch(line.strip())
    if found is None:
        raise ValueError(f"cannot read the requirement {line!r}")
    here = {"python_version": "{}.{}".format(*sys.version_info), "sys_platform": sys.platform}
    extra = ""
    for part in filter(None, re.split(r"\band\b", found["if"] or "")):
        term = _TERM.fullmatch(part.strip())
        if term is None or (term["what"] not in here and term["what"] != "extra"):
            raise ValueError(f"cannot read the condition {part.strip()!r}")
        if term["what"] == "extra":
            extra = term["value"]
        elif not _holds(here[term["what"]], term["how"], term["value"]):
            return None
    return Requirement(found["name"], found["parts"] or "", found["least"] or "", extra)


def _holds(ours: str, how: str, value: str) -> bool:
    if how == "<":
        return _release(ours) < _release(value)
    return (ours == value) == (how == "==")


def is_reached(version: str, least: str) -> bool:
    """Whether a version is at least another.

    Example:
        >>> is_reached("1.10.0rc1", "1.9"), is_reached("1.4", "1.4.0"), is_reached("1.3.9", "1.4")
        (True, True, False)
    """
    return _release(version) >= _release(least)


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version, without the zeros at its end, which mean nothing."""
    found = re.match(r"\d+(\.\d+)*", version)
    numbers = [] if found is None else [int(part) for part in found[0].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def installed(wanted: Requirement) -> Installed:
    """What there is of a package; it is imported to see that it works."""
    try:
        found = metadata.distribution(wanted.name)
    except metadata.PackageNotFoundError:
        return Installed(wanted, None)
    try:
        with warnings.catch_warnings():  # how other packages are written is not our matter
            warnings.simplefilter("ignore")
            importlib.import_module(_module(found, wanted.name))
    except Exception as error:  # a package that is damaged may raise anything
        said = excerpt(" ".join(str(error).split()))
        return Installed(wanted, found.version, f"{type(error).__name__}: {said}")
    return Installed(wanted, found.version)


def _module(found: metadata.Distribution, name: str) -> str:
    """What to import of a package: that of its modules which has its name."""
    for module in _modules(found):
        if _plain(module) == _plain(name):
            return module
    return name.replace("-", "_")


def _modules(found: metadata.Distribution) -> Iterator[str]:
    for file in found.files or []:
        if file.name == "__init__.py":
            yield ".".join(file.parts[:-1])


def _plain(name: str) -> str:
    """A name as names of packages are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()
