"""Many processes on one campaign: does each get its share, without an error?"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.torture.campaign_kills import Outcome, compare, started
from benchmarks.torture.campaign_writer import notes_of
from benchmarks.torture.postgres import running


@dataclass(frozen=True)
class Crowd:
    """What came of it.

    Attributes:
        shares: What was acknowledged to each process.
        errors: What went wrong.
        outcome: The comparison of all that was acknowledged with the store.
        seconds: How long it took.
    """

    shares: list[int]
    errors: list[str]
    outcome: Outcome
    seconds: float

    @property
    def fairness(self) -> float:
        """The share of the slowest process over that of the fastest."""
        return min(self.shares) / max(self.shares)

    def __str__(self) -> str:
        speed = sum(self.shares) / self.seconds
        return (
            f"{len(self.shares)} processes, {sum(self.shares):,} acknowledged, {speed:,.0f} in a "
            f"second, {len(self.errors)} errors, the slowest process {self.fairness:.2f} of the "
            f"fastest: {len(self.outcome.lost)} lost, {self.outcome.doubled} doubled"
        )


def crowd(address: str, *, workers: int = 8, each: int = 100) -> Crowd:
    """Let processes ask and tell at the same time, and count once all of them have begun.

    Args:
        address: An empty store.
        workers: How many processes.
        each: How many acknowledgements to wait for, on average.
    """
    with tempfile.TemporaryDirectory() as folder:
        notes = [Path(folder) / f"{number}.jsonl" for number in range(workers)]
        with started(address, notes) as wait:
            wait(1, every=True)
            before = [len(notes_of(path)) for path in notes]
            start = time.monotonic()
            wait(workers * each)
            after = [len(notes_of(path)) for path in notes]
            seconds = time.monotonic() - start
        found = [note for path in notes for note in notes_of(path)]
        errors = [str(note["error"]) for note in found if "error" in note]
        outcome = compare(Outcome(), address, found)
        shares = [b - a for a, b in zip(before, after, strict=True)]
        return Crowd(shares, errors, outcome, seconds)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How many, and for how long."""
    parser.add_argument("--workers", type=int, default=8, help="processes")
    parser.add_argument("--each", type=int, default=1_000, help="acknowledgements for each")


def run(asked: argparse.Namespace) -> int:
    """Both stores; 1 if there was an error, or a process had less than a quarter of another."""
    with tempfile.TemporaryDirectory() as folder, running(fsync=True) as server:
        found = {}
        for name, address in (
            ("SQLite", f"sqlite:///{folder}/store.db"),
            ("PostgreSQL", server.address),
        ):
            found[name] = crowd(address, workers=asked.workers, each=asked.each)
            print(f"{name}: {found[name]}", flush=True)
            for error in found[name].errors[:5]:
                print(error)
    wrong = [x for x in found.values() if x.errors or x.outcome.lost or x.fairness < 0.25]
    return 1 if wrong else 0
