"""What commands show: results on stdout, messages and progress on stderr."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TextIO

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from driftanchor.render.table import Table

UNLIMITED = 10_000  # columns in which a table is drawn, so that nothing is cut


def say(message: str, *, quiet: bool = False) -> None:
    """A message for people, on stderr."""
    if not quiet:
        typer.echo(message, err=True)


def show_json(data: object) -> None:
    """Data for programs, on stdout: strict JSON, which has neither NaN nor Infinity."""
    typer.echo(json.dumps(data, indent=2, allow_nan=False))


def show_table(table: Table) -> None:
    """A table for people, on stdout: folded to the width of a terminal, unfolded in a file."""
    from driftanchor.render import terminal

    width = _console(sys.stdout).width if sys.stdout.isatty() else None
    for line in terminal.lines(table, _console(sys.stdout, UNLIMITED), width):
        typer.echo(line)


@contextlib.contextmanager
def progress_bar(
    names: Sequence[str], *, compiling: bool, quiet: bool
) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr with the time left; nothing when that is no terminal, or when `quiet`.

    Args:
        names: The policies, in the order they are run.
        compiling: Whether a policy is compiled before its first run.
        quiet: Show nothing.

    Yields:
        What `simulate` takes for `progress`.
    """
    if quiet or not sys.stderr.isatty():
        yield None
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
    with progress.Progress(*columns, console=_console(sys.stderr), transient=True) as bar:
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


@contextlib.contextmanager
def plain_warnings(*, quiet: bool) -> Iterator[None]:
    """Warnings raised in here are shown once, in one line, without the source they come from."""
    shown: set[str] = set()  # logs that are read twice, as by period, are warned of twice

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            say(f"warning: {message}", quiet=quiet)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _console(stream: TextIO, width: int | None = None) -> Console:
    from rich.console import Console

    plain = bool(os.environ.get("NO_COLOR")) or not stream.isatty()
    colours: Literal["auto"] | None = None if plain else "auto"
    return Console(file=stream, width=width, color_system=colours, highlight=False)
