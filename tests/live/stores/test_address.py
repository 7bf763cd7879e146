from __future__ import annotations

import os
from pathlib import Path

import pytest

from driftanchor import InvalidInput
from driftanchor.live.stores.address import missing_folder, parse_address
from driftanchor.live.stores.store import open_store

REFUSED = [
    "sqlite://user:SECRET@host",
    "sqlite://user:SECRET@host/x.db",
    "sqlite:///x.db?timeout=SECRET",
    "sqlite:///x.db?mode=ro&uri=true",
    "sqlite:///x.db?foo=",
    "sqlite:///a\0b.db",
    "sqlite:///a%00b.db",
    pytest.param(f"sqlite:///{'x' * 300}.db", id="long name"),
    pytest.param(f"sqlite:///{'x/' * 2_500}x.db", id="long path"),
    "sqlite://",
    "sqlite:///",
    "sqlite:x.db",
    "sqlite:///:memory:",
]


@pytest.mark.parametrize("text", REFUSED)
def test_an_sqlite_address_is_the_name_of_a_file(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="must name a file") as error:
        open_store(text)
    assert error.value.argument == "store"
    assert "SECRET" not in str(error.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "address",
    [
        "mysql://SECRET@x/y",
        "postgresql+asyncpg://SECRET@x",
        "postgresql://SECRET@x/y?no_such_setting=1",
        "",
    ],
)
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="store must") as error:
        open_store(address)
    assert "SECRET" not in str(error.value)
    with pytest.raises(InvalidInput, match="store must be an address"):
        open_store(7)  # type: ignore[arg-type]


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_messages_show_neither_users_nor_settings(scheme: str) -> None:
    address = parse_address(f"{scheme}://SECRET:SECRET@db:5/bandit?password=SECRET")
    assert address.name == "the store 'postgresql://db:5/bandit'"
    assert address.parameters["password"] == "SECRET"
    socket = parse_address(f"{scheme}://me@/bandit?host=/run/postgresql")
    assert socket.name == "the store 'postgresql:///bandit'"


def test_names_of_usual_length_are_taken() -> None:
    file = parse_address(f"sqlite:///some/{'x' * 200}%20y.db").file
    assert file == Path(f"some/{'x' * 200} y.db")
    assert parse_address("C:\\bandit.db").file is not None


def test_a_folder_that_cannot_be_read_is_not_reported_as_missing(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert missing_folder(file / "folder" / "store.db") is None
    assert missing_folder(file) is None
    assert "does not exist: make it" in str(missing_folder(tmp_path / "no" / "store.db"))
