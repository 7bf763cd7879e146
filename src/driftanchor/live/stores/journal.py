"""The journal of a campaign: all of its events in order.

An entry is the stored form of one event. `core_event` turns it into the event that `fold` applies
to a `State`; some entries do not change the state.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, NamedTuple

from driftanchor.core import record
from driftanchor.errors import UnreadableState, shown
from driftanchor.live.state_events import (
    ArmAdded,
    BoundsChanged,
    Corrected,
    Decided,
    Distrusted,
    Event,
    Exposed,
    GivenUp,
    Matured,
    Paused,
    Resumed,
    Rewarded,
)

Detail = dict[str, Any]
encoded = json.JSONEncoder(allow_nan=False).encode  # json.dumps would create an encoder each time


class Entry(NamedTuple):
    """One event of a campaign.

    Attributes:
        seq: Its sequence number, from 1 without gaps; independent of clocks.
        kind: What happened:

            - `decided`, `exposed`: a decision was made, or shown
            - `rewarded`: its reward arrived; `defaulted`: the default reward counts
            - `expired`: the window ended without a reward or default
            - `late`: a reward came after the window and does not count
            - `corrected`: a new reward replaces the old one: a late reward replaces the default,
              or a caller corrected the reward
            - `added`: a late reward counts after the decision had expired
            - `arm_added`, `arm_paused`, `arm_archived`, `arm_restored`, `arm_distrusted`
            - `changed`: settings or bounds of the campaign were changed
            - `paused`, `resumed`: of the campaign; `epoch`: a new epoch; `alarm`: a shift alarm
            - `default_used`: a caller's request timed out, and it played its default arm
            - `keyed`: a request with a key was answered
            - `matured`: a new estimate of live rewards, for delayed rewards
        at: The time in seconds since 1970, by the writer's clock.
        decision: The number of the decision, if any.
        column: The column of the arm, if any.
        value: The reward, the propensity of a decision, or the number of the epoch.
        detail: Other data.
    """

    seq: int
    kind: str
    at: float
    decision: int | None = None
    column: int | None = None
    value: float | None = None
    detail: Detail | None = None


# The kinds that change the campaign itself. An index on events has the same list.
CHANGES = (
    "arm_added",
    "arm_paused",
    "arm_archived",
    "arm_restored",
    "arm_distrusted",
    "paused",
    "resumed",
    "epoch",
    "alarm",
    "changed",
)
WITHOUT_EFFECT = ("late", "paused", "resumed", "epoch", "alarm", "keyed", "default_used")


def checksum(entries: Iterable[Entry], before: int) -> int:
    """Return the checksum of all events up to these, given that of the events before them.

    Example:
        >>> one, two = Entry(1, "paused", 0.0), Entry(2, "resumed", 0.5)
        >>> checksum([one, two], 0) == checksum([two], checksum([one], 0))
        True
    """
    lines: list[str] = []
    last, moment = None, ""
    for seq, kind, at, decision, column, value, detail in entries:
        if at is not last:  # events of one transaction have the same time
            last, moment = at, repr(at)
        number = value if value is None or type(value) is float else float(value)
        text = "" if detail is None else detail_text(detail)
        lines.append(f"{seq} {kind} {moment} {decision} {column} {number!r} {text}")
    return zlib.crc32("".join(lines).encode(), before)


def detail_text(detail: Detail) -> str:
    """Return the detail of an event as JSON, fast if all its values are texts.

    Example:
        >>> detail_text({"id": "5f", "unit": "ann"}), detail_text({"before": 0.5})
        ('{"id": "5f", "unit": "ann"}', '{"before": 0.5}')
    """
    pairs = []
    for key, value in detail.items():
        if type(value) is not str:
            return encoded(detail)
        pairs.append(f"{quoted(key)}: {quoted(value)}")
    return f"{{{', '.join(pairs)}}}"


def core_event(entry: Entry, *, waits: bool) -> Event | None:
    """Return the event for `fold`, or `None` if the entry does not change the state.

    Args:
        entry: The entry.
        waits: Whether a decision waits for its reward as soon as it is made, unless the entry says
            otherwise.
    """
    if entry.kind in WITHOUT_EFFECT:
        return None
    if entry.kind == "arm_added":
        return _arm_added(entry)
    if entry.kind == "changed":
        return _bounds_changed(entry)
    if entry.kind == "matured":
        return _matured(entry)
    column = entry.column
    if column is None:
        raise _unusable(entry)
    match entry.kind:
        case "arm_paused" | "arm_archived":
            return Paused(column)
        case "arm_restored":
            return Resumed(column)
        case "arm_distrusted":
            return Distrusted(column)
    number, value = entry.decision, entry.value
    if number is None:
        raise _unusable(entry)
    match entry.kind:
        case "decided":
            return Decided(number, column, _memory(entry), waits and not only_assigned(entry))
        case "exposed":
            return Exposed(column)
        case "expired":
            return GivenUp(column, 1, (number,))
    if value is None:
        raise _unusable(entry)
    match entry.kind:
        case "rewarded" | "defaulted":
            return Rewarded((column,), (value,), (number,))
        case "added":
            return Rewarded((column,), (value,), (number,), late=True)
        case "corrected":
            detail = entry.detail or {}
            return Corrected(column, detail["before"], value, detail.get("total"))
    raise _unusable(entry)


def decided_detail(
    event: Decided,
    excluded: list[int],
    decision_id: str,
    unit: str | None,
    *,
    assigned: bool = False,
) -> Detail:
    """Return the detail of a `decided` event.

    Args:
        event: The decision.
        excluded: The columns of the arms that could not be played.
        decision_id: Its id.
        unit: Who it is for.
        assigned: Whether this decision waits for its reward only after it is shown.
    """
    detail: Detail = {"id": decision_id}
    if unit is not None:
        detail["unit"] = unit
    if assigned:
        detail["assigned"] = True
    if event.memory:
        detail["memory"] = [[column, list(row)] for column, row in event.memory]
    if excluded:
        detail["exclude"] = excluded
    return detail


def only_assigned(entry: Entry) -> bool:
    """Return whether a decision waits for its reward only after it is shown."""
    return (entry.detail or {}).get("assigned") is True


def excluded(entry: Entry) -> list[int]:
    """Return the columns of the arms that could not be played in a decision."""
    return list((entry.detail or {}).get("exclude", ()))


def _memory(entry: Entry) -> tuple[tuple[int, tuple[float, ...]], ...]:
    rows = (entry.detail or {}).get("memory", ())
    return tuple((column, tuple(row)) for column, row in rows)


def _arm_added(entry: Entry) -> ArmAdded:
    detail = entry.detail or {}
    return ArmAdded(
        detail["label"],
        tuple(detail["offline"]),
        _decoded(detail["bias_bound"]),
        _decoded(detail["relative_bound"]),
    )


def changed_detail(
    reason: str, before: Mapping[str, Any], after: Mapping[str, Any], decisions: int
) -> Detail:
    """Return the detail of a `changed` event.

    Args:
        reason: The reason for the change.
        before: The old values by name; bounds have one number per arm.
        after: The new values by name.
        decisions: The number of earlier decisions, which keep their terms.
    """
    return {
        "reason": reason,
        "before": {name: _plain(value) for name, value in before.items()},
        "after": {name: _plain(value) for name, value in after.items()},
        "decisions": decisions,
    }


def _matured(entry: Entry) -> Matured:
    """Read an estimate of live rewards."""
    detail = entry.detail or {}
    if detail["pulls"] is None:
        return Matured(None, None)
    return Matured(tuple(detail["pulls"]), tuple(detail["totals"]))


def _bounds_changed(entry: Entry) -> BoundsChanged | None:
    """Return the new bounds; `None` if only settings changed."""
    after = (entry.detail or {})["after"]
    level, relative = after.get("bias_bound"), after.get("relative_bound")
    if level is None and relative is None:
        return None
    return BoundsChanged(_all_decoded(level), _all_decoded(relative))


def _all_decoded(bounds: list[float | str] | None) -> tuple[float, ...] | None:
    return None if bounds is None else tuple(float(x) for x in bounds)


def _plain(value: Any) -> Any:
    return [record.encode(x) for x in value] if isinstance(value, list | tuple) else value


def added_detail(event: ArmAdded) -> Detail:
    """Return the detail of an `arm_added` event."""
    return {
        "label": event.label,
        "offline": list(event.offline),
        "bias_bound": _encoded(event.bias_bound),
        "relative_bound": _encoded(event.relative_bound),
    }


def _encoded(bound: float | None) -> float | str | None:
    return None if bound is None else record.encode(bound)


def _decoded(bound: float | str | None) -> float | None:
    return None if bound is None else float(bound)


def _unusable(entry: Entry) -> UnreadableState:
    return UnreadableState(
        f"event {entry.seq} is of kind {shown(entry.kind)} and lacks what that needs: the store is "
        "damaged, or of a newer driftanchor"
    )
