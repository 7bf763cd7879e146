"""Provenance: which logs offline data come from, and what was done to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from driftanchor.core import check, record
from driftanchor.errors import InvalidInput, shown

Pairs = tuple[tuple[str, str], ...]
Counts = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Source:
    """One file or table.

    Attributes:
        name: As it was given.
        digest: What it was made of: `sha256:…` of a whole file, or `sha256-sampled:…` of its size
            and parts of it; none for a frame or a table.
        size: Bytes of a file.
    """

    name: str
    digest: str | None = None
    size: int | None = None


@dataclass(frozen=True)
class Provenance:
    """How offline data were read from logs.

    Attributes:
        sources: The files or tables.
        columns: (role, column) pairs: arm, reward and so on.
        filters: (filter, value) pairs, as text.
        rows_read: All rows there were.
        rows_filtered: Those the filters left out.
        rows_rejected: (reason, count) pairs of those that could not be used.
        read_at: When, in UTC.

    Example:
        >>> columns = (("arm", "variant"), ("reward", "converted"))
        >>> how = Provenance((Source("a.csv"),), columns, (), 5, 0, (), "2026-01-31T12:00:00Z")
        >>> Provenance.from_json(how.to_json()) == how
        True
    """

    sources: tuple[Source, ...]
    columns: Pairs
    filters: Pairs
    rows_read: int
    rows_filtered: int
    rows_rejected: Counts
    read_at: str

    @property
    def rows_used(self) -> int:
        """The rows behind the numbers: all others are filtered or rejected."""
        return self.rows_read - self.rows_filtered - sum(n for _, n in self.rows_rejected)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready part of a record."""
        return {
            "sources": [asdict(source) for source in self.sources],
            "columns": dict(self.columns),
            "filters": dict(self.filters),
            "rows_read": self.rows_read,
            "rows_filtered": self.rows_filtered,
            "rows_rejected": dict(self.rows_rejected),
            "read_at": self.read_at,
        }

    @classmethod
    def from_json(cls, data: object) -> Provenance:
        """Read what `to_json` wrote; `UnreadableState` if it is damaged."""
        with record.damage_named("provenance"):
            body = _mapping(data, "provenance")
            for field in cls.__dataclass_fields__:
                if field not in body:
                    raise InvalidInput(f"provenance lacks {field!r}")
            rejected = _mapping(body["rows_rejected"], "rows_rejected")
            return cls(
                sources=tuple(_source(x) for x in check.items(body["sources"], "sources")),
                columns=_pairs(body["columns"], "columns"),
                filters=_pairs(body["filters"], "filters"),
                rows_read=check.whole(body["rows_read"], "rows_read"),
                rows_filtered=check.whole(body["rows_filtered"], "rows_filtered"),
                rows_rejected=tuple(
                    (k, check.whole(n, "rows_rejected", of=repr(k))) for k, n in rejected.items()
                ),
                read_at=_text(body["read_at"], "read_at"),
            )


def _source(data: object) -> Source:
    body = _mapping(data, "source")
    digest, size = body.get("digest"), body.get("size")
    return Source(
        name=_text(body.get("name"), "name of a source"),
        digest=None if digest is None else _text(digest, "digest of a source"),
        size=None if size is None else check.whole(size, "size", of="a source"),
    )


def _pairs(data: object, name: str) -> Pairs:
    return tuple((k, _text(x, f"{name} {k!r}")) for k, x in _mapping(data, name).items())


def _mapping(data: object, name: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
        raise InvalidInput(f"{name} must map names to values, got {shown(data)}")
    return data


def _text(data: object, name: str) -> str:
    if not isinstance(data, str):
        raise InvalidInput(f"{name} must be text, got {shown(data)}")
    return data
