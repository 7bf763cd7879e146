"""A store whose file is replaced by another one while a campaign is open."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign_parts import create

from driftanchor import Campaign, Conflict, NotFound
from driftanchor.live.stores.sql.copying import backup
from driftanchor.live.stores.sql.sql_store import SqlStore, open_sql


def replace(store: SqlStore, by: Path) -> None:
    file = Path(str(store.url.database))
    for ending in ("-wal", "-shm"):
        Path(f"{file}{ending}").unlink(missing_ok=True)
    by.replace(file)


def other_store(folder: Path, name: str, **options: object) -> Path:
    """A store in one file, whose only campaign has the number 1."""
    store = open_sql(f"sqlite:///{folder / 'made.db'}")
    create(store, name, **options).ask(n=5)
    backup(store, folder / "other.db")
    store.close()
    return folder / "other.db"


@pytest.mark.parametrize(
    ("name", "options", "error"),
    [
        ("d", {}, NotFound),
        ("c", {"seed": 2}, Conflict),
        ("c", {"floor": 0.1}, Conflict),
    ],
)
def test_another_campaign_of_the_same_number_is_left_alone(
    tmp_path: Path, name: str, options: dict[str, object], error: type[Exception]
) -> None:
    store = open_sql(f"sqlite:///{tmp_path / 'store.db'}")
    campaign = create(store)
    decision = campaign.ask()
    replace(store, other_store(tmp_path, name, **options))
    for _ in range(2):
        with pytest.raises(error, match="was replaced"):
            campaign.ask()
        with pytest.raises(error, match="was replaced"):
            campaign.tell(str(decision.id), 1.0)
        with pytest.raises(error, match="was replaced"):
            campaign.status()
    assert Campaign.load(name, store=store).verify().decisions == 5
    with pytest.raises(error, match="was replaced"):
        campaign.ask()
    store.close()


def test_a_campaign_goes_on_in_its_own_backup(tmp_path: Path) -> None:
    store = open_sql(f"sqlite:///{tmp_path / 'store.db'}")
    campaign = create(store)
    campaign.ask()
    backup(store, tmp_path / "kept.db")
    campaign.ask()
    replace(store, tmp_path / "kept.db")
    assert campaign.ask().number == 2
    assert campaign.verify().decisions == 2
    store.close()
