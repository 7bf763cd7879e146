from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign_parts import create

from driftanchor.live.stores.access_keys import digest, make_key
from driftanchor.live.stores.store import Store, open_store
from driftanchor.serve.page.share import ShareBody, shared_key
from driftanchor.serve.problem import Problem


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.close()


def test_the_key_of_a_link_reads_and_ends(store: Store) -> None:
    store.add_key(make_key(["admin"], now=5.0)[1])
    create(store, "c")
    found = shared_key(store, ShareBody(campaign="c", hours=2.0), now=1_000.0)
    row = {row.id: row for row in list(store.keys())}[found["id"]]
    assert (row.roles, row.campaign) == ("read", "c")
    assert row.sha256 == digest(found["key"])
    assert (row.state(1_000.0), row.state(found["expires"])) == ("active", "expired")
    assert found["expires"] == 1_000.0 + 2 * 3_600.0


def test_a_link_is_never_the_first_key(store: Store) -> None:
    with pytest.raises(Problem, match="lock you out"):
        shared_key(store, ShareBody(campaign="c"), now=0.0)
    assert list(store.keys()) == []
