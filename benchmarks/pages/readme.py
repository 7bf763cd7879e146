"""The logs and the verdict that README shows: `python -m benchmarks.pages.readme` updates it."""

import csv
import datetime
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.pages.render import DOCS, README

LOGS = "last_month.csv"
PAGES = (README, DOCS / "how-to" / "plan.md")  # where the verdict stands
# Three ads in eight weeks of logs: all rates go up and down together, and each hardly on its own.
RATES = {"blue": 0.115, "green": 0.090, "red": 0.080}
WEEKS = (0.012, -0.006, 0.002, -0.012, 0.015, -0.004, 0.006, -0.013)
WIDTH = 88  # of a line of output in the README
TABLE = "\nRewards lost in "  # what follows the verdict
VIEWS = 800  # of each ad in each week
BLOCK = re.compile(r"(```console\n\$ driftanchor (plan .+?[^\\])\n)(.*?)(```)", re.DOTALL)


def write_logs(path: Path) -> None:
    """Write one row for each view: when, which ad, and whether it converted."""
    stream = np.random.default_rng(7)
    start = datetime.datetime(2026, 1, 5)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["at", "ad", "converted"])
        for week, move in enumerate(WEEKS):
            for ad, rate in RATES.items():
                minutes = np.sort(stream.integers(7 * 24 * 60, size=VIEWS))
                wins = stream.random(VIEWS) < rate + move
                for minute, win in zip(minutes.tolist(), wins.tolist(), strict=True):
                    at = start + datetime.timedelta(weeks=week, minutes=minute)
                    rows.writerow([at.isoformat(), ad, int(win)])


def words(line: str) -> list[str]:
    """The words of a command, which may go on after a backslash on the next line."""
    return shlex.split(line.replace("\\\n", " "))


def command() -> list[str]:
    """The words of the first command that the README shows with its output."""
    found = BLOCK.search(README.read_text(encoding="utf-8"))
    assert found is not None
    return words(found[2])


def answer() -> str:
    """What that command prints first: its verdict, a sentence in a line."""
    with TemporaryDirectory() as folder:
        write_logs(Path(folder) / LOGS)
        line = [sys.executable, "-m", "driftanchor", *command()]
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True)
    verdict = done.stdout.lstrip().partition(TABLE)[0].strip()
    return "\n".join(textwrap.fill(sentence, WIDTH) for sentence in verdict.split("\n"))


def main() -> None:
    """Put the answer of today onto the pages that show it."""
    verdict = answer()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(BLOCK.sub(lambda m: f"{m[1]}{verdict}\n{m[4]}", text, 1), encoding="utf-8")


if __name__ == "__main__":
    main()
