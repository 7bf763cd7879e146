"""The command `driftanchor`, and the one place where errors become messages and exit codes."""

import io
import os
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from driftanchor import __version__
from driftanchor.cli.identify import identify
from driftanchor.cli.logs import logs
from driftanchor.cli.plan import plan
from driftanchor.cli.policies import policies
from driftanchor.cli.replay import replay
from driftanchor.cli.reproduce import reproduce
from driftanchor.cli.shift import shift
from driftanchor.cli.simulate import simulate
from driftanchor.cli.theory import theory
from driftanchor.errors import DriftanchorError, InvalidInput

INTERRUPTED = 130  # what shells report for a command ended by Ctrl-C


class Boundary(TyperGroup):
    """The group of all commands: what they raise on purpose ends in one line on stderr."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except InvalidInput as error:
            _end(f"error: {self._naming_the_option(error, ctx)}", error.exit_code)
        except DriftanchorError as error:
            _end(f"error: {error}", error.exit_code)
        except KeyboardInterrupt:
            _end("interrupted", INTERRUPTED)
        except BrokenPipeError:  # nobody reads on: click ends quietly
            raise
        except OSError as error:
            _end(f"error: {error}", 1)

    def _naming_the_option(self, error: InvalidInput, ctx: Any) -> str:
        """The message of an error, in which an argument of Python is the option it came from."""
        command = self.commands[ctx.invoked_subcommand]
        for parameter in command.params:
            if parameter.name == error.argument and parameter.opts[0].startswith("--"):
                return error.naming(parameter.opts[0])
        return str(error)


app = typer.Typer(cls=Boundary, no_args_is_help=True, pretty_exceptions_enable=False)
app.command()(reproduce)
app.command()(simulate)
app.command()(identify)
app.command()(logs)
app.command()(shift)
app.command()(plan)
app.command()(replay)
app.command()(policies)
app.command()(theory)


def run() -> None:
    """Run the command line: what the script `driftanchor` calls."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without θ or ± shows "?" instead
            stream.reconfigure(errors="replace")
    try:
        app()
    except SystemExit as end:
        if end.code == INTERRUPTED:  # at once: a normal exit waits for runs under way in threads
            os._exit(INTERRUPTED)
        raise


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"driftanchor {__version__}")
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
    Exit codes: 0 success, 1 failure, 2 wrong usage, 10 a claim fails (reproduce --strict).
    """


def _end(message: str, code: int) -> NoReturn:
    typer.echo(message.replace("\n", " "), err=True)
    raise typer.Exit(code)
