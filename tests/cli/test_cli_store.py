from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest
from campaign_commands import asked, new, refused, run, said
from store_addresses import postgres_address

pytestmark = pytest.mark.usefixtures("in_own_folder")


def test_a_backup_is_the_store_at_one_moment() -> None:
    new()
    made = asked()
    done = run("store", "backup", "copy.db")
    assert done.exit_code == 0
    assert done.stderr == "wrote copy.db (1 campaign)\n"
    asked()
    copy = ("--store", "sqlite:///copy.db")
    assert said("campaign", "show", "c", *copy)["decisions"] == 1
    assert said("campaign", "explain", "c", made["id"], *copy)["arm"] == made["arm"]
    refused(2, "FILE 'copy.db' is there already: name a new one", "store", "backup", "copy.db")
    refused(2, "cannot write 'no/copy.db'", "store", "backup", "no/copy.db")
    assert not [name for name in os.listdir() if name.startswith(".driftanchor")]


def test_from_one_kind_of_store_to_another(postgres: str) -> None:
    new()
    made = asked()
    there = ("--store", postgres_address(postgres))
    assert said("store", "copy", there[1]) == {"campaigns": 1}
    assert said("campaign", "explain", "c", made["id"], *there)["arm"] == made["arm"]
    assert asked("c", *there)["number"] == 2
    refused(4, "the store to copy to has campaigns or keys already", "store", "copy", there[1])
    assert said("store", "backup", "copy.db", *there) == {"file": "copy.db", "campaigns": 1}
    assert said("campaign", "show", "c", "--store", "sqlite:///copy.db")["decisions"] == 2
    assert said("store", "verify", *there)["damage"] == []


def test_upgrade_says_that_there_is_nothing_to_do() -> None:
    new()
    found = said("store", "upgrade")
    assert found["before"] == found["after"]
    assert run("store", "upgrade").stderr.startswith("the store is up to date: version ")


def test_a_store_of_another_version_is_refused_with_the_remedy() -> None:
    new()
    with sqlite3.connect("driftanchor.db") as store:
        store.execute("UPDATE driftanchor_version SET version_num = '9999'")
    message = "use the driftanchor that wrote it, or a newer one"
    for words in (("campaign", "list"), ("store", "upgrade"), ("store", "verify")):
        refused(5, message, *words)


def test_verify_looks_at_every_campaign_and_at_the_file() -> None:
    new("a")
    new("b")
    asked("b")
    assert set(said("store", "verify")["campaigns"]) == {"a", "b"}
    assert run("store", "verify").stderr == "2 campaigns verified; the stored sums agree\n"
    with sqlite3.connect("driftanchor.db") as store:
        store.execute("UPDATE arms SET decisions = 7 WHERE campaign_id = 2 AND arm = 0")
    refused(1, "campaign 'b': the store does not match its events", "store", "verify")
    done = run("store", "verify", "--json")
    assert done.exit_code == 1
    assert "error" in json.loads(done.stdout)["campaigns"]["b"]


@pytest.mark.parametrize(
    "words", [("upgrade",), ("verify",), ("backup", "a.db"), ("copy", "sqlite:///b.db")]
)
def test_a_store_that_is_not_there(words: tuple[str, ...]) -> None:
    refused(5, "there is no store 'driftanchor.db'", "store", *words)
    assert not list(Path().iterdir())


def test_a_server_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftanchor.live.stores.postgres.OPENING", 0.0)
    address = "postgresql://u:secret@/d?host=/nowhere"
    done = run("campaign", "list", "--store", address)
    assert (done.exit_code, done.stdout) == (5, "")
    assert "cannot be reached" in done.stderr
    assert "secret" not in done.stderr
