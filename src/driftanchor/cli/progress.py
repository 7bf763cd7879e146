"""How far a command is, on stderr: a bar on a terminal, a line for each finished part elsewhere.

Where there is no bar, long work is never silent: lines say what is being done, at first after
some seconds and then less and less often.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from driftanchor.cli.output import console_of, say
from driftanchor.render.numbers import count
from driftanchor.render.printable import printable

PARTS = 4  # lines of a command whose only parts are runs
ESTIMATED_FROM = 0.25  # of the runs: before, compiling and the first policy would mislead
FIRST_PAUSE = 10.0  # seconds without a word
LONGEST_PAUSE = 600.0


@contextlib.contextmanager
def heartbeat(what: Callable[[], str], *, quiet: bool) -> Iterator[None]:
    """Print what is being done, at intervals that double.

    Args:
        what: The line to print, such as `"reading logs, 0:10 so far"`.
        quiet: Print nothing.
    """
    over = threading.Event()

    def beat() -> None:
        pause = FIRST_PAUSE
        while not over.wait(pause):
            say(what())
            pause = min(2.0 * pause, LONGEST_PAUSE)

    if quiet:
        yield
        return
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def reading(*, quiet: bool) -> Iterator[None]:
    """Say that logs are still being read."""
    start = time.monotonic()
    with heartbeat(lambda: f"reading logs, {clock(time.monotonic() - start)} so far", quiet=quiet):
        yield


@contextlib.contextmanager
def runs_bar(
    names: Sequence[str], *, compiling: bool, quiet: bool, logs: bool = False
) -> Iterator[Callable[[int, int], None] | None]:
    """A bar with the time left, or lines, or nothing when `quiet`.

    Args:
        names: The policies, in the order they are run.
        compiling: Whether a policy is compiled before its first run.
        quiet: Show nothing.
        logs: Whether logs are read before, and how many runs there will be is not known: then no
            time left is shown, and where there is no terminal a line is printed for each quarter
            of the runs.

    Yields:
        What `simulate` takes for `progress`.
    """
    if quiet or not sys.stderr.isatty():
        verb = "compiling or running" if compiling else "running"
        lines = RunLines(f"{'reading logs, ' if logs else ''}{verb} {names[0]}", at_most=logs)
        with heartbeat(lines.message, quiet=quiet):
            yield None if quiet else lines
        return
    from rich import progress

    columns: Any = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("runs at most" if logs else "runs"),
        progress.TimeElapsedColumn(),
        progress.TextColumn("so far"),
    )
    if not logs:
        columns += (
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
    """What is being done after `done` runs; as wide for every policy, so that the bar stays put.

    Example:
        >>> [doing(done, 50, ["ts", "ucb"], compiling=True) for done in (0, 25, 50)]
        ['compiling ts ', 'running ts   ', 'compiling ucb']
    """
    policy = min(done // runs, len(names) - 1)
    verb = "compiling" if compiling and done == policy * runs else "running"
    name = names[policy]
    return printable(f"{verb} {name}".ljust(len("compiling ") + max(map(len, names))))


class RunLines:
    """Keeps how many runs are done, and prints lines about it.

    Args:
        first: What is being done before the first run ends.
        at_most: Whether the number of runs is only the most that there can be. Then a line is
            printed for each quarter of them, and no time left is estimated.
        now: The seconds of a clock.
    """

    def __init__(
        self,
        first: str = "running",
        *,
        at_most: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.first = first
        self.at_most = at_most
        self.now = now
        self.start = now()
        self.part = self.done = self.total = 0

    def __call__(self, done: int, total: int) -> None:
        """Take down how many of all runs are done."""
        self.done, self.total = done, total
        part = PARTS * done // total
        if part > self.part and self.at_most:
            self.part = part
            spent = clock(self.now() - self.start)
            say(f"{100 * part // PARTS} % of at most {total:,} runs done after {spent}")

    def message(self) -> str:
        """How far the runs are now."""
        spent = self.now() - self.start
        if not self.done:
            return f"{self.first}, {clock(spent)} so far"
        of = f"at most {self.total:,}" if self.at_most else f"{self.total:,}"
        text = f"{self.done:,} of {of} runs done after {clock(spent)}"
        if self.at_most or self.done < ESTIMATED_FROM * self.total:
            return text
        return f"{text}, about {clock(spent * (self.total - self.done) / self.done)} left"


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
        self.all = "all"

    def more(self, claims: int) -> None:
        """What is played from now on are more runs, to decide this many claims."""
        self.share = 0.0
        self.all = f"more runs for {count(claims, 'claim')}"

    def step(self, what: str, done: int, total: int) -> None:
        """What has just been done took the time since the last call."""
        now = time.monotonic()
        name = what.partition("/")[0]
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self.last
        self.last = now
        self.share = done / total
        if self.bar is not None:
            self.bar(what if self.all == "all" else f"{what}, {self.all}", done, total)

    def finished(self, cell: str) -> None:
        """All policies have been run in this cell."""
        if self.lines:
            spent = clock(time.monotonic() - self.start)
            say(f"{cell} done, {100 * self.share:.0f} % of {self.all} after {spent}")

    def message(self) -> str:
        """How far the cells are now."""
        spent = clock(time.monotonic() - self.start)
        if not self.seconds:
            return f"compiling or running the first cells, {spent} so far"
        if self.share == 1.0:
            return f"judging claims, drawing figures or writing the report, {spent} so far"
        return f"{100 * self.share:.0f} % of {self.all} done after {spent}"

    def summary(self) -> str:
        """How long each experiment took."""
        parts = [f"{name} {clock(seconds)}" for name, seconds in self.seconds.items()]
        return f"took {', '.join(parts)} (minutes:seconds)"


@contextlib.contextmanager
def cells_bar(*, quiet: bool) -> Iterator[CellProgress]:
    """A bar with the time left, or a line for each finished cell, or nothing when `quiet`."""
    if quiet or not sys.stderr.isatty():
        cells = CellProgress(None, lines=not quiet)
        with heartbeat(cells.message, quiet=quiet):
            yield cells
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
            now = "drawing figures and writing the report" if done == total else printable(what)
            bar.update(task, completed=done, total=total, description=now)

        yield CellProgress(advance, lines=False)


def clock(seconds: float) -> str:
    """Minutes and seconds, and hours if there are any.

    Example:
        >>> clock(75.4), clock(7275.4)
        ('1:15', '2:01:15')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
