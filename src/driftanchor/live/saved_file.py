"""The file of a learner: read as it is, and written only if no other process wrote it meanwhile."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from driftanchor.core import record
from driftanchor.errors import InvalidInput, UnreadableState, shown
from driftanchor.files import write_whole
from driftanchor.live import records
from driftanchor.live.state import State
from driftanchor.live.terms import Terms
from driftanchor.locks import alone
from driftanchor.policies.base import Policy

Stamps = Mapping[Path, str]  # a hash of what a learner read from each of its files, or wrote there
PATIENCE = 10.0  # seconds to wait for others who save into the same folder


def load(
    path: str | os.PathLike[str], policy: Policy | None = None
) -> tuple[Terms, State, dict[Path, str]]:
    """The learner of a file that `save` wrote, and the stamp of the file.

    Args:
        path: The file.
        policy: The policy it was saved with, if that is not one of this package.

    Raises:
        InvalidInput: There is no such file, or it is not text.
        UnreadableState: It is damaged; see `driftanchor.live.records.from_record`.
    """
    try:
        where = Path(path).resolve()
        content = where.read_bytes()
        text = content.decode()
    except (OSError, RuntimeError, TypeError, ValueError) as error:  # RuntimeError: links in a ring
        raise InvalidInput(f"cannot read {_named(path)}: {error}") from error
    try:
        terms, state = records.from_record(record.parse(text), policy)
    except UnreadableState as error:
        raise UnreadableState(f"{_named(path)}: {error}") from error
    return terms, state, {where: _stamp(content)}


def save(
    path: str | os.PathLike[str], data: record.Record, stamps: Stamps, *, overwrite: bool = False
) -> dict[Path, str]:
    """Write a record to a JSON file, whole or not at all.

    Args:
        path: The file.
        data: The record.
        stamps: What the learner knows to be in its files.
        overwrite: Whether to write over a file that holds something else.

    Returns:
        The stamps, with that of this file.

    Raises:
        InvalidInput: The file cannot be written, or holds what the learner never read or wrote.
    """
    content = (json.dumps(data, indent=1, allow_nan=False) + "\n").encode()
    try:
        where = Path(path).resolve()
    except (OSError, RuntimeError, TypeError, ValueError) as error:  # RuntimeError: links in a ring
        raise InvalidInput(f"cannot write {_named(path)}: {error}") from error
    with alone(where.parent, PATIENCE), write_whole(path) as scratch:
        scratch.write_bytes(content)
        # Not even the same content is accepted: another process may have counted a reward of its
        # own that is like this learner's, and one of the two would be lost.
        safe = overwrite or not where.is_file() or _stamp(where.read_bytes()) == stamps.get(where)
        if not safe:
            raise _would_be_lost(path, known=where in stamps)
    return {**stamps, where: _stamp(content)}


def _would_be_lost(path: str | os.PathLike[str], *, known: bool) -> InvalidInput:
    what = (
        "has changed since this learner was loaded from it or saved to it"
        if known
        else "is there already, and this learner was not loaded from it"
    )
    return InvalidInput(
        f"{_named(path)} {what}: to write over it would lose what it holds. Let one process alone "
        "load and save a file; load it again, save elsewhere, or use save(…, overwrite=True)",
        argument="path",
    )


def _named(path: object) -> str:
    """A path as messages show it, also what is none and cannot be shown."""
    return repr(str(path)) if isinstance(path, str | os.PathLike) else shown(path)


def _stamp(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
