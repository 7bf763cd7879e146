"""Kill writers of a campaign, or its server, and count what was lost or doubled.

Several processes ask and tell. Each notes what was acknowledged to it. While they work they are
killed one after the other and started again. At the end every note is compared with the store.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import multiprocessing.context
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.torture.campaign_writer import NAME, notes_of, write
from benchmarks.torture.postgres import Postgres, running
from driftanchor import TS, Campaign

SLOWEST = 120.0  # seconds in which something must be acknowledged, and one more for each
Process = multiprocessing.context.ForkServerProcess


@dataclass
class Outcome:
    """What came of it.

    Attributes:
        kills: How many processes were killed.
        acknowledged: How many decisions and rewards were acknowledged.
        decisions: How many decisions the store has.
        rewards: How many rewards count.
        lost: Acknowledged decisions and rewards that the store does not have, or has otherwise.
        doubled: Rewards that count more than once.
        slowest: The longest time until work went on after a kill, in seconds.
    """

    kills: int = 0
    acknowledged: int = 0
    decisions: int = 0
    rewards: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: int = 0
    slowest: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.acknowledged:,} acknowledged, {self.decisions:,} "
            f"decisions, {self.rewards:,} rewards: {len(self.lost)} lost, {self.doubled} doubled; "
            f"working again after at most {self.slowest:.1f} s"
        )


def torture(
    address: str,
    *,
    kills: int,
    between: int,
    writers: int = 3,
    server: Postgres | None = None,
    seed: int = 1,
) -> Outcome:
    """Kill writers, or the server if one is given.

    Args:
        address: An empty store.
        kills: How many times.
        between: How many acknowledgements to wait for between two kills.
        writers: How many processes write.
        server: The server to kill; without it, writers are killed in turn.
        seed: Of what is asked.
    """
    rng, outcome = random.Random(seed), Outcome()
    with tempfile.TemporaryDirectory() as folder:
        notes = [Path(folder) / f"{number}.jsonl" for number in range(writers)]
        with started(address, notes, seed) as wait:
            for _ in range(kills):
                wait(between)
                killed = time.monotonic()
                if server is None:
                    wait.restart(rng.randrange(writers))
                else:
                    server.kill()
                    server.start()
                outcome.kills += 1
                wait(1)
                outcome.slowest = max(outcome.slowest, time.monotonic() - killed)
            wait(between)
        return compare(outcome, address, [note for path in notes for note in notes_of(path)])


class Writers:
    """Processes that write, each with a file of what was acknowledged to it.

    Args:
        address: The store.
        notes: The files.
        seed: Of what is asked.
    """

    def __init__(self, address: str, notes: list[Path], seed: int) -> None:
        self._address, self._notes = address, notes
        self._rng = random.Random(f"writers {seed}")
        self._context = multiprocessing.get_context("forkserver")
        modules = ["benchmarks.torture.campaign_writer", "driftanchor.live.stores.postgres"]
        self._context.set_forkserver_preload(modules)
        self._running = [self._start(number) for number in range(len(notes))]

    def _start(self, number: int) -> Process:
        arguments = (self._address, str(self._notes[number]), self._rng.randrange(2**32))
        process = self._context.Process(target=write, args=arguments, daemon=True)
        process.start()
        return process

    def restart(self, number: int) -> None:
        """Kill one, and start it again."""
        _end(self._running[number])
        self._running[number] = self._start(number)

    def end(self) -> None:
        """Kill all."""
        for process in self._running:
            _end(process)

    def __call__(self, more: int, *, every: bool = False) -> None:
        """Wait until more was acknowledged, to all together or to every one."""
        before, start = [_size(path) for path in self._notes], time.monotonic()
        while True:
            grown = [_size(path) - x for path, x in zip(self._notes, before, strict=True)]
            if (min(grown) if every else sum(grown)) >= more:
                return
            if time.monotonic() - start > SLOWEST + more:
                raise RuntimeError(f"{more} more were not acknowledged, only {grown}")
            time.sleep(0.02)


def create(address: str, seed: int) -> None:
    """A new campaign."""
    made = Campaign.create(
        NAME,
        arms=["A", "B", "C"],
        policy=TS(),
        reward="binary",
        seed=seed,
        store=address,
        floor=0.05,
    )
    made.close()


@contextlib.contextmanager
def started(address: str, notes: list[Path], seed: int = 1) -> Iterator[Writers]:
    """A new campaign, and processes that write to it until the block ends."""
    create(address, seed)
    writers = Writers(address, notes, seed)
    try:
        yield writers
    finally:
        writers.end()


def compare(outcome: Outcome, address: str, notes: list[dict[str, object]]) -> Outcome:
    """Compare what was acknowledged with what the store has; the events must fit the sums."""
    campaign = Campaign.load(NAME, store=address)
    campaign.verify()
    status = campaign.status()
    with campaign.store.reading(campaign._row.id) as reader:
        arms = list(status.arms)
        kept = {row.id: row for row in reader.all_decisions()}
        rewards = sum(entry.kind == "rewarded" for entry in reader.entries(0))
    notes = [note for note in notes if "error" not in note]
    for note in notes:
        row = kept.get(str(note.get("ask", note.get("tell"))))
        if row is None:
            outcome.lost.append(f"no such decision: {note}")
        elif "ask" in note and (arms[row.column], row.propensity) != (note["arm"], note["p"]):
            outcome.lost.append(f"another arm: {note}")
        elif "tell" in note and row.reward != note["reward"]:
            outcome.lost.append(f"another reward, {row.reward}: {note}")
    outcome.acknowledged = len(notes)
    outcome.decisions, outcome.rewards = status.decisions, status.rewards
    outcome.doubled = rewards - sum(row.reward is not None for row in kept.values())
    campaign.close()
    return outcome


def _size(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _end(process: Process) -> None:
    process.kill()
    process.join()
    process.close()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How often to kill."""
    parser.add_argument("--kills", type=int, default=100, help="kills of writers, for each store")
    parser.add_argument("--between", type=int, default=200, help="acknowledgements between kills")
    parser.add_argument("--server-kills", type=int, default=20, help="kills of PostgreSQL itself")


def run(asked: argparse.Namespace) -> int:
    """Kill writers of both stores, and PostgreSQL; 1 if anything was lost or doubled."""
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        address = f"sqlite:///{folder}/store.db"
        outcomes.append(torture(address, kills=asked.kills, between=asked.between))
        print(f"SQLite, writers: {outcomes[-1]}", flush=True)
    with running(fsync=True) as server:
        outcomes.append(torture(server.address, kills=asked.kills, between=asked.between))
        print(f"PostgreSQL, writers: {outcomes[-1]}", flush=True)
    with running(fsync=True) as server:
        kills, between = asked.server_kills, asked.between
        outcomes.append(torture(server.address, kills=kills, between=between, server=server))
        print(f"PostgreSQL itself: {outcomes[-1]}", flush=True)
    for lost in [text for outcome in outcomes for text in outcome.lost]:
        print(lost)
    return 1 if any(outcome.lost or outcome.doubled for outcome in outcomes) else 0
