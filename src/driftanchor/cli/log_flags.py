"""The options for reading logs, shared by all commands that read them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from driftanchor.cli import output, parse
from driftanchor.core.log_options import LOG_OPTIONS, Kind, LogOption, LogOptions, flags_of

if TYPE_CHECKING:
    from driftanchor.core.provenance import Provenance
    from driftanchor.logs.rejects import Example

COLUMNS = "The columns"
ROWS = "Which rows"
OUTPUT = "Output"
PANELS = {"columns": COLUMNS, "rows": ROWS, "limits": "Limits", "output": OUTPUT}
TYPES: dict[Kind, Any] = {"flag": bool, "range": tuple[str, str] | None, "folder": Path | None}

CommandFunction = Callable[..., None]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...", help="CSV, Parquet or JSON lines; patterns such as 'logs/*.csv'."
    ),
]


def takes_log_options(*, arm_needed: bool = True) -> Callable[[CommandFunction], CommandFunction]:
    """Give a command one option for each of `LOG_OPTIONS`, in place of its parameter `options`.

    The command gets those that were given, as `read_logs` takes them.

    Args:
        arm_needed: Whether --arm must be given; not where files may be saved offline data.
    """

    def decorate(command: CommandFunction) -> CommandFunction:
        signature = inspect.signature(command, eval_str=True)

        @functools.wraps(command)
        def run(**given: Any) -> None:
            options = _values({name: given.pop(name) for name in LOG_OPTIONS})
            command(options=options, **given)

        run.__dict__["__signature__"] = signature.replace(
            parameters=list(_expanded(signature, arm_needed))  # typer reads these
        )
        return run

    return decorate


def _expanded(signature: inspect.Signature, arm_needed: bool) -> Iterator[inspect.Parameter]:
    for parameter in signature.parameters.values():
        if parameter.name == "options":
            for name, option in LOG_OPTIONS.items():
                yield _parameter(name, option, needed=name == "arm" and arm_needed)
        else:  # by name, so that a needed one may follow others
            yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def _parameter(name: str, option: LogOption, *, needed: bool) -> inspect.Parameter:
    kind: Any = TYPES.get(option.kind, str | None)
    help = option.help
    if name == "arm" and not needed:
        help += " Leave it out for saved offline data."
    settings = typer.Option(
        *flags_of(name),
        metavar=option.metavar or None,
        help=help,
        rich_help_panel=PANELS[option.group],
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if needed else option.default,
        annotation=Annotated[str if needed else kind, settings],
    )


def _values(typed: dict[str, Any]) -> LogOptions:
    """What was typed, as `read_logs` takes it; what was left out is left out."""
    given = {name: value for name, value in typed.items() if value != LOG_OPTIONS[name].default}
    for name, value in given.items():
        option, kind = flags_of(name)[0], LOG_OPTIONS[name].kind
        if kind == "range":
            given[name] = tuple(parse.number(x, option) for x in value)
        elif kind == "number":
            given[name] = parse.number(value, option)
        elif kind == "labels":
            given[name] = [label.strip() for label in value.split(",")]
    return cast("LogOptions", given)


def typed(options: LogOptions) -> list[str]:
    """Return these options as command-line arguments, without the output options.

    Example:
        >>> typed({"arm": "ad", "arms": ["A", "B"], "reward_range": (0, 1), "allow_rejects": True})
        ['--arm', 'ad', '--arms', 'A,B', '--range', '0', '1', '--allow-rejects']
    """
    words: list[str] = []
    for name, value in cast("dict[str, Any]", options).items():
        option = LOG_OPTIONS[name]
        if option.group == "output":
            continue
        words.append(flags_of(name)[0])
        if option.kind == "labels":
            words.append(",".join(value))
        elif option.kind == "range":
            words += [f"{x:.17g}" for x in value]
        elif option.kind != "flag":
            words.append(str(value))
    return words


def tell(how: Provenance | None, *, quiet: bool) -> None:
    """Report on stderr which rows were not used, and whether arms were compared within strata."""
    for line in notes(how):
        output.say(f"note: {line}", quiet=quiet)


def notes(how: Provenance | None) -> list[str]:
    """Return notes on how the logs were read; empty if all rows were pooled."""
    if how is None:
        return []
    is_stratified = how.strata is not None and how.strata.used == "stratified"
    lines = [how.rejected_text(), how.strata.text() if how.strata and is_stratified else ""]
    return [line for line in lines if line]


def row_counts(how: Provenance | None) -> dict[str, Any]:
    """Return the row counts for a command's JSON output; empty without logs."""
    if how is None:
        return {}
    return {"rows_read": how.rows_read, "rows_rejected": dict(how.rows_rejected)}


def rows(how: Provenance, examples: Sequence[Example]) -> str:
    """How many rows were read, filtered, rejected and used."""
    from driftanchor.logs.rejects import in_words

    counts = dict(how.rows_rejected)
    first = (
        f"{how.rows_read:,} rows read, {how.rows_filtered:,} filtered, "
        f"{sum(counts.values()):,} rejected, {how.rows_used:,} used"
    )
    return "\n".join([first, *(f"rejected: {line}" for line in in_words(counts, examples))])
