"""The verdict that README shows: `python -m benchmarks.pages.readme` updates it."""

import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import example_log
from benchmarks.pages.render import DOCS, README

LOGS = "last_quarter.csv"
PAGES = (README, DOCS / "how-to" / "plan.md")  # where the verdict stands
WIDTH = 88  # of a line of output in the README
TABLE = "\nRewards lost in "  # what follows the verdict
BLOCK = re.compile(r"(```console\n\$ driftanchor (plan .+?[^\\])\n)(.*?)(```)", re.DOTALL)


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
        example_log.write_file(Path(folder) / LOGS)
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
