"""The JSON records that the package writes. Each record names its kind and version.

Records that are read back carry a digest of their content, which detects silent damage such as a
changed digit. Older records without a digest are still accepted.
"""

import contextlib
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from driftanchor.errors import InvalidInput, UnreadableState, shown

Record = dict[str, Any]


def seal(kind: str, version: int, body: Mapping[str, Any]) -> Record:
    """Return a record of the given kind and version, ready for `json.dumps`."""
    return {"kind": f"driftanchor/{kind}", "version": version, **body}


def seal_with_digest(kind: str, version: int, body: Mapping[str, Any]) -> Record:
    """Return a record of the given kind and version, with a digest of its content."""
    content = seal(kind, version, body)
    return {**content, "digest": digest_of(content)}


def digest_of(record: Mapping[str, Any]) -> str:
    """Return the digest of a record's values.

    The digest does not depend on the order of keys or on the notation of numbers (1 or 1.0), so
    other programs and databases may rewrite the record.

    Example:
        >>> digest_of({"n": 1, "mean": 0.5}) == digest_of({"mean": 0.5, "n": 1.0, "digest": "x"})
        True
    """
    content = {key: value for key, value in record.items() if key != "digest"}
    text = json.dumps(plain(content), sort_keys=True, allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def plain(value: Any) -> Any:
    """Return the JSON form of a value: tuples become lists, whole floats become ints."""
    if isinstance(value, dict):
        return {key: plain(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def unseal(record: object, kind: str, version: int, fields: tuple[str, ...]) -> Record:
    """Check that a record has the given kind and fields and a supported version; return it.

    Versions up to `version` are supported. Raises `UnreadableState` if a check fails.
    """
    actual = record.get("kind") if isinstance(record, dict) else type(record).__name__
    # Check the type first: comparing a NumPy array would give an array, not True or False.
    known = isinstance(actual, str) and actual == f"driftanchor/{kind}"
    if not isinstance(record, dict) or not known:
        raise UnreadableState(f"not a driftanchor {kind} record: its kind is {shown(actual)}")
    written = record.get("version")
    if not isinstance(written, int) or isinstance(written, bool) or written < 1:
        raise UnreadableState(f"the {kind} record has no usable version, got {shown(written)}")
    if written > version:
        raise UnreadableState(
            f"the {kind} record is of version {shown(written)}, this driftanchor reads up to "
            f"{version}: upgrade driftanchor"
        )
    for field in fields:
        if field not in record:
            raise UnreadableState(f"the {kind} record lacks {field!r}: the file is damaged")
    return record


@contextlib.contextmanager
def reading(kind: str, body: Record) -> Iterator[None]:
    """Context manager for reading a record: turn InvalidInput into UnreadableState.

    On exit, also raises UnreadableState if the record has a digest that does not match its content.
    """
    with damage_named(kind):
        yield
    if "digest" not in body:  # an older record
        return
    try:
        same = isinstance(body["digest"], str) and body["digest"] == digest_of(body)
    except (TypeError, ValueError, RecursionError):  # the content is not JSON
        same = False
    if not same:
        raise UnreadableState(
            f"the {kind} record is not what its digest says: the file is damaged; if you changed "
            "it yourself, remove its 'digest'"
        )


@contextlib.contextmanager
def damage_named(kind: str) -> Iterator[None]:
    """Context manager for reading a record: turn InvalidInput into UnreadableState."""
    try:
        yield
    except InvalidInput as error:
        raise UnreadableState(f"the {kind} record is damaged: {error}") from error


def encode(x: float) -> float | str | None:
    """Return a float's JSON form: infinity becomes text, NaN becomes null."""
    if math.isnan(x):
        return None
    return str(x) if math.isinf(x) else x


def decode(x: object) -> object:
    """Undo `encode`: null becomes NaN, the texts "inf" and "-inf" become infinite floats."""
    if x is None:
        return math.nan
    return float(x) if x in ("inf", "-inf") else x


def parse(text: str) -> object:
    """Parse JSON text. If it is invalid, raise UnreadableState with the parser's message."""
    try:
        return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:  # ValueError also for too many digits
        raise UnreadableState(f"not valid JSON: {error}") from error


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the pairs as a dict. Repeated keys are rejected, because they are ambiguous."""
    unique = dict(pairs)
    if len(unique) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise UnreadableState(f"key {twice!r} appears twice in one object")
    return unique


def _reject_constant(name: str) -> None:
    """Reject NaN and Infinity, which Python writes but JSON does not allow."""
    raise UnreadableState(f"it contains {name}, which is not a JSON number")
