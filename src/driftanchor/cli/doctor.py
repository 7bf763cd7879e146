"""`driftanchor doctor`: check the installation, a store and a server."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftanchor.cli import options as opt
from driftanchor.cli import output
from driftanchor.cli.campaign_show import FOUND
from driftanchor.errors import InvalidInput
from driftanchor.render.table import Table

if TYPE_CHECKING:
    from driftanchor.doctor import Check

ALSO = "What else to check"
MAX_KEY_FILE = 10_000  # bytes

Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="ADDRESS",
        help="Check this store too; nothing is written to it, and none is created.",
        show_default="none",
        envvar="DRIFTANCHOR_STORE",
        rich_help_panel=ALSO,
    ),
]
Url = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Check this server too, such as http://127.0.0.1:8484.",
        show_default="none",
        rich_help_panel=ALSO,
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The file of a key for that server, as 'keys create' printed it.",
        show_default="none",
        rich_help_panel=ALSO,
    ),
]


def doctor(
    *,
    store: Store = None,
    url: Url = None,
    key_file: KeyFile = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Check the installation, and a store and a server if they are named.

    Prints each check and how to fix a problem. The exit code is 10 if there is a problem, such as a
    store or a server that cannot be reached. Optional parts that are not installed are no problem.
    Run 'pip check' to see whether the versions of all packages fit.

    Examples:
      driftanchor doctor
      driftanchor doctor --store sqlite:///bandit.db
      driftanchor doctor --url http://127.0.0.1:8484 --key-file shop.key
    """
    from driftanchor.doctor import MISSING, PROBLEM, check_all
    from driftanchor.files import read_text
    from driftanchor.render.numbers import count

    if key_file is not None and url is None:
        raise InvalidInput("--key-file is for a server: name it with --url")
    key = None if key_file is None else read_text(key_file, most=MAX_KEY_FILE)
    checks = check_all(store, url, key)
    bad = [check.name for check in checks if check.status == PROBLEM]
    if as_json:
        output.show_json({"checks": [asdict(check) for check in checks], "ok": not bad})
    else:
        _show(checks)
    if bad:
        output.say(f"error: {count(len(bad), 'problem')}: {', '.join(bad)}")
        raise typer.Exit(FOUND)
    missing = sum(check.status == MISSING for check in checks)
    note = f"; missing: {count(missing, 'thing')} that you may not need" if missing else ""
    output.say(f"no problems{note}", quiet=quiet or as_json)


def _show(checks: list[Check]) -> None:
    """Print a table, and the advice below it."""
    rows = tuple((check.name, check.status, check.found) for check in checks)
    output.show_table(Table("", ("check", "status", "found"), rows, text=frozenset({0, 1, 2})))
    for check in checks:
        if check.advice:
            output.show_text(f"{check.name}: {check.advice}")
