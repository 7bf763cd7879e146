"""`driftanchor doctor`: whether the installation, a store and a server are as they should be."""

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
    from driftanchor.checkup.diagnosis import Diagnosis

ALSO = "What else to check"
LARGEST_KEY = 10_000  # bytes of a file with a key

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

    Says what is fine, what is missing, what that costs, and what to do about it. Extras that are
    not installed are no problem. Everything else that will hurt is one, and then the exit code is
    10: also for a store or a server that cannot be reached.

    Examples:
      driftanchor doctor
      driftanchor doctor --store sqlite:///bandit.db
      driftanchor doctor --url http://127.0.0.1:8484 --key-file shop.key
    """
    from driftanchor.checkup.checks import check_all
    from driftanchor.checkup.diagnosis import MISSING, PROBLEM
    from driftanchor.files import read_text
    from driftanchor.render.numbers import count

    if key_file is not None and url is None:
        raise InvalidInput("--key-file is for a server: name it with --url")
    key = None if key_file is None else read_text(key_file, most=LARGEST_KEY)
    found = check_all(store, url, key)
    bad = [each.name for each in found if each.status == PROBLEM]
    if as_json:
        output.show_json({"checks": [asdict(each) for each in found], "ok": not bad})
    else:
        _show(found)
    if bad:
        output.say(f"error: {count(len(bad), 'problem')}: {', '.join(bad)}")
        raise typer.Exit(FOUND)
    absent = sum(each.status == MISSING for each in found)
    but = f"; missing: {count(absent, 'thing')} that you may not need" if absent else ""
    output.say(f"no problems{but}", quiet=quiet or as_json)


def _show(found: list[Diagnosis]) -> None:
    """What was found, and below the table what to do about it."""
    rows = tuple((each.name, each.status, each.found) for each in found)
    output.show_table(Table("", ("check", "status", "found"), rows, text=frozenset({0, 1, 2})))
    for each in found:
        if each.advice:
            output.show_text(f"{each.name}: {each.advice}")
