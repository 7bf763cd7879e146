"""Watching: whether the live rewards of a campaign still fit what was promised of its logs.

Rewards are looked at in an order that does not depend on what they are. With a reward window that
is the order of decisions: a reward is looked at once all earlier decisions of its arm are settled.
A decision that was not shown yet is passed over, and not looked at if it is shown later.
Without a window a reward may never come, and rewards are looked at as they come; that is right
where the time that a reward takes does not depend on the reward.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice

from driftanchor.core.record import Record, reading, seal_with_digest
from driftanchor.live.campaigns.batch import Batch
from driftanchor.live.campaigns.books import Books
from driftanchor.live.state_events import ArmAdded, Distrusted
from driftanchor.live.stores.damage import reads_store
from driftanchor.live.stores.store import Reader
from driftanchor.live.watch.alarm import Alarm, Mark
from driftanchor.live.watch.look import look
from driftanchor.live.watch.watch import Watch, correct, fold

MOST = 20_000  # events or decisions of one look
SETTLED = ("rewarded", "defaulted", "expired")
Reward = tuple[int, float, Mark]  # column, reward, the number and time of its decision


def is_watched(books: Books) -> bool:
    """Whether anything is promised that rewards could contradict."""
    terms = books.terms
    promised = (terms.bias_bounds < float("inf")) | (terms.relative_bounds < float("inf"))
    return bool((promised & (terms.offline.n > 0)).any())


@reads_store
def advance(batch: Batch, reader: Reader) -> None:
    """Look at the rewards that were settled since the last look, and raise alarms.

    What this batch itself settles is looked at the next time.
    """
    books = batch.books
    if not is_watched(books) and not books.distrusted:
        return
    kept = _kept(reader.watch())
    watch = _current(kept["watch"], books)
    numbers = [*kept["numbers"], *[0] * (len(watch.arms) - len(kept["numbers"]))]
    seq: int = kept["seq"]
    if books.settings.reward_window is None:
        rewards, seq = _as_they_came(reader, seq)
    else:
        if books.settings.late == "replace":
            watch = _corrected(watch, reader, seq, numbers)
        seq = reader.head.seq
        rewards = list(_by_decision(reader, numbers))
    before = watch.alarms
    watch = _folded(watch, rewards)
    known = sealed({"watch": watch.to_json(), "seq": seq, "numbers": numbers})
    for alarm in watch.alarms[len(before) :]:
        _raise(batch, alarm)
    if known != kept:
        batch.watch = known


@reads_store
def alarms_of(record: Record | None) -> tuple[Alarm, ...]:
    """The alarms of a campaign, from what the store keeps."""
    kept = _kept(record)["watch"]
    return () if kept is None else Watch.from_json(kept).alarms


def sealed(body: Record) -> Record:
    """What is kept to watch the promises, with a digest of it."""
    return seal_with_digest("campaign-watch", 1, body)


def _kept(record: Record | None) -> Record:
    """What is kept to watch the promises; older records have no digest."""
    if record is None:
        return {"watch": None, "seq": 0, "numbers": []}
    with reading("watch", record):
        return record


def _current(kept: Record | None, books: Books) -> Watch:
    """The watch as the store has it, with the arms that came or lost their logs since."""
    if kept is None:
        return Watch.start(books.terms)
    watch = Watch.from_json(kept)
    while len(watch.arms) < len(books.terms.arms):
        label = books.terms.arms[len(watch.arms)]
        watch = watch.after(ArmAdded(label), books.terms)
    for column in books.distrusted:
        watch = watch.after(Distrusted(column), books.terms)
    return watch


def _folded(watch: Watch, rewards: list[Reward]) -> Watch:
    """The watch after rewards. A look costs as much as there are arms, so with many it is rarer."""
    some = max(1, len(watch.arms) // 4)
    for i in range(0, len(rewards), some):
        columns, paid, marks = zip(*rewards[i : i + some], strict=True)
        watch = look(fold(watch, columns, paid, marks[-1]), marks[-1])
    return watch


def _corrected(watch: Watch, reader: Reader, seq: int, numbers: list[int]) -> Watch:
    """The watch after late rewards that replace what was looked at before."""
    for entry in reader.entries(seq):
        column, number, reward = entry.column, entry.decision, entry.value
        if column is None or number is None or reward is None or number > numbers[column]:
            continue  # it was not looked at
        if entry.kind == "corrected":
            watch = correct(watch, column, (entry.detail or {})["before"], reward)
        elif entry.kind == "added":
            watch = fold(watch, [column], [reward], _mark(number, entry.at))
    return watch


def _as_they_came(reader: Reader, seq: int) -> tuple[list[Reward], int]:
    """The rewards after an event, and the event through which they are."""
    rewards = []
    for entry in islice(reader.entries(seq), MOST):
        seq = entry.seq
        counts = entry.kind in ("rewarded", "added")
        if counts and entry.column is not None and entry.value is not None:
            rewards.append((entry.column, entry.value, _mark(entry.decision or 0, entry.at)))
    return rewards, seq


def _by_decision(reader: Reader, numbers: list[int]) -> Iterator[Reward]:
    """The rewards of decisions before which all of their arm are settled.

    `numbers` has for each arm the last decision that was looked at, and is taken on.
    """
    stuck: set[int] = set()
    for row in islice(reader.all_decisions(after=min(numbers, default=0)), MOST):
        column = row.column
        if row.number <= numbers[column] or column in stuck or row.state == "assigned":
            continue  # what is not shown may never be, and must not hold up the others
        if row.state not in SETTLED:
            stuck.add(column)
            if len(stuck) == len(numbers):
                return
            continue
        numbers[column] = row.number
        if row.reward is not None:
            yield column, row.reward, _mark(row.number, row.settled_at or row.asked_at)


def _mark(number: int, at: float) -> Mark:
    return Mark(number, datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds"))


def _raise(batch: Batch, alarm: Alarm) -> None:
    """Let an alarm be an event, and its arms be distrusted if that was agreed."""
    batch.record("alarm", detail=alarm.to_json())
    if batch.books.settings.on_alarm == "distrust":
        for column in alarm.columns:
            if column not in batch.books.distrusted:
                batch.record("arm_distrusted", column=column)
