"""The log of README's examples: `python -m benchmarks.example_log > last_quarter.csv`.

Three ads in eight weeks: all rates go up and down together, and each hardly on its own.
"""

from __future__ import annotations

import csv
import datetime
import sys
from pathlib import Path
from typing import TextIO

import numpy as np

RATES = {"blue": 0.115, "green": 0.090, "red": 0.080}
WEEKS = (0.012, -0.006, 0.002, -0.012, 0.015, -0.004, 0.006, -0.013)  # moves of all rates
VIEWS = 800  # of each ad in each week


def write(file: TextIO) -> None:
    """Write one row for each view: when, which ad, and whether it converted."""
    stream = np.random.default_rng(7)
    start = datetime.datetime(2026, 1, 5)
    rows = csv.writer(file)
    rows.writerow(["at", "ad", "converted"])
    for week, move in enumerate(WEEKS):
        for ad, rate in RATES.items():
            minutes = np.sort(stream.integers(7 * 24 * 60, size=VIEWS))
            wins = stream.random(VIEWS) < rate + move
            for minute, win in zip(minutes.tolist(), wins.tolist(), strict=True):
                at = start + datetime.timedelta(weeks=week, minutes=minute)
                rows.writerow([at.isoformat(), ad, int(win)])


def write_file(path: Path) -> None:
    """Write the log to a file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        write(file)


if __name__ == "__main__":
    write(sys.stdout)
