"""Every error this package raises on purpose.

::

    DriftanchorError
    ├── InvalidInput        (ValueError)   a value that cannot be used
    │   └── UnknownName     (LookupError)  a policy, arm or file name nobody knows
    ├── RejectedRows        (ValueError)   logs in which too many rows cannot be used
    ├── UnreadableState     (ValueError)   a saved file that is damaged or too new
    ├── MissingExtra        (ImportError)  an optional package that is not installed
    └── UnusableCluster     (RuntimeError) a cluster that is not there, or would give other numbers

Each message says what is wrong, where, the value received and what to do. `exit_code` is what the
command line returns for it.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from typing import Any


class DriftanchorError(Exception):
    """Root of the tree: catch this to catch everything raised on purpose."""

    exit_code = 1


class InvalidInput(DriftanchorError, ValueError):
    """A value given by the caller cannot be used."""

    exit_code = 2


class UnknownName(InvalidInput, LookupError):
    """A name that is not among the known ones; the message suggests the nearest."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        names = list(known)
        self.told = (kind, name, names)
        near = name if isinstance(name, str) else ""
        nearest = difflib.get_close_matches(near, names, n=1, cutoff=0.5)
        hint = (
            f"did you mean {nearest[0]!r}?" if nearest else f"known: {', '.join(names) or 'none'}"
        )
        super().__init__(f"unknown {kind} {shown(name)}; {hint}")

    def __reduce__(self) -> tuple[type[UnknownName], tuple[object, ...]]:
        return type(self), self.told  # to be raised again in another process


class RejectedRows(DriftanchorError, ValueError):
    """Too many rows of the logs cannot be used; the message says why, and where the first are."""


class UnreadableState(DriftanchorError, ValueError):
    """A saved file that is damaged, of another kind, or written by a newer version."""


class MissingExtra(DriftanchorError, ImportError):
    """An optional package is needed and not installed."""


class UnusableCluster(DriftanchorError, RuntimeError):
    """A cluster does not answer, has no workers, or would not give the same numbers as here."""


def shown(value: object) -> str:
    """A value as messages show it: NumPy's numbers as plain ones, nothing endless."""
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()
    try:
        text = repr(value)
    except ValueError:  # Python prints no whole number of more than 4300 digits
        return f"a huge {type(value).__name__}"
    if len(text) > 20 and isinstance(value, int) and abs(value) <= 10**308:
        return f"{float(value):g}"
    return text if len(text) <= 200 else f"{text[:200]}…"


def require(module: str, *, extra: str, why: str) -> Any:
    """Import an optional package, or say which extra brings it.

    Args:
        module: Name to import, such as `"numba"`.
        extra: The extra of this package that installs it.
        why: What needs it, as the start of the message.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtra(f'{why} needs {package}: pip install "driftanchor[{extra}]"') from error
