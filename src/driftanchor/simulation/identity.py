"""What decides the bits of a simulation in a process, so that two processes can be compared."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import inspect
import math
import operator
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any


from driftanchor.errors import InvalidInput
from driftanchor.policies.base import Policy


Question = tuple[str, bool]  # a policy, as `address_of` gives it, and whether Numba compiles it
Identity = dict[str, str]  # under names for people
# What policies and engines call that the C library may round in its own way.
_ROUNDED = (math.log, math.exp, math.log1p, math.expm1, math.erfc)


def address_of(policy: Policy) -> str:
    """Where another process can import a policy's class from: `module:name`."""
    cls = type(policy)
    address = f"{cls.__module__}:{cls.__qualname__}"
    with contextlib.suppress(ImportError):
        if cls.__module__ != "__main__" and _imported(address) is cls:
            return address
    raise InvalidInput(
        f"{policy.name!r} cannot be imported by other processes: write its class "
        f"{cls.__qualname__} into a module of its own, not a script, notebook or function",
        argument="policy",
    )


def identities(asked: Iterable[Question]) -> dict[Question, Identity]:
    """What decides the bits of some policies' runs in this process, as its files are now."""
    package = _package()
    return {question: _identity(question, package) for question in asked}


@functools.cache
def standing_identity(question: Question) -> Identity:
    """The identity when first asked for: a worker keeps the code that it once loaded."""
    return _identity(question, _standing_package())


def standing_identities(asked: Iterable[Question]) -> dict[Question, Identity]:
    """The same for each of some policies."""
    return {question: standing_identity(question) for question in asked}


def _identity(question: Question, package: str) -> Identity:
    address, numba = question
    cls = _imported(address)
    module = inspect.getsourcefile(cls)
    decides = {
        "driftanchor": version("driftanchor"),
        "driftanchor's source code": package,
        f"the source code of {address}": None
        or _hash([Path(module).read_bytes()] if module else []),
        "a C library that rounds as": _rounding(),
    }
    return decides | ({"Numba": version("numba")} if numba else {})


def first_difference(theirs: Identity, ours: Identity) -> str | None:
    """The first thing in which two processes differ, in words."""
    for what, mine in ours.items():
        if theirs.get(what) != mine:
            return f"has {what} {theirs.get(what, 'missing')}, and this process {mine}"
    return None


def version(package: str) -> str:
    """The installed version of a package."""
    from importlib import metadata  # only here: most programs use no cluster

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def _imported(address: str) -> Any:
    module, _, name = address.partition(":")
    try:
        return operator.attrgetter(name)(importlib.import_module(module))
    except AttributeError as error:
        raise ImportError(f"{module} has no {name}") from error


def _package() -> str:
    root = Path(__file__).parents[1]
    files = sorted(root.rglob("*.py"))
    return _hash(
        x for file in files for x in (str(file.relative_to(root)).encode(), file.read_bytes())
    )


@functools.cache
def _standing_package() -> str:
    """Read once: what was loaded is not what an edited file says."""
    return _package()


@functools.cache
def _rounding() -> str:
    """A hash of some thousand values of each function that is not rounded alike everywhere.

    Processors and C libraries differ in the last bit of a few values in a thousand.
    """
    grid = [(i + 0.5) / 1024 for i in range(8192)]
    return _hash(struct.pack("<d", function(x)) for function in _ROUNDED for x in grid)


def _hash(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:12]
