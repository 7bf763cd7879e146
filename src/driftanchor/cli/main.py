"""The command `driftanchor`, and the one place where errors become messages and exit codes."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from driftanchor import __version__
from driftanchor.cli import output, streams
from driftanchor.cli.command import Command
from driftanchor.cli.identify import identify
from driftanchor.cli.logs import logs
from driftanchor.cli.plan import plan
from driftanchor.cli.policies import policies
from driftanchor.cli.replay import replay
from driftanchor.cli.reproduce import reproduce
from driftanchor.cli.shift import shift
from driftanchor.cli.signals import Ended, ending
from driftanchor.cli.simulate import simulate
from driftanchor.cli.theory import theory
from driftanchor.errors import DriftanchorError, InvalidInput

CLOSED_PIPE = 141  # what shells report for a command whose output nobody reads on


class Boundary(TyperGroup):
    """The group of all commands: what they raise on purpose ends in one line on stderr."""

    def make_context(self, *arguments: Any, **extra: Any) -> Any:
        """Read what stands before the command."""
        with _one_line():
            return super().make_context(*arguments, **extra)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options of the group; a request for help is answered here."""
        with output.to_stdout():
            if not args and not ctx.resilient_parsing:
                typer.echo(ctx.get_help())
                raise InvalidInput("no command is given")
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with _one_line(ctx):
            return super().invoke(ctx)


@contextlib.contextmanager
def _one_line(context: Any = None) -> Iterator[None]:
    """Turn what was raised on purpose into a line on stderr and an exit code.

    Args:
        context: Of the group, once it knows which command is to be run.
    """
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except output.NobodyReads as error:
        raise typer.Exit(CLOSED_PIPE) from error
    except (Exception, KeyboardInterrupt) as error:
        ended = ending.came or (error if isinstance(error, KeyboardInterrupt) else None)
        if ended is not None:
            raise typer.Exit(_say_ended(ended)) from error
        if isinstance(error, InvalidInput):
            message = _naming_the_option(error, context)
        elif isinstance(error, DriftanchorError | OSError):
            message = str(error)
        elif isinstance(error, MemoryError):
            message = "there is not enough memory for this: ask for less"
        elif hasattr(error, "format_message"):  # of Typer, which has no public class for them all
            message = _usage(error, context)
        else:  # a defect, which is not hidden
            raise
        output.say(f"error: {message}")
        raise typer.Exit(getattr(error, "exit_code", 1)) from error


def _say_ended(error: KeyboardInterrupt) -> int:
    """Say that a signal ended the command; returns its exit code."""
    ended = error if isinstance(error, Ended) else Ended()
    output.say(": ".join([ended.word, *getattr(error, "__notes__", [])]))
    return ended.exit_code


def _naming_the_option(error: InvalidInput, context: Any) -> str:
    """The message of an error, in which an argument of Python is the option it came from."""
    invoked = context and context.command.commands.get(context.invoked_subcommand)
    for parameter in invoked.params if invoked else []:
        if parameter.name == error.argument and parameter.opts[0].startswith("--"):
            return error.naming(parameter.opts[0])
    return str(error)


def _usage(error: Any, context: Any) -> str:
    """What Typer says of options that it does not know or that are missing, and where to look."""
    words = (
        (context.command_path, context.invoked_subcommand or "") if context else ("driftanchor",)
    )
    where = " ".join((*filter(None, words), "--help"))
    return f"{error.format_message().strip().rstrip('.')}; '{where}' shows what there is"


app = typer.Typer(cls=Boundary, pretty_exceptions_enable=False)
for command in (
    reproduce,
    simulate,
    identify,
    logs,
    shift,
    plan,
    replay,
    policies,
    theory,
):
    app.command(cls=Command)(command)


def run() -> None:
    """Run the command line: what the script `driftanchor` calls."""
    streams.make_ready()
    with ending.watched():
        try:
            app()
            code: Any = 0
        except SystemExit as end:
            code = end.code
        except KeyboardInterrupt as error:  # before any command was begun
            code = _say_ended(error)
        streams.settle()
        if ending.came is not None:  # at once: a normal exit waits for runs under way in threads
            os._exit(code)
    sys.exit(code)


def _show_version(asked: bool) -> None:
    if asked:
        output.show_line(f"driftanchor {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Bandits that use old logs safely: Anchor-TS and its baselines.

    Examples:
      driftanchor reproduce --quick
      driftanchor simulate --runs 400
      driftanchor simulate --online 0.8,0.5*9 --offline same --offline-total 2000
      driftanchor identify --offline same --offline-pulls 1000
      driftanchor logs last_test.csv --arm variant --reward converted
      driftanchor shift last_year.csv --arm variant --reward converted --time at --by week
      driftanchor plan offline.json --bias-bound 0.02 --horizon 50000
      driftanchor policies

    Every command has --help with examples, and --json for programs.
    Exit codes: 0 success, 1 failure, 2 wrong usage, 10 a claim fails (reproduce --strict),
    130 interrupted, 141 nobody reads the output on, in general 128 + n for signal n.
    """
