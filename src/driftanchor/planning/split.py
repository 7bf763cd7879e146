"""Where a history is split: at a moment, or by a filter that says which rows are the world."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from driftanchor.core.log_options import LogOptions
from driftanchor.errors import InvalidInput, shown
from driftanchor.logs import where
from driftanchor.logs.times import bound, shown_time


@dataclass(frozen=True)
class DateSplit:
    """The rows before a moment are the logs, those from it on are the world."""

    at: datetime

    before, after = "before", "after"  # the two sides, in the headings of tables
    only_log, only_world = "before the split", "after the split"
    how = "The part before the split is the offline log, as it is. The part after it is the world"

    @property
    def text(self) -> str:
        """The split, for programs."""
        return shown_time(self.at)

    @property
    def there(self) -> str:
        """Where the world is, in words: without the time at midnight."""
        return f"after {self._day}"

    def sizes(self, logged: int, world: int) -> str:
        """How many rewards are on each side, in words."""
        return f"{logged:,} logged rewards before {self._day} and {world:,} after it"

    def log(self, options: LogOptions) -> LogOptions:
        """The options that read the logs."""
        return {**options, "until": self.at}

    def world(self, options: LogOptions) -> LogOptions:
        """The options that read the world."""
        return {**options, "since": self.at}

    @property
    def _day(self) -> str:
        return self.text.removesuffix("T00:00:00Z")


@dataclass(frozen=True)
class Filter:
    """The rows that match are the world, those that do not are the logs.

    A row in which the filter compares a missing value neither matches nor fails to: it is on
    neither side, as it may belong to the world and the logs must not know it.
    """

    text: str

    before, after = "in logs", "in world"
    only_log, only_world = "in the logs", "in the world"
    how = (
        "The rows that do not match the filter are the offline log, as it is. The rows that match "
        "are the world"
    )

    @property
    def there(self) -> str:
        """Where the world is, in words."""
        return f"where {self.text}"

    def sizes(self, logged: int, world: int) -> str:
        """How many rewards are on each side, in words."""
        return f"{world:,} rewards where {self.text} and {logged:,} logged rewards elsewhere"

    def log(self, options: LogOptions) -> LogOptions:
        """The options that read the logs."""
        return _also(options, f"not ({self.text})")

    def world(self, options: LogOptions) -> LogOptions:
        """The options that read the world."""
        return _also(options, self.text)


Split = DateSplit | Filter


def split_of(given: object, options: LogOptions) -> Split:
    """The split that was asked for: what reads as a date or time is one, other text is a filter.

    Example:
        >>> split_of("2026-02-01", {"arm": "ad", "time": "at"}).there
        'after 2026-02-01'
        >>> split_of("channel = 'Web'", {"arm": "ad"}).log({"arm": "ad", "where": "age > 18"})
        {'arm': 'ad', 'where': "(age > 18) and (not (channel = 'Web'))"}
    """
    try:
        at = bound(given, "split")
    except InvalidInput:
        return _filter(given)
    if at is None:
        raise InvalidInput(
            "is missing: give the date at which the logs end, or a filter that matches the "
            "rows of the world",
            argument="split",
        )
    if options.get("time") is None:
        raise InvalidInput(
            "is missing: name the column of the times, to split at a date; or split by a "
            "filter such as \"channel = 'Web'\"",
            argument="time",
        )
    return DateSplit(at)


def _filter(given: object) -> Filter:
    try:
        where.parse(given)
    except InvalidInput as error:
        start = "where is not understood: "
        why = str(error).removeprefix(start).rpartition(";")[0]
        reason = f"; read as a filter: {why}" if str(error).startswith(start) else ""
        raise InvalidInput(
            "must be a date or time such as 2026-01-31T12:00, or a filter such as "
            f"\"channel = 'Web'\", got {shown(given)}{reason}",
            argument="split",
        ) from error
    return Filter(str(given).strip())


def _also(options: LogOptions, condition: str) -> LogOptions:
    """Options that keep the rows that meet one more condition."""
    given = options.get("where")
    both = condition if given is None else f"({given}) and ({condition})"
    return {**options, "where": both}
