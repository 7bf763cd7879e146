"""The JSON records that the package writes; each names its kind and version.

A record that is read again has a digest of its content, so that damage which leaves it readable,
such as a number that became another number, is noticed. Records from before there were digests are
read without one.
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
    """A record of `kind`, ready for `json.dumps`."""
    return {"kind": f"driftanchor/{kind}", "version": version, **body}


def seal_with_digest(kind: str, version: int, body: Mapping[str, Any]) -> Record:
    """As `seal`, with a digest of the content, for a record that is read again."""
    content = seal(kind, version, body)
    return {**content, "digest": digest_of(content)}


def digest_of(record: Mapping[str, Any]) -> str:
    """The digest of a record: of its values, not of how they are written.

    The order of keys and the form of a number do not matter, so a record may go through other
    programs and databases.

    Example:
        >>> digest_of({"n": 1, "mean": 0.5}) == digest_of({"mean": 0.5, "n": 1.0, "digest": "x"})
        True
    """
    content = {key: value for key, value in record.items() if key != "digest"}
    text = json.dumps(plain(content), sort_keys=True, allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def plain(value: Any) -> Any:
    """A value as JSON gives it back: tuples as lists, and whole numbers without a point."""
    if isinstance(value, dict):
        return {key: plain(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


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
def reading(kind: str, body: Record) -> Iterator[None]:
    """Report a bad value in a record, or content that is not that of its digest, as damage."""
    with damage_named(kind):
        yield
    if "digest" not in body:  # written before there were digests
        return
    try:
        same = isinstance(body["digest"], str) and body["digest"] == digest_of(body)
    except (TypeError, ValueError, RecursionError):  # it has what no JSON has
        same = False
    if not same:
        raise UnreadableState(
            f"the {kind} record is not what its digest says: the file is damaged; if you changed "
            "it yourself, remove its 'digest'"
        )


@contextlib.contextmanager
def damage_named(kind: str) -> Iterator[None]:
    """Report a bad value in a record as damage."""
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
        return json.loads(text, object_pairs_hook=_each_key_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:  # a number of too many digits is a ValueError too
        raise UnreadableState(f"not valid JSON: {error}") from error


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The object, unless a key is repeated: then it is not known which value is meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise UnreadableState(f"key {twice!r} stands twice in one object")
    return found


def _no_constant(name: str) -> None:
    """NaN and Infinity are Python's; no JSON has them, and no record of ours."""
    raise UnreadableState(f"it has the number {name}")
