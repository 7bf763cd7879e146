"""Statements about the keys of the server."""

from __future__ import annotations

import dataclasses

from sqlalchemy import Connection, func, insert, select, update

from driftanchor.errors import Conflict, NotFound, excerpt
from driftanchor.live.stores.access_keys import ID_DIGITS, ROLES, KeyRow
from driftanchor.live.stores.damage import damaged, typed
from driftanchor.live.stores.sql.schema import api_keys

_ALL = select(*(api_keys.c[field.name] for field in dataclasses.fields(KeyRow)))


_COUNTS = select(
    func.count(), func.count(api_keys.c.revoked_at), func.max(api_keys.c.created_at)
).select_from(api_keys)


def add(connection: Connection, row: KeyRow) -> None:
    """Keep a new key; the same one again changes nothing."""
    found = _find(connection, row.id)
    if found is None:
        connection.execute(insert(api_keys).values(dataclasses.asdict(row)))
    elif found != row:  # the same row is there if the connection broke while it was committed
        raise Conflict(f"there is a key {row.id!r} already: make another")


def all_rows(connection: Connection) -> list[KeyRow]:
    """All keys, the oldest first."""
    rows = connection.execute(_ALL.order_by(api_keys.c.created_at, api_keys.c.id))
    return [_row(tuple(found)) for found in rows]


def counts(connection: Connection) -> tuple[int, int, float]:
    """How many keys there are and are revoked, and when the last was made."""
    every, revoked, last = connection.execute(_COUNTS).one()
    return every, revoked, last or 0.0


def revoke(connection: Connection, key_id: str, at: float) -> KeyRow:
    """Revoke a key, unless it is revoked already."""
    row = _find(connection, key_id)
    if row is None:
        shown = excerpt(key_id[:ID_DIGITS])  # it may be a whole key by mistake
        raise NotFound(
            f"there is no key with the id {shown!r}: 'driftanchor keys list' shows all keys"
        )
    if row.revoked_at is not None:
        return row
    connection.execute(update(api_keys).where(api_keys.c.id == key_id).values(revoked_at=at))
    return dataclasses.replace(row, revoked_at=at)


def _find(connection: Connection, key_id: str) -> KeyRow | None:
    found = connection.execute(_ALL.where(api_keys.c.id == key_id)).one_or_none()
    return None if found is None else _row(tuple(found))


def _row(values: tuple[object, ...]) -> KeyRow:
    row = typed(KeyRow, values)
    roles = row.roles.split(" ")
    if not roles or set(roles) - set(ROLES):
        raise damaged(f"a key has the roles {excerpt(row.roles)!r}")
    return row
