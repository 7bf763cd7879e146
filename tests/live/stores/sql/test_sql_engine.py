"""Addresses of stores: what is refused, and what no message shows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from driftanchor import InvalidInput, StoreUnavailable
from driftanchor.live.stores.sql.failures import translated
from driftanchor.live.stores.sql.sql_engine import address
from driftanchor.live.stores.store import open_store

if TYPE_CHECKING:
    from conftest import RunPython

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


def test_messages_show_neither_users_nor_settings() -> None:
    url = make_url("postgresql+psycopg://SECRET:SECRET@db:5/bandit?password=SECRET")
    with pytest.raises(StoreUnavailable) as error, translated(url):
        raise SQLAlchemyError("it broke")
    assert "'postgresql+psycopg://db:5/bandit' cannot be used: it broke" in str(error.value)
    assert "SECRET" not in str(error.value)


def test_nothing_that_psycopg_says_of_a_lost_connection_is_on_stderr(
    run_python: RunPython,
) -> None:
    said = run_python(
        "import io, logging, sys\n"
        "from driftanchor.live.stores.sql.sql_engine import address, create_engine\n"
        "sys.stderr = io.StringIO()\n"
        "create_engine(address('postgresql://nobody@localhost/nothing'))\n"
        "logging.getLogger('psycopg').warning('the connection is lost')\n"
        "print(repr(sys.stderr.getvalue()))"
    )
    assert said == "''\n"


def test_names_of_usual_length_are_taken() -> None:
    assert address(f"sqlite:///some/{'x' * 200}.db").database == f"some/{'x' * 200}.db"
