"""However a store is damaged, that is one clear error."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import Clock, asked, create
from typer.testing import CliRunner

from driftanchor import Campaign, OfflineData, UnreadableState
from driftanchor.cli.main import app
from driftanchor.live.stores.damage import parsed, reads_store

ARM_NUMBERS = ("decisions", "pulls", "total", "squares", "pending", "added_seq", "distrusted_seq")
DAMAGE = [
    "UPDATE arms SET memory = 'zz'",
    "UPDATE arms SET memory = '{}'",
    "UPDATE arms SET added = 'zz'",
    "UPDATE arms SET added = '{}' WHERE arm = 2",
    'UPDATE arms SET added = \'{"label": 5, "offline": 7}\' WHERE arm = 2',
    "UPDATE events SET detail = 'zz'",
    "UPDATE watches SET record = 'zz'",
    "UPDATE watches SET record = '{}'",
    "UPDATE watches SET record = '5'",
    "DELETE FROM traffic",
    "UPDATE traffic SET expected = x'00'",
    "UPDATE traffic SET expected = zeroblob(8000)",
    "UPDATE events SET arm = 99 WHERE arm IS NOT NULL",
    "UPDATE events SET kind = 'x'",
    "UPDATE arms SET added_seq = added_seq + 1",
    "UPDATE request_keys SET decisions = '[\"unknown\"]'",
    "UPDATE request_keys SET decisions = 'zz'",
    "UPDATE decisions SET arm = 99",
    "UPDATE campaigns SET settings = 'zz'",
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A store that is not damaged yet, and the last decision in it."""
    path = tmp_path_factory.mktemp("whole") / "store.db"
    offline = OfflineData.from_summary({"A": (9, 0.5, 0.25), "B": (9, 0.5, 0.25)})
    options: dict[str, Any] = {"offline": offline, "bias_bound": 0.1, "reward_range": (0, 1)}
    with Campaign.create(
        "c", store=f"sqlite:///{path}", clock=Clock(), seed=1, reward_window=60.0, **options
    ) as campaign:
        first = asked(campaign, "u", key="k")
        campaign.tell(first, 0.5)
        campaign.add_arm("C", (5, 0.5, 0.25), 0.1)
        last = asked(campaign, "v")
        campaign.status()
    assert not path.with_name("store.db-wal").exists()  # all is in one file
    return path, last


@pytest.mark.parametrize("change", DAMAGE)
def test_damage_is_an_error_of_ours(change: str, tmp_path: Path, whole: tuple[Path, str]) -> None:
    path, last = tmp_path / "store.db", whole[1]
    shutil.copy(whole[0], path)
    address = f"sqlite:///{path}"
    with sqlite3.connect(path) as connection:
        assert connection.execute(change).rowcount > 0
    connection.close()
    calls: list[Callable[[Campaign], object]] = [
        lambda x: x.verify(),
        lambda x: x.history(),
        lambda x: x.status(),
        lambda x: x.explain(last),
        lambda x: x.tell(last, 1.0),
        lambda x: x.ask("v"),
        lambda x: x.ask("u", key="k"),
        lambda x: x.export(tmp_path / "out.csv"),
        lambda x: x.export(tmp_path / "out.csv", "events"),
    ]
    found: list[str] = []
    for call in calls:
        try:
            with Campaign.load("c", store=address, clock=Clock()) as loaded:
                call(loaded)
        except UnreadableState as error:
            found.append(str(error))
    assert found


def test_commands_report_damage(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    create(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE arms SET memory = 'zz'")
    connection.close()
    for words in (["campaign", "show", "c"], ["campaign", "verify", "c"], ["store", "verify"]):
        result = CliRunner().invoke(app, [*words, "--store", f"sqlite:///{path}"])
        assert result.exit_code == 1
        assert "the store is damaged: 'zz' is no JSON; restore a backup" in result.stderr
        assert isinstance(result.exception, SystemExit)


def test_errors_of_other_kinds_are_named_and_those_of_ours_stay() -> None:
    @reads_store
    def failing(error: Exception) -> None:
        raise error

    with pytest.raises(UnreadableState, match="damaged: KeyError, 'label'; restore a backup"):
        failing(KeyError("label"))
    with pytest.raises(UnreadableState, match=r"^too new$"):
        failing(UnreadableState("too new"))
    with pytest.raises(OSError, match="disk"):
        failing(OSError("disk"))
    with pytest.raises(UnreadableState, match="'zz' is no JSON"):
        parsed("zz", dict)
    with pytest.raises(UnreadableState, match=r"'\[5\]' is no dict"):
        parsed("[5]", dict)
    assert parsed("[5]", list) == [5]


WRONG_TYPES = [
    *(f"UPDATE arms SET {name} = 'x'" for name in ARM_NUMBERS),
    "UPDATE events SET arm = 'x' WHERE arm IS NOT NULL",
    "UPDATE events SET value = 'x' WHERE value IS NOT NULL",
    "UPDATE decisions SET propensity = 'x'",
    "UPDATE heads SET seq = 'x'",
    "UPDATE campaigns SET settings = x'00'",
    "UPDATE history SET total = 'x'",
]


@pytest.mark.parametrize("change", WRONG_TYPES)
def test_sqlite_refuses_values_of_other_types(change: str, whole: tuple[Path, str]) -> None:
    with (
        contextlib.closing(sqlite3.connect(whole[0])) as connection,
        pytest.raises(sqlite3.IntegrityError, match="cannot store"),
    ):
        connection.execute(change)
