"""How far a command is, on stderr: a bar on a terminal, a line for each finished part elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from driftanchor.cli.output import console_of, say

PARTS = 4  # lines of a command whose only parts are runs


@contextlib.contextmanager
def runs_bar(
    names: Sequence[str], *, compiling: bool, quiet: bool, lines: bool = False
) -> Iterator[Callable[[int, int], None] | None]:
    """A bar with the time left, or lines, or nothing when `quiet`.

    Args:
        names: The policies, in the order they are run.
        compiling: Whether a policy is compiled before its first run.
        quiet: Show nothing.
        lines: Print a line for each quarter of the runs where there is no terminal.

    Yields:
        What `simulate` takes for `progress`.
    """
    if quiet or not sys.stderr.isatty():
        yield RunLines() if lines and not quiet else None
        return
    from rich import progress

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("runs"),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.fields[left]}"),
    )
    with progress.Progress(*columns, console=console_of(sys.stderr), transient=True) as bar:
        task = bar.add_task(doing(0, 1, names, compiling), total=None, left="")

        def advance(done: int, total: int) -> None:
            now = doing(done, total // len(names), names, compiling)
            bar.update(task, completed=done, total=total, description=now, left="left")

        yield advance


def doing(done: int, runs: int, names: Sequence[str], compiling: bool) -> str:
    """What goes on after `done` runs; as wide for every policy, so that the bar stands still.

    Example:
        >>> [doing(done, 50, ["ts", "ucb"], compiling=True) for done in (0, 25, 50)]
        ['compiling ts ', 'running ts   ', 'compiling ucb']
    """
    policy = min(done // runs, len(names) - 1)
    verb = "compiling" if compiling and done == policy * runs else "running"
    name = names[policy]
    return f"{verb} {name}".ljust(len("compiling ") + max(map(len, names)))


class RunLines:
    """Prints a line for each quarter of the runs."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.part = 0

    def __call__(self, done: int, total: int) -> None:
        """So many runs of all are done."""
        part = PARTS * done // total
        if part > self.part:
            self.part = part
            spent = clock(time.monotonic() - self.start)
            say(f"{100 * part // PARTS} % of {total:,} runs done after {spent}")


class CellProgress:
    """Shows which cells of a sweep are done, and keeps how long each experiment took.

    Args:
        bar: Shows (what runs now, cost done, cost of all), if there is a bar.
        lines: Whether to print a line for each finished cell.
    """

    def __init__(self, bar: Callable[[str, int, int], None] | None, *, lines: bool) -> None:
        self.bar = bar
        self.lines = lines
        self.seconds: dict[str, float] = {}
        self.start = self.last = time.monotonic()
        self.share = 0.0

    def step(self, what: str, done: int, total: int) -> None:
        """What has just been done took the time since the last call."""
        now = time.monotonic()
        name = what.partition("/")[0]
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self.last
        self.last = now
        self.share = done / total
        if self.bar is not None:
            self.bar(what, done, total)

    def finished(self, cell: str) -> None:
        """All policies have been run in this cell."""
        if self.lines:
            spent = clock(time.monotonic() - self.start)
            say(f"{cell} done, {100 * self.share:.0f} % of all after {spent}")

    def summary(self) -> str:
        """How long each experiment took."""
        parts = [f"{name} {clock(seconds)}" for name, seconds in self.seconds.items()]
        return f"took {', '.join(parts)} (minutes:seconds)"


@contextlib.contextmanager
def cells_bar(*, quiet: bool) -> Iterator[CellProgress]:
    """A bar with the time left, or a line for each finished cell, or nothing when `quiet`."""
    if quiet or not sys.stderr.isatty():
        yield CellProgress(None, lines=not quiet)
        return
    from rich import progress

    columns: Any = (
        progress.BarColumn(24),
        progress.TaskProgressColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("left"),
        progress.TextColumn("{task.description}", markup=False),
    )
    with progress.Progress(*columns, console=console_of(sys.stderr), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def advance(what: str, done: int, total: int) -> None:
            now = "drawing figures and writing the report" if done == total else what
            bar.update(task, completed=done, total=total, description=now)

        yield CellProgress(advance, lines=False)


def clock(seconds: float) -> str:
    """Minutes and seconds.

    Example:
        >>> clock(75.4)
        '1:15'
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
