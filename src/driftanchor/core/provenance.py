"""Provenance: which logs offline data come from, and how they were processed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from driftanchor.core import check, record
from driftanchor.errors import InvalidInput, shown
from driftanchor.render.numbers import count

Pairs = tuple[tuple[str, str], ...]
Counts = tuple[tuple[str, int], ...]
Means = tuple[tuple[str, int, float], ...]
PROBLEMS = {  # by the part of the reason after its first word; {} stands for that word
    "missing": "without {}",
    "not_number": "whose {} is not a number",
    "not_finite": "whose {} is not finite",
    "not_whole": "whose {} is not a whole number",
    "out_of_range": "whose {} is out of range",
    "unreadable": "whose {} cannot be read",
    "negative": "whose {} is negative",
    "without_count": "with a {} but no count",
    "too_long": "whose {} is too long",
    "not_printable": "whose {} is not printable",
}
BUILT_IN_STRATA = ("file", "day", "week", "month")  # all other strata are columns
LINE_PROBLEMS = {
    "line_ragged": "with too many or too few fields",
    "line_unreadable": "that cannot be read",
    "line_in_quotes": "inside quotes that do not end",
    "line_too_long": "that are too long",
    "line_not_json": "that are not JSON objects",
    "line_repeats_header": "that repeat the column names",
    "line_repeats_key": "with a key that is there twice",
}


@dataclass(frozen=True)
class Source:
    """One file or table that logs were read from.

    Attributes:
        name: Path or name, as the caller wrote it.
        digest: `sha256:…` of a whole file, or `sha256-sampled:…` of its size and parts of it.
        size: Size of a file in bytes; None for a frame or a table, as is its digest.
    """

    name: str
    digest: str | None = None
    size: int | None = None


@dataclass(frozen=True)
class Strata:
    """Record of how arms were compared: over all rows, or within strata such as files or periods.

    Attributes:
        within: What defines the strata. Each item is `file`, a period (`day`, `week` or `month`),
            or the name of a column.
        count: Number of strata.
        used: Which means the offline data use: `"pooled"` or `"stratified"`.
        why: Why these means are used, in words.
        pooled: (arm, number of rewards, mean) over all rows.
        stratified: (arm, effective number of rewards, mean) within strata.
    """

    within: tuple[str, ...]
    count: int
    used: str
    why: str
    pooled: Means
    stratified: Means

    @property
    def what(self) -> str:
        """Description of the strata in words, such as "files and weeks"."""
        return strata_text(self.within)

    def text(self) -> str:
        """Return a sentence that says which means are used and why."""
        if self.used == "pooled":
            return f"means are those of all rows: {self.why}"
        return (
            f"arms are compared within {self.what} ({self.count:,} in all), because {self.why}; n "
            "is the effective number of rewards"
        )

    def to_json(self) -> dict[str, Any]:
        """Return a dict for JSON. It becomes part of the JSON record of the offline data."""
        means = {
            name: {label: {"n": n, "mean": mean} for label, n, mean in rows}
            for name, rows in (("pooled", self.pooled), ("stratified", self.stratified))
        }
        head = {"within": list(self.within), "count": self.count}
        return {**head, "used": self.used, "why": self.why, **means}

    @classmethod
    def from_json(cls, data: object) -> Strata:
        """Read a dict that `to_json` wrote."""
        body = _mapping(data, "strata")
        within = check.items(body.get("within"), "within")
        return cls(
            within=tuple(_text(x, "within") for x in within),
            count=check.whole(body.get("count"), "count"),
            used=check.choice(_text(body.get("used"), "used"), "used", ("pooled", "stratified")),
            why=_text(body.get("why"), "why"),
            pooled=_means(body.get("pooled"), "pooled"),
            stratified=_means(body.get("stratified"), "stratified"),
        )


@dataclass(frozen=True)
class Provenance:
    """Record of how offline data were read from logs.

    Attributes:
        sources: The files or tables.
        columns: (role, column) pairs; roles are arm, reward and so on.
        filters: (filter, value) pairs, as text.
        rows_read: Total number of rows.
        rows_filtered: Number of rows that the filters excluded.
        rows_rejected: (reason, count) pairs for unusable rows.
        read_at: Time of reading, in UTC.
        strata: How arms were compared, if the logs have several files, periods or groups.

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
    strata: Strata | None = None

    @property
    def rows_used(self) -> int:
        """Number of rows that were neither filtered nor rejected."""
        return self.rows_read - self.rows_filtered - sum(n for _, n in self.rows_rejected)

    def rejected_text(self) -> str:
        """Return a sentence with the number of rejected rows and the reasons.

        Returns an empty string if no rows were rejected.

        Example:
            >>> reasons = (("reward_missing", 9), ("time_unreadable", 3))
            >>> Provenance((), (), (), 40_000, 0, reasons, "").rejected_text()
            '12 of 40,000 rows were not used: 9 without a reward, 3 whose time cannot be read'
        """
        if not self.rows_rejected:
            return ""
        reasons = sorted(self.rows_rejected, key=lambda pair: -pair[1])
        lost, kept = sum(n for _, n in reasons), self.rows_read - self.rows_filtered
        why = ", ".join(f"{n:,} {reason_text(reason)}" for reason, n in reasons)
        return f"{lost:,} of {count(kept, 'row')} {'was' if lost == 1 else 'were'} not used: {why}"

    def to_json(self) -> dict[str, Any]:
        """Return a dict for JSON. It becomes part of the JSON record of the offline data."""
        strata = {} if self.strata is None else {"strata": self.strata.to_json()}
        return {
            "sources": [asdict(source) for source in self.sources],
            "columns": dict(self.columns),
            "filters": dict(self.filters),
            "rows_read": self.rows_read,
            "rows_filtered": self.rows_filtered,
            "rows_rejected": dict(self.rows_rejected),
            "read_at": self.read_at,
            **strata,
        }

    @classmethod
    def from_json(cls, data: object) -> Provenance:
        """Read a dict that `to_json` wrote; raise `UnreadableState` if it is damaged."""
        with record.damage_named("provenance"):
            body = _mapping(data, "provenance")
            for field in cls.__dataclass_fields__:
                if field not in body and field != "strata":  # older records lack it
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
                strata=None if body.get("strata") is None else Strata.from_json(body["strata"]),
            )


def strata_text(within: tuple[str, ...]) -> str:
    """Describe strata in words, as plural nouns.

    Example:
        >>> strata_text(("file", "week")), strata_text(("country",))
        ('files and weeks', "values of 'country'")
    """
    return " and ".join(f"{x}s" if x in BUILT_IN_STRATA else f"values of {x!r}" for x in within)


def reason_text(reason: str) -> str:
    """Describe the reason why rows were rejected, in words that can follow "12 rows".

    Example:
        >>> [reason_text(x) for x in ("arm_missing", "total_not_number", "line_ragged")]
        ['without an arm', 'whose total is not a number', 'with too many or too few fields']
    """
    if reason in LINE_PROBLEMS:
        return LINE_PROBLEMS[reason]
    role, _, problem = reason.partition("_")
    if problem not in PROBLEMS:
        return f"rejected as {reason}"
    thing = "value to group by" if role == "by" else role
    if problem == "missing":
        thing = f"{'an' if role == 'arm' else 'a'} {thing}"
    return PROBLEMS[problem].format(thing)


def _means(data: object, name: str) -> Means:
    means = []
    for label, row in _mapping(data, name).items():
        numbers = _mapping(row, f"{name} {label!r}")
        n = check.whole(numbers.get("n"), "n", of=repr(label))
        means.append((label, n, check.number(numbers.get("mean"), "mean", of=repr(label))))
    return tuple(means)


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
