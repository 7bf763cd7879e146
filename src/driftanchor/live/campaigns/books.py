"""Books: what a worker knows of a campaign, brought up to date by the events it has not seen."""

from __future__ import annotations

import dataclasses
import math
import struct
import zlib

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.errors import UnreadableState
from driftanchor.live.campaigns.sample_ratio import log_e_value
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.decider import Decider
from driftanchor.live.ledger import Ledger
from driftanchor.live.state import State
from driftanchor.live.stores.damage import damaged, reads_store
from driftanchor.live.stores.journal import Detail, Entry, checksum, core_event
from driftanchor.live.stores.store_rows import ArmRow, Head
from driftanchor.live.terms import Terms
from driftanchor.live.tooling import Tooling

SEEN_AT_ONCE = 100  # arms, in a look at the traffic after each decision


class Books:
    """The terms, the state and the sums of a campaign after one of its events.

    A worker may keep a books: it is only a copy of what the store has, and `apply` takes it on.

    Attributes:
        decider: Decides, and keeps what happened up to date.
        settings: The settings of the campaign.
        tooling: What computes propensities.
        head: The place of the last event, and what else the head of a campaign says.
        squares: For each arm the sum of squared distances of its rewards from `centre`.
        decisions: How many decisions chose each arm.
        expected: The sum of the propensities of each arm over all decisions.
        variance: The sum of p (1 − p) of each arm, p its propensities.
        log_e: The evidence that arms are not played as their propensities say; see `RatioCheck`.
        archived: The columns of arms that are archived.
        added: For each arm added, the place of its event and what that says.
        distrusted: For each arm whose logs no longer count, the place of the event.
    """

    def __init__(self, terms: Terms, settings: Settings) -> None:
        count = len(terms.arms)
        self.decider = Decider(terms, Ledger.start(terms.arms, terms.policy.memory))
        self.settings = settings
        self.tooling = Tooling(terms.policy)
        self.head = Head()
        self.squares: Floats = np.zeros(count)
        self.decisions: Ints = np.zeros(count, np.int64)
        self.expected: Floats = np.zeros(count)
        self.variance: Floats = np.zeros(count)
        self.log_e = 0.0
        self.archived: set[int] = set()
        self._centres: dict[int, float] = {}
        self.added: dict[int, Entry] = {}
        self.distrusted: dict[int, int] = {}

    @classmethod
    @reads_store
    def load(
        cls, first: Terms, settings: Settings, head: Head, rows: list[ArmRow], expected: bytes
    ) -> Books:
        """The books of a campaign from what the store has, without looking at its events.

        Args:
            first: The terms that the campaign started with.
            settings: Its settings.
            head: Where it is.
            rows: Its arms.
            expected: The sums of propensities, as `Reader.expected` gives them.
        """
        books = cls(terms_at(first, rows, head.seq), settings)
        arms = books.terms.arms
        if [row.label for row in rows] != list(arms):
            raise UnreadableState("the arms of the campaign are not those of its terms")
        ledger = Ledger(
            arms,
            np.array([row.pulls for row in rows], np.int64),
            np.array([row.total for row in rows], np.float64),
            np.array([row.pending for row in rows], np.int64),
            np.array([row.state == "active" for row in rows], np.bool_),
            np.array([row.memory for row in rows], np.float64).reshape(len(rows), -1),
            head.decisions,
        )
        books.decider = Decider(books.terms, ledger)
        books.head = dataclasses.replace(head)
        books.squares = np.array([row.squares for row in rows], np.float64)
        books.decisions = np.array([row.decisions for row in rows], np.int64)
        books.expect(expected)
        books.archived = {row.column for row in rows if row.state == "archived"}
        books.added = {row.column: _added(row) for row in rows if row.added_seq}
        books.distrusted = {
            row.column: row.distrusted_seq for row in rows if row.distrusted_seq is not None
        }
        return books

    @property
    def terms(self) -> Terms:
        """What was agreed, with the arms added since."""
        return self.decider.terms

    @property
    def ledger(self) -> Ledger:
        """What happened."""
        return self.decider.ledger

    @property
    def state(self) -> State:
        """What happened, as it is now; the books may go on."""
        return State.of(self.ledger)

    def sums(self) -> bytes:
        """The sums of propensities as the store keeps them, which no event tells.

        For each arm the sum of p, then for each the sum of p (1 − p), the evidence against p, and
        a checksum.
        """
        parts = [x.astype("<f8", copy=False).data for x in (self.expected, self.variance)]
        sums = b"".join([*parts, struct.pack("<d", self.log_e)])
        return sums + struct.pack("<Q", zlib.crc32(sums))

    @reads_store
    def expect(self, sums: bytes) -> None:
        """Take over the sums of propensities from the store."""
        if not sums:
            return
        if len(sums) % 16 == 0:  # older ones have no checksum
            sums, checked = sums[:-8], sums[-8:]
            if checked != struct.pack("<Q", zlib.crc32(sums)):
                raise damaged("the sums of propensities are not what their checksum says")
        found = np.frombuffer(sums, "<f8")
        arms = found.size // 2  # arms may have been added since
        if found.size % 2 == 0:
            raise damaged(f"there are {found.size} sums of propensities")
        self.expected[:arms], self.variance[:arms] = found[:arms], found[arms : 2 * arms]
        self.log_e = found.item(-1)

    def drawn(self, probabilities: Floats) -> None:
        """Count the probabilities that a decision was drawn with."""
        self.expected += probabilities
        self.variance += probabilities * (1.0 - probabilities)

    def weigh(self, made: int) -> None:
        """Look whether arms are played as often as their probabilities say.

        A look costs as much as there are arms, so with many it is rarer than decisions are.

        Args:
            made: How many decisions were made since the last time.
        """
        apart, now = max(1, self.expected.size // SEEN_AT_ONCE), self.head.decisions
        if now // apart == (now - made) // apart:
            return
        found = log_e_value(self.decisions - self.expected, self.variance, self.log_e)
        self.log_e = max(self.log_e, found)

    @property
    def waits(self) -> bool:
        """Whether a decision waits for its reward as soon as it is made."""
        return self.settings.exposure == "ask"

    @reads_store
    def apply(self, *entries: Entry) -> None:
        """Go on by some events."""
        head = self.head
        for entry in entries:
            seq, kind, _, number, column, value, detail = entry
            if seq != head.seq + 1:
                problem = f"event {seq} follows event {head.seq}: events are missing or repeated"
                raise UnreadableState(problem)
            if column is None or value is None or number is None:
                self._change(entry)
            elif kind == "rewarded":  # most events are of two kinds, and take no detour
                self.decider.ledger.learn(column, value)
                self._square(column, value)
            elif kind == "decided" and self._only_waits(number, detail):
                self.decider.ledger.decide(column)
                self._decided(column)
            else:
                self._change(entry)
            head.seq = seq
        if head.checksum is not None:
            head.checksum = checksum(entries, head.checksum)

    def _only_waits(self, number: int, detail: Detail | None) -> bool:
        """Whether a decision is the next one, and does no more than wait for its reward."""
        plain = detail is None or ("memory" not in detail and "assigned" not in detail)
        return plain and self.waits and number == self.decider.ledger.decisions + 1

    def _change(self, entry: Entry) -> None:
        """Let an event of any kind change the terms and the state."""
        event = core_event(entry, waits=self.waits)
        if event is not None:
            self.decider.apply(event)
        self._count(entry)

    def _count(self, entry: Entry) -> None:
        """What the state does not know: squares, decisions by arm, and what arms are archived."""
        column, head = entry.column, self.head
        match entry.kind:
            case "paused" | "resumed":
                head.paused = entry.kind == "paused"
            case "epoch":
                head.epoch = int(entry.value or 0)
            case "late":
                head.late += 1
            case "arm_added":
                self._widen(entry)
        if column is None:
            return
        match entry.kind:
            case "decided":
                self._decided(column)
            case "rewarded" | "defaulted" | "added":
                self._square(column, entry.value)
            case "corrected":
                self._square(column, entry.value)
                self._square(column, (entry.detail or {})["before"], -1.0)
            case "arm_archived":
                self.archived.add(column)
            case "arm_restored":
                self.archived.discard(column)
            case "arm_distrusted":
                self.distrusted[column] = entry.seq

    def _decided(self, column: int) -> None:
        self.decisions[column] += 1
        self.head.decisions = self.decider.ledger.decisions

    def _square(self, column: int, reward: float | None, sign: float = 1.0) -> None:
        """Add the squared distance of a reward from the centre, or take it away again."""
        middle = self._centres.get(column)
        if middle is None:
            middle = self._centres[column] = centre(self.terms, column)
        square = sign * (float(reward or 0.0) - middle) ** 2
        self.squares[column] = self.squares.item(column) + square

    def _widen(self, entry: Entry) -> None:
        self.squares = np.append(self.squares, 0.0)
        self.decisions = np.append(self.decisions, 0)
        self.expected = np.append(self.expected, 0.0)
        self.variance = np.append(self.variance, 0.0)
        self.added[len(self.terms.arms) - 1] = entry

    def row(self, column: int) -> ArmRow:
        """What the store keeps of an arm."""
        ledger, added = self.ledger, self.added.get(column)
        active = "active" if ledger.playable.item(column) else "paused"
        return ArmRow(
            column,
            self.decider.labels[column],
            "archived" if column in self.archived else active,
            self.decisions.item(column),
            ledger.pulls.item(column),
            ledger.totals.item(column),
            self.squares.item(column),
            ledger.pending.item(column),
            ledger.memory[column].tolist() if ledger.memory.size else [],
            0 if added is None else added.seq,
            None if added is None else added.detail,
            self.distrusted.get(column),
        )


def centre(terms: Terms, column: int) -> float:
    """A number near an arm's rewards, for its sum of squares; it never changes.

    It is the offline mean where there are logs, else the middle of the range, else 0.
    """
    if terms.offline.n[column] > 0:
        return terms.offline.mean.item(column)
    middle = (terms.reward_range[0] + terms.reward_range[1]) / 2
    return middle if math.isfinite(middle) else 0.0


@reads_store
def terms_at(first: Terms, rows: list[ArmRow], seq: int) -> Terms:
    """The terms after an event, from the first terms and the arms as they are now."""
    changes = [_added(row) for row in rows if row.added_seq]
    changes += [
        Entry(row.distrusted_seq, "arm_distrusted", 0.0, column=row.column)
        for row in rows
        if row.distrusted_seq is not None
    ]
    terms = first
    for entry in sorted(changes, key=lambda entry: entry.seq):
        event = core_event(entry, waits=True)
        if event is not None and entry.seq <= seq:
            terms = terms.after(event)
    return terms


def _added(row: ArmRow) -> Entry:
    return Entry(row.added_seq, "arm_added", 0.0, detail=row.added)
