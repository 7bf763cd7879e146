"""Outcome: what one policy did in one cell, and the file it is kept in."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.files import write_whole

_DAMAGE = (zipfile.BadZipFile, zlib.error)  # what reading a file with wrong bytes raises, and more


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one policy did in one cell.

    Attributes:
        final: Regret at the horizon, of every run.
        curves: Regret at the checkpoints, by (run, checkpoint): of every run where curves are
            drawn, otherwise of the first runs.
        pulls: Pulls of each arm at the horizon, by (run, arm).
        most: The regret of playing the worst arm throughout: no run can have more.
    """

    final: Floats
    curves: Floats
    pulls: Ints
    most: float


Outcomes = Mapping[tuple[str, str], Outcome]


def joined(parts: Sequence[Outcome]) -> Outcome:
    """The outcome of all runs of several parts, in their order."""
    return Outcome(
        np.concatenate([part.final for part in parts]),
        np.concatenate([part.curves for part in parts]),
        np.concatenate([part.pulls for part in parts]),
        parts[0].most,
    )


def write(path: Path, outcome: Outcome) -> None:
    """Keep an outcome in a file whose name is its key."""
    with write_whole(path) as file, file.open("wb") as out:
        pulls = outcome.pulls.astype(np.min_scalar_type(int(outcome.pulls.max(initial=0))))
        np.savez_compressed(
            out,
            key=np.array(path.stem),
            final=outcome.final,
            curves=outcome.curves,
            pulls=pulls,
            most=np.array(outcome.most),
        )


def read(path: Path) -> Outcome | None:
    """A kept outcome; `None` when there is none, or its file was damaged."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            pulls: Ints = kept["pulls"].astype(np.int64)
            outcome = Outcome(kept["final"], kept["curves"], pulls, float(kept["most"]))
            mine = str(kept["key"]) == path.stem and bool(np.isfinite(outcome.final).all())
            return outcome if mine else None
    except (OSError, EOFError, LookupError, RuntimeError, TypeError, ValueError, *_DAMAGE):
        return None
