from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from campaign_parts import create

from driftanchor.errors import StoreMismatch
from driftanchor.live.stores.sql import care
from driftanchor.live.stores.sql.schema import REVISION


def test_upgrade_changes_nothing_that_is_up_to_date(store_url: str) -> None:
    create(store_url).close()
    assert care.upgrade(store_url) == (REVISION, REVISION)
    assert care.damage(store_url) == []


def test_upgrade_refuses_what_is_newer(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    create(f"sqlite:///{file}").close()
    with sqlite3.connect(file) as store:
        store.execute("UPDATE driftanchor_version SET version_num = '9999'")
    with pytest.raises(StoreMismatch, match="9999"):
        care.upgrade(f"sqlite:///{file}")


def test_damage_in_the_file_is_found(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    campaign = create(f"sqlite:///{file}")
    campaign.ask(n=300)
    campaign.close()
    with sqlite3.connect(file) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = store.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'events'"
        ).fetchone()
    content = bytearray(file.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    start = (page - 1) * size
    content[start : start + size] = b"\xff" * size
    file.write_bytes(content)
    found = care.damage(f"sqlite:///{file}")
    assert found
    assert all(line.startswith("the file is damaged: ") for line in found)
