"""Compare ids, units, propensities and request keys with the events.

Events of older stores lack some of these values; missing values are not compared.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import Floats
from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.rows import KEY_SECONDS, DecisionRow, KeyedRequest
from driftanchor.live.stores.store import Reader

WAITS = ("assigned", "open")  # the states in which a unit gets its decision again
_UNKNOWN = 0  # in place of a hash

Hashes = npt.NDArray[np.uint64]


class Names:
    """Ids, units and keys according to the events, in 28 bytes per decision.

    Args:
        sticky: As in `Settings`; it determines which decisions units keep.
    """

    def __init__(self, sticky: str | None) -> None:
        self._sticky = sticky
        self._whole: list[Hashes] = []  # hashes of ids and units, in chunks
        self._units: list[Hashes] = []
        self._epochs: list[npt.NDArray[np.int32]] = []
        self._propensities: list[Floats] = []
        self._piece: list[tuple[int, int, int, float]] = []
        self._keys: dict[str, tuple[KeyedRequest, float]] = {}
        self._last = -math.inf  # the latest time of an event
        self._all_keys = True  # whether every key has its event
        self._replaced: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)

    def note(self, entry: Entry, epoch: int) -> None:
        """Apply one event, given its epoch."""
        detail = entry.detail or {}
        self._last = max(self._last, entry.at)
        if entry.kind == "keyed":
            request = KeyedRequest(detail["ids"], detail.get("digest"))
            self._keys[detail["key"]] = request, entry.at
        if entry.kind != "decided":
            return
        unit, known = detail.get("unit"), "id" in detail and entry.value is not None
        self._all_keys = self._all_keys and known
        whole = _hash(detail["id"], unit) if known else _UNKNOWN
        whose = _hash(unit) if unit is not None else _UNKNOWN
        value = entry.value if known and entry.value is not None else math.nan
        self._piece.append((whole, whose, epoch, value))
        if len(self._piece) == 10_000:
            self._pack()

    def _pack(self) -> None:
        if not self._piece:
            return
        whole, units, epochs, values = zip(*self._piece, strict=True)
        self._whole.append(np.array(whole, np.uint64))
        self._units.append(np.array(units, np.uint64))
        self._epochs.append(np.array(epochs, np.int32))
        self._propensities.append(np.array(values))
        self._piece.clear()

    def end(self) -> None:
        """Finish after the last event."""
        self._pack()
        if not self._whole:
            return
        units, epochs = np.concatenate(self._units), np.concatenate(self._epochs)
        order = np.lexsort((np.arange(units.size), units, epochs))
        again = (units[order[1:]] == units[order[:-1]]) & (epochs[order[1:]] == epochs[order[:-1]])
        self._replaced = np.zeros(units.size, np.bool_)
        self._replaced[order[:-1]] = again  # the unit has a later decision in the same epoch
        self._whole = [np.concatenate(self._whole)]
        self._propensities = [np.concatenate(self._propensities)]

    def differences(self, row: DecisionRow) -> Iterator[str]:
        """Yield the differences between a stored decision's names and its events."""
        i = row.number - 1
        if self._whole[0].item(i) == _UNKNOWN:
            return
        if self._whole[0].item(i) != _hash(row.id, row.unit):
            yield f"the id or the unit of decision {row.number} is not what its event says"
        said = self._propensities[0].item(i)
        if row.propensity != said:
            yield (
                f"the propensity of decision {row.number} is {row.propensity!r}, its event says "
                f"{said!r}"
            )
        waits = self._sticky == "campaign" or row.state in WAITS
        holds = self._sticky is not None and waits and not self._replaced[i]
        if row.holds != (row.unit if holds else None):
            yield f"decision {row.number} is held by {row.holds!r}, but not according to the events"

    def keys(self, reader: Reader) -> Iterator[str]:
        """Yield the differences between stored request keys and the events."""
        for key, request, at in reader.all_keyed():
            said = self._keys.pop(key, None)
            if said is not None and said != (request, at):
                yield f"the key {key!r} does not match the request or the time in its event"
            if (said is None and self._all_keys) or not _are_there(reader, request.ids):
                yield f"the key {key!r} refers to missing decisions"
        for key, (_, at) in self._keys.items():
            if at > self._last - KEY_SECONDS:  # older ones may have been removed
                yield f"the key {key!r} of an event is missing"


def _are_there(reader: Reader, ids: list[str]) -> bool:
    return len(reader.decisions(ids)) == len(set(ids))


def _hash(*names: str | None) -> int:
    digest = hashlib.blake2b(repr(names).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1
