"""What commands show: results on stdout, messages on stderr; all of it goes through here."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import textwrap
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TextIO

import typer

from driftanchor.cli.option_names import with_options
from driftanchor.errors import DriftanchorError
from driftanchor.render.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

    from driftanchor.render.table import Table

UNLIMITED = 10_000  # columns in which a table is drawn, so that nothing is cut
LONGEST = 2_000  # characters of a message: names and values of users have no end
# In JSON that is ASCII: an escaped backslash, a whole character, or half a character.
_HALVES = re.compile(
    r"\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(?P<half>\\ud[89a-f][0-9a-f]{2})"
)


class NobodyReads(Exception):
    """The pipe that stdout leads to is closed, which is no reason for a message."""


def say(message: str, *, quiet: bool = False) -> None:
    """A message for people, in one line on stderr; a stream that takes none costs no result."""
    if not quiet:
        with contextlib.suppress(OSError):
            typer.echo(shortened(printable(" ".join(message.split("\n")))), err=True)


def shortened(message: str) -> str:
    """A message of bearable length: the start and the end, which says what to do."""
    if len(message) <= LONGEST:
        return message
    return f"{message[: LONGEST * 3 // 4]} … {message[-LONGEST // 4 :]}"


def show_json(data: object) -> None:
    """Data for programs, on stdout."""
    show_line(json_text(data))


def report(message: str, data: object, *, as_json: bool, quiet: bool) -> None:
    """What a command did: data for programs, or else a message for people."""
    if as_json:
        show_json(data)
    else:
        say(message, quiet=quiet)


def json_text(data: object, indent: int = 2) -> str:
    r"""Strict JSON, which has neither NaN nor Infinity, and no halves of characters.

    Names that are not UTF-8 have such halves: they are written as escapes.

    Example:
        >>> print(json_text(["\udcff", "\\udcff", "😀"], indent=0))
        [
        "\\udcff",
        "\\udcff",
        "\ud83d\ude00"
        ]
    """
    text = json.dumps(data, indent=indent, allow_nan=False)
    return _HALVES.sub(lambda found: rf"\{found[0]}" if found["half"] else found[0], text)


def show_text(text: str) -> None:
    """Sentences for people, on stdout: folded to the width of a terminal, one line in a file."""
    width = width_of(sys.stdout)
    for line in map(printable, text.split("\n")):
        show_line(line if width is None else textwrap.fill(line, width, break_on_hyphens=False))


def show_table(table: Table) -> None:
    """A table for people, on stdout: folded to the width of a terminal, unfolded in a file."""
    from driftanchor.render import terminal

    width = width_of(sys.stdout)
    with to_stdout():  # rich flushes it
        lines = terminal.lines(table, console_of(sys.stdout, UNLIMITED), width)
    for line in lines:
        show_line(line)


def show_line(line: str) -> None:
    """A line on stdout that has no text of users in it, or has been made safe."""
    with to_stdout():
        typer.echo(line)


@contextlib.contextmanager
def to_stdout() -> Iterator[None]:
    """Say where it was that something could not be written."""
    try:
        yield
    except BrokenPipeError as error:
        raise NobodyReads from error
    except OSError as error:
        raise DriftanchorError(f"cannot write to stdout: {error.strerror or error}") from error


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
            say(f"warning: {with_options(str(message))}", quiet=quiet)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def width_of(stream: TextIO) -> int | None:
    """The columns of a terminal, or those that COLUMNS names; `None` for a file."""
    if stream.isatty() or re.fullmatch(r"[1-9]\d{1,4}", os.environ.get("COLUMNS", "")):
        return console_of(stream).width
    return None


def console_of(stream: TextIO, width: int | None = None) -> Console:
    """A console of rich, in colour only on a terminal without NO_COLOR."""
    from rich.console import Console

    plain = bool(os.environ.get("NO_COLOR")) or not stream.isatty()
    colours: Literal["auto"] | None = None if plain else "auto"
    return Console(file=stream, width=width, color_system=colours, highlight=False)
