"""The command `driftanchor`: all its commands, and how it starts and ends."""

import os
import sys
from typing import Annotated, Any

import typer

from driftanchor import __version__
from driftanchor.cli import output, streams
from driftanchor.cli.boundary import Boundary, say_ended
from driftanchor.cli.campaign import campaign
from driftanchor.cli.command import Command
from driftanchor.cli.doctor import doctor
from driftanchor.cli.identify import identify
from driftanchor.cli.keys import keys
from driftanchor.cli.logs import logs
from driftanchor.cli.plan import plan
from driftanchor.cli.policies import policies
from driftanchor.cli.replay import replay
from driftanchor.cli.reproduce import reproduce
from driftanchor.cli.serve import serve
from driftanchor.cli.shift import shift
from driftanchor.cli.signals import ending
from driftanchor.cli.simulate import simulate
from driftanchor.cli.store import store
from driftanchor.cli.theory import theory

app = typer.Typer(cls=Boundary, pretty_exceptions_enable=False)
for command in (
    reproduce,
    simulate,
    identify,
    logs,
    shift,
    plan,
    replay,
    serve,
    policies,
    theory,
    doctor,
):
    app.command(cls=Command)(command)
app.add_typer(campaign, name="campaign")
app.add_typer(store, name="store")
app.add_typer(keys, name="keys")


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
            code = say_ended(error)
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
      driftanchor campaign create checkout offline.json --bias-bound 0.02
      driftanchor policies
      driftanchor doctor

    Every command has --help with examples, and --json for programs.

    Exit codes: 0 success, 1 failure, 2 wrong usage, 3 not found, 4 conflict, 5 store unavailable,
    10 a check found a problem (reproduce --strict, campaign show --check, doctor), 130 interrupted,
    141 the reader of the output has closed it; in general 128 + n for signal n.
    """
