"""The option `--store`, and how commands open stores and campaigns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftanchor.errors import InvalidInput, StoreUnavailable

if TYPE_CHECKING:
    from driftanchor.live.campaigns.campaign import Campaign
    from driftanchor.live.stores.store import Store

DEFAULT = "sqlite:///driftanchor.db"
WHERE = "Where campaigns are kept"

StoreAddress = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="ADDRESS",
        help="A file of SQLite, as FILE or sqlite:///FILE; or postgresql://USER@HOST/NAME.",
        envvar="DRIFTANCHOR_STORE",
        rich_help_panel=WHERE,
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The campaign.")]
DecisionId = Annotated[
    str, typer.Argument(metavar="DECISION", help="The id that 'campaign ask' gave.")
]


def file_of(address: str) -> Path | None:
    """The file of an SQLite store; `None` for PostgreSQL."""
    from driftanchor.live.stores.address import parse_address

    return parse_address(address).file


def is_missing(address: str) -> bool:
    """Whether the file of an SQLite store is not there yet."""
    file = file_of(address)
    return file is not None and not file.exists()


def existing(address: str) -> Path | None:
    """The file of an SQLite store that must be there; `None` for PostgreSQL."""
    file = file_of(address)
    if file is not None and not file.exists():
        from driftanchor.live.stores.address import missing_folder

        raise StoreUnavailable(
            missing_folder(file)
            or f"there is no store {str(file)!r}: 'driftanchor campaign create' makes one, and "
            "--store or DRIFTANCHOR_STORE names another"
        )
    return file


@contextlib.contextmanager
def store_at(address: str, *, may_create: bool = False) -> Iterator[Store]:
    """A store that is there or may be created, open while the block runs."""
    if not may_create:
        existing(address)
    from driftanchor.live.stores.store import open_store

    store = open_store(address)
    try:
        yield store
    finally:
        store.close()


@contextlib.contextmanager
def campaign_in(address: str, name: str) -> Iterator[Campaign]:
    """A campaign of a store that is there, open while the block runs."""
    from driftanchor.live.campaigns.campaign import Campaign

    with store_at(address) as store:
        yield Campaign.load(name, store=store)


def choice(text: str) -> str | None:
    """A word of an option, or `None` if it says none."""
    return None if text.strip().lower() == "none" else text.strip()


SECONDS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}


def seconds(text: str | None, option: str) -> float | None:
    """A length of time: seconds, or a number with s, m, h, d or w.

    Example:
        >>> seconds("90", "--window"), seconds("1.5h", "--window"), seconds(None, "--window")
        (90.0, 5400.0, None)
    """
    from driftanchor.cli import parse

    if text is None:
        return None
    unit = text.strip()[-1:].lower()
    try:
        number = parse.number(text.strip()[:-1] if unit in SECONDS else text, option)
    except InvalidInput as error:
        raise InvalidInput(
            f"{option} must be seconds, or a number with s, m, h, d or w such as 7d, got {text!r}"
        ) from error
    return float(number * SECONDS.get(unit, 1.0))
