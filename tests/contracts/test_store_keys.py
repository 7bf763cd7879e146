"""The contract of a store about the keys of a server, on SQLite and PostgreSQL."""

from __future__ import annotations

import dataclasses

import pytest

from driftanchor.errors import Conflict, NotFound
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.store import open_store


def test_keys_are_kept_and_revoked(store_url: str) -> None:
    store = open_store(store_url)
    assert (store.keys(), store.key_counts()) == ([], (0, 0, 0.0))
    secrets_and_rows = [
        make_key(
            ["read"],
            now=9.0,
            expires_at=10.0 + 1e-6,
            note="a page; DROP TABLE api_keys;--",
            campaign="c",
        ),
        make_key(["admin", "decide"], now=5.5),
    ]
    second, first = (row for _, row in secrets_and_rows)
    for row in (second, first, first):  # to add the same one again changes nothing
        store.add_key(row)
    assert store.keys() == [first, second]
    assert store.key_counts() == (2, 0, 9.0)
    with pytest.raises(Conflict, match=r"there is a key .* already"):
        store.add_key(dataclasses.replace(first, roles="admin"))
    revoked = dataclasses.replace(first, revoked_at=7.25)
    assert [store.revoke_key(first.id, at) for at in (7.25, 8.0)] == [revoked, revoked]
    with pytest.raises(NotFound, match="no key with the id '12345678'"):
        store.revoke_key("1234567890", 8.0)
    store.close()
    other = open_store(store_url)
    assert other.keys() == [revoked, second]
    assert other.key_counts() == (2, 1, 9.0)
    other.close()
