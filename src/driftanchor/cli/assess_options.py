"""The options that `plan` and `replay` share, and how both show their results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftanchor.cli import options as opt
from driftanchor.cli import output, outputs, parse, progress
from driftanchor.errors import InvalidInput, require
from driftanchor.render.printable import printable

if TYPE_CHECKING:
    from driftanchor.planning.assess import Assessment

PROMISE = "What is promised"
AUTO = "auto"

BiasBoundSource = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How you know V or W: proved, estimated or guessed.",
        show_default="estimated",
        rich_help_panel=PROMISE,
    ),
]
BiasBound = Annotated[
    str | None,
    typer.Option(
        metavar="V",
        help="How far an arm's mean may have moved since the logs: one number, a list with one "
        "for each arm, label=number for each arm, or auto for what the periods of --by suggest.",
        rich_help_panel=PROMISE,
    ),
]
RelativeBound = Annotated[
    str | None,
    typer.Option(
        metavar="W",
        help="How far each arm may have moved, beside a move that all arms share: numbers as for "
        "--bias-bound, or auto.",
        rich_help_panel=PROMISE,
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        metavar="PERIOD",
        help="Compare arms within these: day, week or month of --time; or a column, such as "
        "country. For auto, the periods between which arms moved.",
        show_default="files, if there are several, and periods of --time",
        rich_help_panel=PROMISE,
    ),
]
Worlds = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="How many possible worlds to draw; each policy plays once in each.",
        show_default="100; 40 beyond 20,000 rounds",
        rich_help_panel=opt.EFFORT,
    ),
]
Page = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write an HTML page with pictures to this file.",
        rich_help_panel=opt.OUTPUT,
    ),
]


def page_file(page: Path | None, reads: list[str]) -> Path | None:
    """The file of the page, checked before the long run."""
    if page is not None:
        require("matplotlib", extra="plot", why="--page")
    wanted = outputs.Wanted("--page", page, (".html", ".htm"))
    return outputs.destinations(wanted, reads=reads)[0]


def optional(text: str | None, option: str) -> float | None:
    """A number, if one was typed."""
    return None if text is None else parse.number(text, option)


def bounds(text: str | None, option: str = "--bias-bound") -> object:
    """One bound for all arms, one for each in order, label=number for each, or auto."""
    if text is None or text.strip().lower() == AUTO:
        return None if text is None else AUTO
    if "=" not in text:
        return parse.number_or_list(text, option)
    given: dict[str, float] = {}
    for label, _, x in (part.rpartition("=") for part in text.split(",")):
        if label.strip() in given:
            raise InvalidInput(f"{option} has arm {label.strip()!r} twice: {text!r}")
        given[label.strip()] = parse.number(x.strip(), option, text)
    return given


def auto_bound(bounds: Mapping[str, object]) -> str | None:
    """The first bound that is to be taken from the logs."""
    return next((name for name, value in bounds.items() if value == AUTO), None)


def check_periods(auto: str | None, by: str | None) -> None:
    """Raise an error if a bound is auto and --by is missing."""
    if auto is not None and by is None:
        problem = "auto needs --by: the periods to compare, such as --by week with --time"
        raise InvalidInput(problem, argument=auto)


@contextlib.contextmanager
def at_work(*, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show warnings in one line each, and how far the work is."""
    compiling = find_spec("numba") is not None
    with (
        output.plain_warnings(quiet=quiet),
        progress.runs_bar(["policies"], compiling=compiling, quiet=quiet, logs=True) as advance,
    ):
        yield advance


def show(
    found: Assessment,
    page: Path | None,
    *,
    as_json: bool,
    quiet: bool,
    command: str | None = None,
) -> None:
    """Write the page, then print the verdict and the tables, or JSON.

    Args:
    found: The plan or replay to show.
    page: Where to write the HTML page.
    as_json: Print JSON instead of text.
    quiet: Print nothing to stderr.
    command: The command to suggest if the verdict is not to use the logs.
    """

    def show_all() -> None:
        if as_json:
            record = found.to_json()
            output.show_json(record if command is None else {**record, "run_instead": command})
            return
        from driftanchor.planning.tables import losses

        for sentence in (found.answer, *found.details):
            output.show_text(sentence)
        if command is not None:
            output.show_line(printable(f"Run instead: {command}"))  # one line, for copying
        for content in (losses(found), *found.texts().tables):
            output.show_line("")
            output.show_table(content)
        for note in found.notes:
            output.show_text(f"note: {note}")

    outputs.deliver(show_all, (page, found.write_page), quiet=quiet)
