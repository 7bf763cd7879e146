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
    Path, typer.Argument(metavar="FILE", help="The file of the backup, which must not exist yet.")
]
Target = Annotated[
    str, typer.Argument(metavar="ADDRESS", help="The store to copy to: empty, or not there yet.")
]


def upgrade(
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Update the tables of a store to this version.

    First stop the workers, and copy the file of the store (PostgreSQL: use pg_dump): 'store backup'
    of this version cannot read older tables.

    Examples:
      driftanchor store upgrade --store sqlite:///bandit.db
    """
    at.existing(store)
    from driftanchor.live.stores.store import upgrade_store

    before, after = upgrade_store(store)
    message = f"upgraded the store from version {before} to {after}"
    if before == after:
        message = f"the store is up to date: version {after}"
    output.report(message, {"before": before, "after": after}, as_json=as_json, quiet=quiet)


def backup(
    file: To,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Copy all campaigns to a new SQLite file, while others use the store.

    The file is a store itself: to look at it or to continue from it, name it with --store. To
    restore it into another store, use 'driftanchor store copy'.

    Examples:
      driftanchor store backup bandit-2026-02-01.db --store sqlite:///bandit.db
      driftanchor store backup bandit-2026-02-01.db --store postgresql://bandit@db/bandit
    """
    from driftanchor.live.stores.copy import backup as work

    with at.store_at(store) as opened:
        if file.exists() or file.is_symlink():
            raise InvalidInput(f"FILE {str(file)!r} is there already: name a new one")
        copied = work(opened, file)
    data = {"file": str(file), "campaigns": copied}
    output.report(f"wrote {file} ({count(copied, 'campaign')})", data, as_json=as_json, quiet=quiet)


def copy(
    to: Target,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Copy all campaigns to an empty store, such as from SQLite to PostgreSQL.

    What is written to the old store afterwards is not copied, so stop its workers first.

    Examples:
      driftanchor store copy bandit.db --store bandit-2026-02-01.db
      driftanchor store copy postgresql://bandit@db/bandit --store sqlite:///bandit.db
    """
    from driftanchor.live.stores.copy import copy as work
    from driftanchor.live.stores.store import open_store

    with at.store_at(store) as opened:
        target = open_store(to)
        try:
            copied = work(opened, target)
        finally:
            target.close()
    message = f"copied {count(copied, 'campaign')}"
    output.report(message, {"campaigns": copied}, as_json=as_json, quiet=quiet)


def verify(
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Verify every campaign of a store, and the file itself if it is SQLite.

    The exit code is 1 if the events of a campaign do not add up to its sums.

    Examples:
      driftanchor store verify --store sqlite:///bandit.db
    """
    from driftanchor.live.campaigns.campaign import Campaign

    found: dict[str, Any] = {}
    wrong = []
    with at.store_at(store) as opened:
        from driftanchor.live.stores.sqlite import problems_in

        damage = problems_in(opened.address)
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
    output.say(
        f"{count(len(found), 'campaign')} verified; the stored sums agree", quiet=quiet or as_json
    )


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
