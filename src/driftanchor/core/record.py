"""The JSON records that the package writes; each names its kind and version."""

import contextlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from driftanchor.errors import InvalidInput, UnreadableState, shown

Record = dict[str, Any]


def seal(kind: str, version: int, body: Mapping[str, Any]) -> Record:
    """A record of `kind`, ready for `json.dumps`."""
    return {"kind": f"driftanchor/{kind}", "version": version, **body}


def unseal(record: object, kind: str, version: int, fields: tuple[str, ...]) -> Record:
    """Check that `record` is of this `kind`, of a version we can read, and has all `fields`."""
    found = record.get("kind") if isinstance(record, dict) else type(record).__name__
    if not isinstance(record, dict) or not isinstance(found, str) or found != f"driftanchor/{kind}":
        raise UnreadableState(f"not a driftanchor {kind} record: its kind is {shown(found)}")
    found = record.get("version")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise UnreadableState(f"the {kind} record has no usable version, got {shown(found)}")
    if found > version:
        raise UnreadableState(
            f"the {kind} record is of version {shown(found)}, this driftanchor reads up to "
            f"{version}: upgrade driftanchor"
        )
    for field in fields:
        if field not in record:
            raise UnreadableState(f"the {kind} record lacks {field!r}: the file is damaged")
    return record


@contextlib.contextmanager
def reading(kind: str) -> Iterator[None]:
    """Report a bad value in a record as a damaged record."""
    try:
        yield
    except InvalidInput as error:
        raise UnreadableState(f"the {kind} record is damaged: {error}") from error


def encode(x: float) -> float | str | None:
    """A float as JSON, which has neither: infinity becomes text, and NaN becomes null."""
    if math.isnan(x):
        return None
    return str(x) if math.isinf(x) else x


def decode(x: object) -> object:
    """The inverse of `encode`."""
    if x is None:
        return math.nan
    return float(x) if x in ("inf", "-inf") else x


def parse(text: str) -> object:
    """Read JSON text, or say where it is damaged."""
    try:
        return json.loads(text, object_pairs_hook=_each_key_once)
    except (ValueError, RecursionError) as error:  # a number of too many digits is a ValueError too
        raise UnreadableState(f"not valid JSON: {error}") from error


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The object, unless a key stands in it twice: nobody knows which value is meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise UnreadableState(f"key {twice!r} stands twice in one object")
    return found
