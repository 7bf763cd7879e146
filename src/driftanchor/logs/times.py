"""Times: what people write, what columns hold, and UTC in between."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from driftanchor.errors import InvalidInput, shown

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Numbers are seconds, milliseconds, microseconds or nanoseconds since 1970, distinguished by their
# size. Below the least of them they are no times: 20240131 is a date without its dashes.
LEAST_SECONDS = 1e8
UNITS = {1e11: 1.0, 1e14: 1e3, 1e17: 1e6, 1e20: 1e9}  # below this size: so many in a second
# The years that Python knows, less a day at either end for zones.
EARLIEST, LATEST = datetime(1, 1, 2), datetime(9999, 12, 30)
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:?\d\d.*)?", re.ASCII)


def bound(value: object, argument: str) -> datetime | None:
    """A point in time given by the caller, in UTC; without a zone it is UTC already.

    Example:
        >>> bound("2026-01-31T01:00+02:00", "since").isoformat()
        '2026-01-30T23:00:00+00:00'
    """
    if value is None:
        return None
    hint = "must be a date or time such as 2026-01-31T12:00"
    try:
        moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
        if isinstance(moment, date):
            return in_utc(moment)
    except ValueError:
        pass
    except OverflowError:
        hint = "must be within the years 1 to 9999 in UTC"
    raise InvalidInput(f"{hint}, got {shown(value)}", argument=argument)


def is_time(value: object) -> bool:
    """Whether a value of a filter is text of an ISO date or time.

    Example:
        >>> [is_time(x) for x in ("2026-01-31", "2026-01-31 12:00Z", "20260131", "2026-02-30", 3)]
        [True, True, False, False, False]
    """
    if not isinstance(value, str) or not ISO.fullmatch(value.strip()):
        return False
    try:
        return bound(value, "where") is not None
    except InvalidInput:
        return False


def has_time_of_day(value: object) -> bool:
    """Whether a value of a filter is such text with a time of day."""
    return is_time(value) and len(str(value).strip()) > len("2026-01-31")


def in_utc(value: date) -> datetime:
    """A date or time of a column as a time in UTC."""
    if not isinstance(value, datetime):
        return datetime.combine(value, time(), UTC)
    zoned = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return datetime.combine(zoned.date(), zoned.time(), UTC)  # pandas has a type of its own


def from_seconds(seconds: float) -> datetime:
    """A time from seconds since 1970."""
    return EPOCH + timedelta(seconds=seconds)


def shown_time(value: datetime) -> str:
    """A time in UTC as ISO text.

    Example:
        >>> shown_time(EPOCH)
        '1970-01-01T00:00:00Z'
    """
    return value.replace(tzinfo=None).isoformat() + "Z"
