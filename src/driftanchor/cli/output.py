"""What commands show: results on stdout, messages on stderr."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import textwrap
import warnings
from collections.abc import Iterator
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


def show_text(text: str) -> None:
    """Sentences for people, on stdout: folded to the width of a terminal, one line in a file."""
    width = console_of(sys.stdout).width if sys.stdout.isatty() else None
    typer.echo(text if width is None else textwrap.fill(text, width, break_on_hyphens=False))


def show_table(table: Table) -> None:
    """A table for people, on stdout: folded to the width of a terminal, unfolded in a file."""
    from driftanchor.render import terminal

    width = console_of(sys.stdout).width if sys.stdout.isatty() else None
    for line in terminal.lines(table, console_of(sys.stdout, UNLIMITED), width):
        typer.echo(line)


@contextlib.contextmanager
def plain_warnings(*, quiet: bool) -> Iterator[None]:
    """Warnings raised in here are shown once, in one line, without the source they come from."""
    shown: set[str] = set()  # logs that are read twice, as by period, warn twice

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


def console_of(stream: TextIO, width: int | None = None) -> Console:
    """A console of rich, in colour only on a terminal without NO_COLOR."""
    from rich.console import Console

    plain = bool(os.environ.get("NO_COLOR")) or not stream.isatty()
    colours: Literal["auto"] | None = None if plain else "auto"
    return Console(file=stream, width=width, color_system=colours, highlight=False)
