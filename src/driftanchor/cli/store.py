"""`driftanchor store upgrade|backup|copy|verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from driftanchor.cli import options as opt
from driftanchor.cli import output
from driftanchor.cli import store_options as at
from driftanchor.cli.boundary import Boundary
from driftanchor.cli.command import Command
from driftanchor.errors import DriftanchorError, InvalidInput, StoreUnavailable, UnreadableState
from driftanchor.render.numbers import count

To = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file of the backup, which is not there yet.")
]
Target = Annotated[
    str, typer.Argument(metavar="ADDRESS", help="The store to copy to, which is empty or new.")
]


def upgrade(
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Bring the tables of a store up to date. Make a backup first.

    Examples:
      driftanchor store upgrade --store sqlite:///bandit.db
    """
    at.existing(store)
    from driftanchor.live.stores.sql import care

    before, after = care.upgrade(store)
    if as_json:
        output.show_json({"before": before, "after": after})
    elif before == after:
        output.say(f"the store is up to date: version {after}", quiet=quiet)
    else:
        output.say(f"upgraded the store from version {before} to {after}", quiet=quiet)


def backup(
    file: To,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Copy all campaigns to a new SQLite file, while others use the store.

    The file is a store too: name it with --store to look at it or to go on with it.

    Examples:
      driftanchor store backup bandit-2026-02-01.db --store sqlite:///bandit.db
      driftanchor store backup bandit-2026-02-01.db --store postgresql://bandit@db/bandit
    """
    from driftanchor.live.stores.sql.copying import backup as work

    with at.store_at(store) as opened:
        if file.exists() or file.is_symlink():
            raise InvalidInput(f"FILE {str(file)!r} is there already: name a new one")
        copied = work(opened, file)
    if as_json:
        output.show_json({"file": str(file), "campaigns": copied})
    else:
        output.say(f"wrote {file} ({count(copied, 'campaign')})", quiet=quiet)


def copy(
    to: Target,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Copy all campaigns to an empty store, such as from SQLite to PostgreSQL.

    What is written to the old store after that is not copied, so end its workers before.

    Examples:
      driftanchor store copy postgresql://bandit@db/bandit --store sqlite:///bandit.db
    """
    from driftanchor.live.stores.sql.copying import copy as work
    from driftanchor.live.stores.sql.store import open_sql

    with at.store_at(store) as opened:
        target = open_sql(to)
        try:
            copied = work(opened, target)
        finally:
            target.close()
    if as_json:
        output.show_json({"campaigns": copied})
    else:
        output.say(f"copied {count(copied, 'campaign')}", quiet=quiet)


def verify(
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Verify every campaign of a store, and the file itself if it is SQLite.

    A campaign whose events do not give its sums is exit code 1.

    Examples:
      driftanchor store verify --store sqlite:///bandit.db
    """
    from driftanchor.live.campaigns.campaign import Campaign

    found: dict[str, Any] = {}
    wrong = []
    with at.store_at(store) as opened:
        from driftanchor.live.stores.sql import care

        damage = care.damage(store)
        try:
            opened.keys()
        except UnreadableState as error:
            wrong.append(f"keys: {error}")
        for name in opened.names():
            try:
                seen = Campaign.load(name, store=opened).verify()
                found[name] = {x: getattr(seen, x) for x in ("events", "decisions", "rewards")}
            except StoreUnavailable:
                raise
            except DriftanchorError as error:
                wrong.append(f"campaign {name!r}: {error}")
                found[name] = {"error": str(error)}
    if as_json:
        output.show_json({"campaigns": found, "damage": damage})
    if damage or wrong:
        raise UnreadableState("; ".join([*damage, *wrong]))
    output.say(f"{count(len(found), 'campaign')} verified; all of it fits", quiet=quiet or as_json)


store = typer.Typer(cls=Boundary, pretty_exceptions_enable=False)
for command in (upgrade, backup, copy, verify):
    store.command(cls=Command)(command)


@store.callback()
def _store() -> None:
    """Look after a store of campaigns: upgrade, back up, copy, verify.

    Examples:
      driftanchor store verify --store sqlite:///bandit.db
      driftanchor store backup bandit-2026-02-01.db --store sqlite:///bandit.db
    """
