"""Watching: test whether the live rewards of a campaign are within the bounds on its logs.

The order in which rewards are tested does not depend on their values. With a reward window it is
the order of decisions: one position moves through all decisions and stops at the first one that is
still open. Every shown decision settles when its window ends, so the position is never more than
two windows behind, whichever arms are played, paused or archived. A decision that has not been
shown holds the position for one window; if it is shown later than that, it is never tested.
Without a window a reward may never come, and rewards are tested in the order of arrival; that is
valid where the delay of a reward does not depend on its value. Each decision has the window that
was in force when it was made. Corrected rewards replace those that were tested before.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice

from driftanchor.core.record import Record, reading, seal_with_digest
from driftanchor.live.campaigns.batch import Batch
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.state_events import ArmAdded, BoundsChanged, Distrusted
from driftanchor.live.stores.damage import reads_store
from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.rows import DecisionRow
from driftanchor.live.stores.store import Reader
from driftanchor.live.watch.alarms import Alarm, Mark
from driftanchor.live.watch.watch import Watch, add_alarms, correct, fold

MAX_READ = 5_000  # events or decisions per call; the next call continues
PAGE = 250  # decisions fetched at once
SETTLED = ("rewarded", "defaulted", "expired")
Reward = tuple[int, float, Mark]  # column, reward, the number and time of its decision


def is_watched(current: CampaignState) -> bool:
    """Return whether rewards can violate a bound."""
    terms = current.terms
    promised = (terms.bias_bounds < float("inf")) | (terms.relative_bounds < float("inf"))
    return bool((promised & (terms.offline.n > 0)).any())


@reads_store
def advance(batch: Batch, reader: Reader) -> None:
    """Test the rewards settled since the last call, and raise alarms.

    Rewards settled in this batch are tested in the next call.
    """
    current = batch.current
    if not is_watched(current) and not current.distrusted:
        return
    kept = _kept(reader.watch())
    watch = _current(kept["watch"], current)
    start, number, before = kept["seq"], kept["number"], watch.alarms
    rewards: list[Reward] = []
    seq = reader.counters.seq
    if current.sometimes_open:
        rewards, seq = _by_arrival(reader, start, current)
    corrections = reader.corrections(start, seq)
    if not current.windowed:
        number = reader.counters.decisions
    else:
        watch = _corrected(watch, corrections, reader, kept, current)
        if seq == reader.counters.seq:  # rows already include all corrections
            settled, number = _by_decision(reader, kept, current, batch.now)
            rewards += settled
    watch = _folded(watch, rewards)
    if current.sometimes_open:
        watch = _corrected_at_once(watch, corrections, rewards, current)
    numbers = kept["numbers"] if number < max(kept["numbers"], default=0) else []
    known = sealed({"watch": watch.to_json(), "seq": seq, "number": number, "numbers": numbers})
    for alarm in watch.alarms[len(before) :]:
        _raise(batch, alarm)
    if known != kept:
        batch.watch = known


@reads_store
def alarms_of(record: Record | None) -> tuple[Alarm, ...]:
    """Return the alarms of a campaign from its stored record."""
    kept = _kept(record)["watch"]
    return () if kept is None else Watch.from_json(kept).alarms


def sealed(body: Record) -> Record:
    """Add a digest to the record of the watch and its positions."""
    return seal_with_digest("campaign-watch", 1, body)


def _kept(record: Record | None) -> Record:
    """Return the stored watch and the positions of the last event and decision read.

    Records of older releases have no digest, and have a position for each arm in `numbers`. Reading
    then continues from the smallest position and skips decisions already tested.
    """
    if record is None:
        return {"watch": None, "seq": 0, "number": 0, "numbers": []}
    with reading("watch", record):
        return {"number": min(record["numbers"], default=0), **record}


def _current(kept: Record | None, current: CampaignState) -> Watch:
    """Return the stored watch, updated for arms that were added or distrusted since."""
    if kept is None:
        return Watch.start(current.terms)
    watch = Watch.from_json(kept)
    while len(watch.arms) < len(current.terms.arms):
        label = current.terms.arms[len(watch.arms)]
        watch = watch.after(ArmAdded(label), current.terms)
    for column in current.distrusted:
        watch = watch.after(Distrusted(column), current.terms)
    return watch.after(BoundsChanged(), current.terms) if current.changes else watch


def _folded(watch: Watch, rewards: list[Reward]) -> Watch:
    """Return the watch after rewards. With many arms, alarms are checked less often."""
    every = max(1, len(watch.arms) // 4)
    for i in range(0, len(rewards), every):
        columns, paid, marks = zip(*rewards[i : i + every], strict=True)
        watch = add_alarms(fold(watch, columns, paid, marks[-1]), marks[-1])
    return watch


def _corrected(
    watch: Watch, entries: Sequence[Entry], reader: Reader, kept: Record, current: CampaignState
) -> Watch:
    """Apply corrections to rewards tested in decision order; return the watch."""
    for entry in entries:
        column, number, reward = entry.column, entry.decision, entry.value
        if column is None or number is None or reward is None:
            continue
        window = current.settings_of(number).reward_window
        if window is None:
            continue
        row = next(reader.all_decisions(after=number - 1, page=1))
        if not (_was_tested(row, kept) and _shown_in_time(row, window)):
            continue
        if entry.kind == "corrected":
            watch = correct(watch, column, (entry.detail or {})["before"], reward)
        else:
            watch = fold(watch, [column], [reward], _mark(number, entry.at))
    return watch


def _corrected_at_once(
    watch: Watch, entries: Sequence[Entry], rewards: Sequence[Reward], current: CampaignState
) -> Watch:
    """Apply corrections to rewards tested in arrival order, except those in `rewards`."""
    new = {mark.number for _, _, mark in rewards}  # these already include their corrections
    for entry in entries:
        column, number, reward = entry.column, entry.decision, entry.value
        if column is None or number is None or reward is None or number in new:
            continue
        if entry.kind == "corrected" and not _has_window(number, current):
            watch = correct(watch, column, (entry.detail or {})["before"], reward)
    return watch


def _by_arrival(reader: Reader, seq: int, current: CampaignState) -> tuple[list[Reward], int]:
    """Return new rewards of decisions without a window, and the last event read."""
    rewards: dict[int, Reward] = {}
    for entry in islice(reader.entries(seq), MAX_READ):
        seq, number = entry.seq, entry.decision or 0
        if entry.column is None or entry.value is None or _has_window(number, current):
            continue
        if entry.kind in ("rewarded", "added"):
            rewards[number] = entry.column, entry.value, _mark(number, entry.at)
        elif entry.kind == "corrected" and number in rewards:
            rewards[number] = entry.column, entry.value, rewards[number][2]
    return list(rewards.values()), seq


def _has_window(number: int, current: CampaignState) -> bool:
    return current.settings_of(number).reward_window is not None


def _by_decision(
    reader: Reader, kept: Record, current: CampaignState, now: float
) -> tuple[list[Reward], int]:
    """Return the rewards of decisions before the first open one, and the last decision read.

    Decisions without a window are skipped, because they are tested in arrival order.
    """
    rewards, number = [], kept["number"]
    for row in islice(reader.all_decisions(after=number, page=PAGE), MAX_READ):
        window = current.settings_of(row.number).reward_window
        if window is not None:
            if row.state == "assigned":
                if now < row.asked_at + window:
                    break
            elif row.state not in SETTLED:
                break
            is_new = not _was_tested(row, kept) and _shown_in_time(row, window)
            if row.reward is not None and is_new:
                at = row.settled_at or row.asked_at
                rewards.append((row.column, row.reward, _mark(row.number, at)))
        number = row.number
    return rewards, number


def _was_tested(row: DecisionRow, kept: Record) -> bool:
    """Return whether a decision was already tested."""
    if row.number <= kept["number"]:
        return True
    older = kept["numbers"]
    return row.column < len(older) and row.number <= older[row.column]


def _shown_in_time(row: DecisionRow, window: float) -> bool:
    """Return whether a decision was shown before the position could pass it."""
    return row.exposed_at is None or row.exposed_at <= row.asked_at + window


def _mark(number: int, at: float) -> Mark:
    return Mark(number, datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds"))


def _raise(batch: Batch, alarm: Alarm) -> None:
    """Record an alarm, and distrust its arms if the settings say so."""
    batch.record("alarm", detail=alarm.to_json())
    if batch.current.settings.on_alarm == "distrust":
        for column in alarm.columns:
            if column not in batch.current.distrusted:
                batch.record("arm_distrusted", column=column)
