"""CampaignState: a worker's cached copy of a campaign, updated by applying new events."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.offline import OfflineData
from driftanchor.core.promises import Range
from driftanchor.core.tally import Tally
from driftanchor.errors import UnreadableState
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.campaigns.traffic import PropensitySums
from driftanchor.live.decide import Decider
from driftanchor.live.propensities import Propensities
from driftanchor.live.state import State
from driftanchor.live.stores.damage import reads_store
from driftanchor.live.stores.journal import Detail, Entry, checksum, core_event
from driftanchor.live.stores.reader import Reader
from driftanchor.live.stores.rows import ArmRow, Counters
from driftanchor.live.terms import Terms

FEW_DIGITS = 1e-6  # a subtraction that leaves a smaller share keeps fewer than 10 of 16 digits


class CampaignState:
    """The terms, state and sums of a campaign as of one event.

    Workers cache it: it is a copy of the store's data, and `apply` brings it up to date.

    Attributes:
        decider: Makes decisions and holds the state.
        settings: The settings in force.
        propensities: Computes the propensities of the policy.
        counters: The sequence number of the last event, and the other counters of the campaign.
        squares: For each arm, the sum of squared deviations of its rewards from `centre`.
        decisions: The number of decisions for each arm.
        traffic: The sums of the propensities of each arm over all decisions.
        archived: The columns of archived arms.
        added: For each added arm, the sequence number and detail of its event.
        changes: The events that changed settings or bounds, in order.
        usual: The limits beyond which a reward counts as far outside the logged rewards.
        distrusted: For each arm whose logs no longer count, the sequence number of the event.
        matured_at: When live rewards were last estimated, if rewards are delayed.
    """

    def __init__(self, terms: Terms, settings: Settings) -> None:
        count = len(terms.arms)
        self.decider = Decider(terms, State.start(terms.arms, terms.policy.memory))
        self.settings = settings
        self.propensities = Propensities(terms.policy)
        self.counters = Counters()
        self.squares: Floats = np.zeros(count)
        self.decisions: Ints = np.zeros(count, np.int64)
        self.traffic = PropensitySums(count)
        self.archived: set[int] = set()
        self.added: dict[int, Entry] = {}
        self.distrusted: dict[int, int] = {}
        self.changes: list[Entry] = []
        self.usual = usual_rewards(terms.offline)
        self._settings_log = [(0, settings)]  # decisions before each change, new settings
        self.matured_at: float | None = None

    @classmethod
    @reads_store
    def load(cls, reader: Reader, first: Terms, settings: Settings) -> CampaignState:
        """Build it from stored sums, without reading all events.

        Args:
            reader: Reads the campaign.
            first: The initial terms.
            settings: The initial settings.
        """
        counters, rows, changes = reader.counters, reader.arms(), reader.changes()
        delayed = settings.is_delayed or any(entry.kind == "changed" for entry in changes)
        matured = reader.matured() if delayed else None
        current = cls(terms_at(first, changes, counters.seq), settings)
        for entry in changes:
            if entry.kind == "changed":
                current._change_settings(entry)
        arms = current.terms.arms
        if [row.label for row in rows] != list(arms):
            raise UnreadableState("the arms of the campaign do not match its terms")
        state = State(
            Tally.trusted(
                arms,
                np.array([row.pulls for row in rows], np.int64),
                np.array([row.total for row in rows], np.float64),
            ),
            np.array([row.pending for row in rows], np.int64),
            np.array([row.state == "active" for row in rows], np.bool_),
            np.array([row.memory for row in rows], np.float64).reshape(len(rows), -1),
            counters.decisions,
            live_of(matured, len(arms)),
        )
        current.matured_at = None if matured is None else matured.at
        current.decider = Decider(current.terms, state)
        current.counters = dataclasses.replace(counters)
        current.squares = np.array([row.squares for row in rows], np.float64)
        current.decisions = np.array([row.decisions for row in rows], np.int64)
        current.traffic.load(reader.expected())
        current.archived = {row.column for row in rows if row.state == "archived"}
        current.added = {
            row.column: Entry(row.added_seq, "arm_added", 0.0, detail=row.added)
            for row in rows
            if row.added_seq
        }
        current.distrusted = {
            row.column: row.distrusted_seq for row in rows if row.distrusted_seq is not None
        }
        return current

    @property
    def terms(self) -> Terms:
        """The terms in force, including arms added later."""
        return self.decider.terms

    @property
    def state(self) -> State:
        """What happened so far; later events update it in place."""
        return self.decider.state

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the arms, by column."""
        return self.terms.arms.labels

    @property
    def windowed(self) -> bool:
        """Whether any decision may have a reward window."""
        return any(settings.reward_window is not None for _, settings in self._settings_log)

    @property
    def sometimes_open(self) -> bool:
        """Whether any decision may have no reward window."""
        return any(settings.reward_window is None for _, settings in self._settings_log)

    def settings_of(self, number: int) -> Settings:
        """Return the settings in force when decision `number` was made."""
        if number > self._settings_log[-1][0]:  # the usual case
            return self.settings
        earlier = [settings for start, settings in self._settings_log if start < number]
        return earlier[-1] if earlier else self._settings_log[0][1]

    @property
    def delayed_since(self) -> tuple[int, int, float]:
        """Return since when the current window and default have applied.

        Returns (sequence number of the event that set them, number of earlier decisions, time by
        which the windows of those decisions have closed).
        """
        seq, number, closed = 0, 0, -math.inf
        ends = -math.inf
        for (_, settings), entry in zip(self._settings_log, self.changes, strict=False):
            # An exposure may be reported at any time, so its window may never end.
            window = settings.reward_window if self.waits else None
            ends = max(ends, math.inf if window is None else entry.at + window)
            detail = entry.detail or {}
            if {"reward_window", "default_reward"} & detail["after"].keys():
                seq, number, closed = entry.seq, int(detail["decisions"]), ends
        return seq, number, closed

    @property
    def delayed_until(self) -> tuple[int, float, float]:
        """Return which earlier decisions had a window and a default.

        Returns (number of the last one, its window, time by which the windows of all have closed).
        """
        number, window, closed = 0, math.inf, -math.inf
        for (_, settings), entry in zip(self._settings_log, self.changes, strict=False):
            if settings.reward_window is not None and settings.is_delayed:
                number, window = int((entry.detail or {})["decisions"]), settings.reward_window
                closed = max(closed, entry.at + window)
        return number, window, closed

    @property
    def waits(self) -> bool:
        """Whether a decision waits for its reward as soon as it is made."""
        return self.settings.exposure == "ask"

    @reads_store
    def catch_up(self, entries: Iterable[Entry]) -> None:
        """Apply stored events."""
        applied = list(entries)
        for entry in applied:
            self.apply(entry)
        self.seal(applied)

    @reads_store
    def apply(self, entry: Entry) -> None:
        """Apply one event. `seal` adds events to the checksum, many at once."""
        counters = self.counters
        seq, kind, _, number, column, value, _ = entry
        if seq != counters.seq + 1:
            problem = f"event {seq} follows event {counters.seq}: events are missing or repeated"
            raise UnreadableState(problem)
        if kind != "rewarded" or number is None or column is None or value is None:
            event = core_event(entry, waits=self.waits)
            if event is not None:
                self.decider.apply(event)
            self._count(entry)
        else:  # the usual case
            self.decider.state.learn(column, value)
            self._square(column, value)
        counters.seq = seq

    def seal(self, entries: Sequence[Entry]) -> None:
        """Add events to the checksum, in order."""
        if self.counters.checksum is not None:
            self.counters.checksum = checksum(entries, self.counters.checksum)

    def _count(self, entry: Entry) -> None:
        """Update the sums outside the state: squares, decisions by arm, archived arms."""
        column, counters = entry.column, self.counters
        match entry.kind:
            case "paused" | "resumed":
                counters.paused = entry.kind == "paused"
            case "epoch":
                counters.epoch = int(entry.value or 0)
            case "late":
                counters.late += 1
            case "arm_added":
                self._add_arm(entry)
            case "changed":
                self._change_settings(entry)
            case "matured":
                self.matured_at = entry.at
        if column is None:
            return
        match entry.kind:
            case "decided":
                self.decisions[column] += 1
                counters.decisions = self.decider.state.decisions
            case "defaulted" | "added":
                self._square(column, entry.value)
            case "corrected":
                detail = entry.detail or {}
                self._square(column, entry.value)
                self._square(column, detail["before"], -1.0)
                if "squares" in detail:
                    self.squares[column] = detail["squares"]
            case "arm_archived":
                self.archived.add(column)
            case "arm_restored":
                self.archived.discard(column)
            case "arm_distrusted":
                self.distrusted[column] = entry.seq

    def _square(self, column: int, reward: float | None, sign: float = 1.0) -> None:
        """Add or subtract the squared deviation of a reward from the centre."""
        square = sign * (float(reward or 0.0) - centre(self.terms, column)) ** 2
        self.squares[column] = self.squares.item(column) + square

    def loses_digits(self, column: int, before: float) -> bool:
        """Whether subtracting a reward from the sums of its arm leaves too few digits of them."""
        square = (before - centre(self.terms, column)) ** 2
        return self.squares.item(column) - square < FEW_DIGITS * square

    def sums_of(self, column: int, rewards: Iterable[float]) -> Detail:
        """Return the exact sums of an arm with these rewards."""
        paid, middle = list(rewards), centre(self.terms, column)
        squares = math.fsum([(reward - middle) ** 2 for reward in paid])
        return {"total": math.fsum(paid), "squares": squares}

    def _change_settings(self, entry: Entry) -> None:
        """Put the settings of an event into force."""
        detail = entry.detail or {}
        self.settings = self.settings.after(detail["after"])
        self._settings_log.append((detail["decisions"], self.settings))
        self.changes.append(entry)

    def _add_arm(self, entry: Entry) -> None:
        self.squares = np.append(self.squares, 0.0)
        self.decisions = np.append(self.decisions, 0)
        self.usual = usual_rewards(self.terms.offline)
        self.traffic.add_arm()
        self.added[len(self.terms.arms) - 1] = entry

    def row(self, column: int) -> ArmRow:
        """Return the stored row of an arm."""
        state, added = self.state, self.added.get(column)
        active = "active" if state.playable.item(column) else "paused"
        return ArmRow(
            column,
            self.labels[column],
            "archived" if column in self.archived else active,
            self.decisions.item(column),
            state.pulls.item(column),
            state.totals.item(column),
            self.squares.item(column),
            state.pending.item(column),
            state.memory[column].tolist() if state.memory.size else [],
            0 if added is None else added.seq,
            None if added is None else added.detail,
            self.distrusted.get(column),
        )


def usual_rewards(offline: OfflineData) -> Range:
    """Return the limits beyond which a reward counts as far outside the logged rewards.

    With n logged rewards from `low` to `high`, a reward may exceed that range by k (high − low),
    where k = 10, or 10,000/n for n below 1,000. If the probability of a reward above x falls like
    1/x, the heaviest tails seen in practice, a genuine reward is refused with a probability of at
    most 1 in 10,000; if it falls like 1/x², at most 1 in 100,000.

    Example:
        >>> from driftanchor.core.arms import Arms
        >>> logs = OfflineData(Arms(["A"]), [2000], [9.5], smallest=[0.0], largest=[80.0])
        >>> usual_rewards(logs), usual_rewards(OfflineData.from_summary({"A": (2000, 9.5)}))
        ((-800.0, 880.0), (-inf, inf))
    """
    low, high = offline.reward_ends()
    if math.isnan(low):
        return -math.inf, math.inf
    width = (high - low) or abs(high) or 1.0
    beyond = width * max(10.0, 10_000 / int(offline.n.sum()))
    return low - beyond, high + beyond


def live_of(matured: Entry | None, arms: int) -> tuple[Floats, Floats] | None:
    """Return an estimate's pulls and totals, 0 for later arms; `None` without an estimate."""
    detail = {} if matured is None else matured.detail or {}
    if detail.get("pulls") is None:
        return None
    pulls, totals = np.zeros(arms), np.zeros(arms)
    known = min(len(detail["pulls"]), arms)
    pulls[:known], totals[:known] = detail["pulls"][:known], detail["totals"][:known]
    return pulls, totals


def centre(terms: Terms, column: int) -> float:
    """Return a number near an arm's rewards, for its sum of squares; it never changes.

    It is the offline mean if there are logs, else the middle of the range, else 0.
    """
    if terms.offline.n[column] > 0:
        return terms.offline.mean.item(column)
    middle = (terms.reward_range[0] + terms.reward_range[1]) / 2
    return middle if math.isfinite(middle) else 0.0


@reads_store
def terms_at(first: Terms, changes: Iterable[Entry], seq: int) -> Terms:
    """Return the terms after an event.

    Args:
        first: The initial terms.
        changes: The events that changed the campaign, from `Reader.changes`.
        seq: The sequence number of the event.
    """
    terms = first
    for entry in changes:
        if entry.seq <= seq and entry.kind in ("arm_added", "arm_distrusted", "changed"):
            event = core_event(entry, waits=True)
            terms = terms if event is None else terms.after(event)
    return terms
