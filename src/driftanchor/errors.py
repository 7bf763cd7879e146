"""Every error this package raises on purpose.

::

    DriftanchorError
    ├── InvalidInput        (ValueError)   a value that cannot be used
    │   ├── UnknownName     (LookupError)  an unknown name of a policy, an arm or a file
    │   └── OutsideLogs                    a reward far outside the logged ones
    ├── RejectedRows        (ValueError)   logs in which too many rows cannot be used
    ├── UnreadableState     (ValueError)   a saved file that is damaged or too new
    ├── NotFound            (LookupError)  a campaign or a decision that the store does not have
    ├── Conflict            (RuntimeError) a call that contradicts what is recorded
    │   ├── CampaignPaused                 a campaign that makes no new decisions now
    │   ├── KeyReused                      a key of a request that stands for another request
    │   │   └── DefaultPlayed              … whose caller played an arm of its own choice
    │   └── OtherReward                    a decision that has another reward
    ├── StoreUnavailable    (RuntimeError) a store that is away, full, or cannot be written
    │   └── StoreMismatch                  a store that is older or newer than the program
    ├── MissingExtra        (ImportError)  an optional package that is not installed
    └── UnusableCluster     (RuntimeError) a cluster that is not there, or would give other numbers

Each message says what is wrong, where, the value received and what to do. `exit_code` is what the
command line returns for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

LONGEST_SHOWN = 200  # characters of a value
MOST_LISTED = 30  # names
MOST_COMPARED = 1_000  # names that may be meant


class DriftanchorError(Exception):
    """Root of the tree: catch this to catch everything raised on purpose."""

    exit_code = 1


class InvalidInput(DriftanchorError, ValueError):
    """A value given by the caller cannot be used.

    Args:
        problem: What is wrong. If an argument is named, the message is its name and the problem.
        argument: The Python name of the argument at fault, such as `"bias_bound"`.

    Example:
        >>> error = InvalidInput("must be greater than 0, got -1", argument="noise")
        >>> str(error), error.naming("--noise")
        ('noise must be greater than 0, got -1', '--noise must be greater than 0, got -1')
    """

    exit_code = 2

    def __init__(self, problem: str, *, argument: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.argument = argument

    def __str__(self) -> str:
        return self.problem if self.argument is None else self.naming(self.argument)

    def naming(self, name: str) -> str:
        """The message with another name for the argument, such as that of its option."""
        return f"{name} {self.problem}"


class UnknownName(InvalidInput, LookupError):
    """A name that is not among the known ones; the message suggests the nearest.

    Args:
        kind: What has such names, such as `"column"`.
        name: The name.
        known: The known ones.
        argument: As of `InvalidInput`.
        place: Where the name was looked for, such as the name of a file.

    Example:
        >>> print(UnknownName("column", "adv", ["ad", "at"], place="last_quarter.csv"))
        'last_quarter.csv' has no column 'adv'; did you mean 'ad'?
    """

    def __init__(
        self,
        kind: str,
        name: object,
        known: Iterable[str],
        *,
        argument: str | None = None,
        place: str | None = None,
    ) -> None:
        import difflib  # only here: most programs make no such mistake

        names = list(known)
        near = name if isinstance(name, str) and len(name) <= LONGEST_SHOWN else ""
        few = [known for known in names[:MOST_COMPARED] if len(known) <= LONGEST_SHOWN]
        nearest = difflib.get_close_matches(near, few, n=1, cutoff=0.5)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"known: {_listed(names)}"
        unknown = f"unknown {kind}" if place is None else f"{shown(place)} has no {kind}"
        super().__init__(f"{unknown} {shown(name)}; {hint}", argument=argument)
        self.args = (kind, name, names)  # what a copy in another process is made from

    def __str__(self) -> str:
        return self.problem

    def naming(self, name: str) -> str:
        """The message after the name."""
        return f"{name}: {self.problem}"


class OutsideLogs(InvalidInput):
    """A reward is far outside the range of the logged rewards."""


class RejectedRows(DriftanchorError, ValueError):
    """Too many rows of the logs cannot be used; the message says why, and where the first are."""


class UnreadableState(DriftanchorError, ValueError):
    """A saved file that is damaged, of another kind, or written by a newer version."""


class NotFound(DriftanchorError, LookupError):
    """A campaign or a decision that the store does not have."""

    exit_code = 3


class Conflict(DriftanchorError, RuntimeError):
    """A call contradicts what is recorded, and what is recorded stands."""

    exit_code = 4


class CampaignPaused(Conflict):
    """The campaign makes no new decisions now."""


class KeyReused(Conflict):
    """The key of a request stands for another request."""


class DefaultPlayed(KeyReused):
    """The request came too late: its caller played an arm of its own choice."""


class OtherReward(Conflict):
    """The decision already has another reward, which is kept."""


class StoreUnavailable(DriftanchorError, RuntimeError):
    """The store cannot be reached, read or written now; nothing was half-written."""

    exit_code = 5


class StoreMismatch(StoreUnavailable):
    """The tables of the store are older or newer than this program."""


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
    except Exception:  # Python prints no whole number of more than 4300 digits
        kind = type(value).__name__
        return f"a huge {kind}" if isinstance(value, int) else f"a {kind} without a text"
    if len(text) > 20 and isinstance(value, int) and abs(value) <= 10**308:
        return f"{float(value):g}"
    return _cut(text)


def excerpt(text: str) -> str:
    r"""A text from a file as messages show it: no codes for the terminal, nothing endless.

    Example:
        >>> excerpt("variant"), excerpt("\x1b[31mred"), len(excerpt("x" * 10**6))
        ('variant', '\\x1b[31mred', 201)
    """
    start = text[: LONGEST_SHOWN + 1]
    return _cut(start if start.isprintable() else repr(start)[1:-1])


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_LISTED
    listed = ", ".join(map(excerpt, names[:MOST_LISTED])) or "none"
    return listed if more <= 0 else f"{listed} and {more:,} more"


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
        raise MissingExtra(f"{why} needs {package}: {how_to_install(extra)}") from error


def how_to_install(extra: str) -> str:
    """How to install an extra. An index of packages may have a stranger's package of our name."""
    return f'in a clone of driftanchor, run pip install ".[{extra}]"'
