"""`driftanchor keys create|list|revoke`: who may use a server."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor.cli import options as opt
from driftanchor.cli import output
from driftanchor.cli import store_options as at
from driftanchor.cli.boundary import Boundary
from driftanchor.cli.command import Command
from driftanchor.errors import InvalidInput
from driftanchor.render.numbers import MISSING
from driftanchor.render.printable import printable
from driftanchor.render.table import Table

if TYPE_CHECKING:
    from driftanchor.live.stores.access_keys import KeyRow

LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC).timestamp()

Role = Annotated[
    list[str],
    typer.Option(
        "--role",
        metavar="NAME",
        help="decide: ask for arms. reward: report rewards and exposures. read: see campaigns and "
        "the page. admin: everything. Give it again for several roles.",
    ),
]
Expires = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="How long the key works: 12h, 30d, 52w.", show_default="for ever"
    ),
]
Note = Annotated[str, typer.Option(metavar="TEXT", help="What the key is for.", show_default=False)]
OneCampaign = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Only with --role read: allow only the summary of this campaign, without its events "
        "and units, as a share link does.",
        show_default="all campaigns",
    ),
]
Id = Annotated[
    str, typer.Argument(metavar="ID", help="The id that 'keys list' shows, or the key itself.")
]


def create(
    *,
    role: Role,
    expires: Expires = None,
    note: Note = "",
    campaign: OneCampaign = None,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Create a key and print it to stdout, once: the store keeps only its hash.

    Programs send it as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'.

    Examples:
      driftanchor keys create --role decide --role reward --note shop
      driftanchor keys create --role read --expires 30d --note "weekly review"
      driftanchor keys create --role read --campaign checkout --expires 7d
      driftanchor keys create --role admin > admin.key
    """
    from driftanchor.live.campaigns.creating import find_campaign
    from driftanchor.live.stores.access_keys import make_key

    now = time.time()
    key, row = make_key(
        role, now=now, expires_at=_until(expires, now), note=note, campaign=campaign
    )
    is_new = at.is_missing(store)
    with at.store_at(store, may_create=campaign is None) as opened:
        if campaign is not None:
            find_campaign(opened, campaign)
        is_first = opened.key_counts()[0] == 0
        opened.add_key(row)
    if is_new:
        output.say(f"created the store {str(at.file_of(store))!r}", quiet=quiet)
    if as_json:
        output.show_json({"key": key, **_shown(row, now)})
    else:
        output.show_line(key)
        ends = "" if row.expires_at is None else f", works until {_day(row.expires_at)}"
        output.say(
            f"created key {row.id} ({row.roles.replace(' ', ', ')}){ends}; save it now, because it "
            "cannot be shown again",
            quiet=quiet,
        )
    if is_first:
        output.say(
            "this is the first key: from now on, servers of this store require one",
            quiet=quiet,
        )


def list_all(*, store: at.StoreAddress = at.DEFAULT, as_json: opt.Json = False) -> None:
    """List the keys of a store: their ids, roles and states, never the keys themselves.

    Examples:
      driftanchor keys list
      driftanchor keys list --store postgresql://bandit@db/bandit --json
    """
    now = time.time()
    with at.store_at(store) as opened:
        rows = opened.keys()
    if as_json:
        output.show_json({"keys": [_shown(row, now) for row in rows]})
        return
    lines = [
        (
            row.id,
            row.roles,
            row.campaign or MISSING,
            row.state(now),
            _day(row.created_at),
            _day(row.expires_at),
            row.note,
        )
        for row in rows
    ]
    headings = ("key", "roles", "campaign", "state", "created", "works until", "note")
    safe = tuple(tuple(map(printable, line)) for line in lines)
    output.show_table(Table("", headings, safe, text=frozenset(range(len(headings)))))


def revoke(
    key: Id,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Revoke a key: running servers refuse it within about a second, for ever.

    Examples:
      driftanchor keys revoke 1f3a9c0b
    """
    from driftanchor.live.stores.access_keys import ID_DIGITS

    key_id = key.rpartition("_")[2][:ID_DIGITS]  # of a whole key or of its start
    now = time.time()
    with at.store_at(store) as opened:
        row = opened.revoke_key(key_id, now)
    if as_json:
        output.show_json(_shown(row, now))
    else:
        output.say(f"key {row.id} is revoked", quiet=quiet)


def _until(expires: str | None, now: float) -> float | None:
    """When a key ends that works for this long."""
    length = at.seconds(expires, "--expires")
    if length is None:
        return None
    if not 0 < length <= LAST_DAY - now:
        raise InvalidInput(
            f"must be longer than 0 and end before the year 9999, got {expires!r}",
            argument="expires",
        )
    return now + length


def _shown(row: KeyRow, now: float) -> dict[str, Any]:
    """Return a key's metadata as JSON, without the key itself."""
    return {
        "id": row.id,
        "roles": row.roles.split(" "),
        "state": row.state(now),
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "revoked_at": row.revoked_at,
        "note": row.note,
        "campaign": row.campaign,
    }


def _day(seconds: float | None) -> str:
    if seconds is None or not 0 <= seconds <= LAST_DAY:
        return MISSING
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


keys = typer.Typer(cls=Boundary, pretty_exceptions_enable=False)
keys.command(cls=Command)(create)
keys.command("list", cls=Command)(list_all)
keys.command(cls=Command)(revoke)


@keys.callback()
def _keys() -> None:
    """Make, list and revoke the keys with which programs use a server.

    Examples:
      driftanchor keys create --role decide --role reward --note shop
      driftanchor keys list
      driftanchor keys revoke 1f3a9c0b

    Exit codes: 3 there is no such key, 5 the store is unavailable.
    """
