"""The one place where errors become messages and exit codes."""

import contextlib
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperGroup

from driftanchor.cli import output
from driftanchor.cli.help_text import flowing
from driftanchor.cli.option_names import options_of, with_options
from driftanchor.cli.signals import Ended, ending
from driftanchor.errors import DriftanchorError, InvalidInput

CLOSED_PIPE = 141  # what shells report for a command whose output was closed by its reader


class Boundary(TyperGroup):
    """A group of commands: what they raise on purpose ends in one line on stderr."""

    def __init__(self, *, help: str | None = None, **settings: Any) -> None:
        super().__init__(help=help and flowing(help), **settings)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Read what stands before the command."""
        within = (parent.command_path, info_name or "") if parent else ("driftanchor",)
        with _one_line(words=within):
            return super().make_context(info_name, args, parent, **extra)

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
def _one_line(context: Any = None, words: tuple[str, ...] = ()) -> Iterator[None]:
    """Turn what was raised on purpose into a line on stderr and an exit code.

    Args:
        context: Of the group, once it knows which command is to be run.
        words: Those of the group, before it knows that.
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
            raise typer.Exit(say_ended(ended)) from error
        if isinstance(error, DriftanchorError):
            message = _naming_options(error, context)
        elif isinstance(error, OSError):
            message = str(error)
        elif isinstance(error, MemoryError):
            message = "there is not enough memory for this: ask for less"
        elif hasattr(error, "format_message"):  # of Typer, which has no public class for them all
            named = (context.command_path, context.invoked_subcommand or "") if context else words
            message = _usage(error, named)
        else:  # a defect, which is not hidden
            raise
        output.say(f"error: {message}")
        raise typer.Exit(getattr(error, "exit_code", 1)) from error


def say_ended(error: KeyboardInterrupt) -> int:
    """Say that a signal ended the command; returns its exit code."""
    ended = error if isinstance(error, Ended) else Ended()
    output.say(": ".join([ended.word, *getattr(error, "__notes__", [])]))
    return ended.exit_code


def _naming_options(error: DriftanchorError, context: Any) -> str:
    """The message of an error, in which arguments of Python are the options they came from."""
    invoked = context and context.command.commands.get(context.invoked_subcommand)
    options = options_of(getattr(invoked, "params", []))
    option = options.get(getattr(error, "argument", None) or "")
    message = str(error)
    if isinstance(error, InvalidInput) and option is not None:
        message = error.naming(option)
    return with_options(message, options)


def _usage(error: Any, words: tuple[str, ...]) -> str:
    """What Typer says of options that it does not know or that are missing, and where to look."""
    where = " ".join((*filter(None, words), "--help"))
    return f"{error.format_message().strip().rstrip('.')}; '{where}' shows what there is"
