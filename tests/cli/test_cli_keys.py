from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import typer
from campaign_commands import refused, run, said

from driftanchor.cli.main import app

pytestmark = pytest.mark.usefixtures("in_own_folder")
LONG = "a" * 201


def test_a_key_is_printed_once_and_kept_nowhere() -> None:
    done = run("keys", "create", "--role", "reward", "--role", "decide", "--note", "shop")
    assert done.exit_code == 0, done.stderr
    key = done.stdout.rstrip("\n")
    assert re.fullmatch("da_decide_reward_[0-9a-f]{48}", key)
    assert "created the store 'driftanchor.db'" in done.stderr
    assert "(decide, reward); save it now" in done.stderr
    assert "this is the first key: from now on, servers" in done.stderr
    (listed,) = said("keys", "list")["keys"]
    assert listed["id"] == key[-48:-40]
    assert (listed["roles"], listed["state"], listed["note"]) == (
        ["decide", "reward"],
        "active",
        "shop",
    )
    table = run("keys", "list").stdout
    assert all(word in table for word in (listed["id"], "decide reward", "active", "shop"))
    secret = key[-40:]
    assert secret not in done.stderr + table + json.dumps(listed)
    with sqlite3.connect("driftanchor.db") as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (kept,) = store.execute("SELECT sha256 FROM api_keys").fetchone()
    assert kept == hashlib.sha256(key.encode()).hexdigest()
    for file in Path().iterdir():
        assert secret.encode() not in file.read_bytes()


def test_a_key_expires_and_is_revoked_by_its_id_or_itself() -> None:
    first = said("keys", "create", "--role", "read", "--expires", "2d")
    assert first["expires_at"] == pytest.approx(first["created_at"] + 2 * 86_400)
    done = run("keys", "create", "--role", "admin", "--expires", "1e-6")
    assert ", works until " in done.stderr
    assert "first key" not in done.stderr
    second = done.stdout.rstrip("\n")
    assert [key["state"] for key in said("keys", "list")["keys"]] == ["active", "expired"]
    revoked = said("keys", "revoke", first["id"])
    assert (revoked["id"], revoked["state"]) == (first["id"], "revoked")
    assert "key" not in revoked
    again = run("keys", "revoke", second)
    assert (again.exit_code, again.stdout) == (0, "")
    assert again.stderr == f"key {second[-48:-40]} is revoked\n"
    assert said("keys", "revoke", first["id"])["revoked_at"] == revoked["revoked_at"]
    assert run("keys", "revoke", first["id"], "--quiet").stderr == ""


def test_a_key_may_be_for_one_campaign() -> None:
    made = run("campaign", "create", "checkout", "--arms", "A,B")
    assert made.exit_code == 0, made.stderr
    key = said("keys", "create", "--role", "read", "--campaign", "checkout")
    assert key["campaign"] == "checkout"
    assert said("keys", "list")["keys"][0]["campaign"] == "checkout"
    assert "checkout" in run("keys", "list").stdout


READ = ("create", "--role", "read")
REFUSED: list[tuple[int, str, tuple[str, ...]]] = [
    (2, "Missing option '--role'", ("create",)),
    (2, "did you mean 'reward'?", ("create", "--role", "rewards")),
    (2, "--expires must be seconds, or a number", (*READ, "--expires", "x")),
    (2, "--expires must be longer than 0", (*READ, "--expires", "0")),
    (2, "--expires must be longer than 0", (*READ, "--expires", "1e9d")),
    (2, "--note must be at most 200", (*READ, "--note", LONG)),
    (2, "--campaign is only for keys", ("create", "--role", "admin", "--campaign", "c")),
    (3, "there is no campaign 'nope'", (*READ, "--campaign", "nope")),
    (3, "there is no key with the id '12345678'", ("revoke", "12345678")),
    (3, "there is no key with the id '12345678'", ("revoke", f"da_read_12345678{'0' * 40}")),
]


def test_what_is_refused() -> None:
    said("keys", *READ)
    for code, message, words in REFUSED:
        refused(code, message, "keys", *words)
    assert [key["state"] for key in said("keys", "list")["keys"]] == ["active"]


@pytest.mark.parametrize("words", [("list",), ("revoke", "12345678")])
def test_a_store_that_is_not_there(words: tuple[str, ...]) -> None:
    refused(5, "there is no store 'driftanchor.db'", "keys", *words)
    assert not list(Path().iterdir())


def test_a_refused_key_makes_no_store() -> None:
    refused(2, "unknown role", "keys", "create", "--role", "root")
    assert not list(Path().iterdir())


def test_damaged_keys_are_found_by_verify() -> None:
    said("keys", "create", "--role", "read")
    with sqlite3.connect("driftanchor.db") as store:
        store.execute("UPDATE api_keys SET roles = 'root'")
    refused(1, "keys: the store is damaged: a key has the roles 'root'", "store", "verify")


def test_a_server_that_others_can_reach_needs_a_key() -> None:
    message = "--host '0.0.0.0' can be reached from other machines, and the store has no key"
    refused(2, message, "serve", "--host", "0.0.0.0")
    assert not list(Path().iterdir())
    said("keys", "create", "--role", "admin", "--expires", "1e-6")
    key = said("keys", "create", "--role", "admin")
    said("keys", "revoke", key["id"])
    refused(2, message, "serve", "--host", "0.0.0.0", "--arms", "A,B")
    assert said("campaign", "list") == {"campaigns": []}
    refused(2, "--rate-limit must be greater than 0", "serve", "--rate-limit", "0")


def test_no_command_takes_a_key_so_none_is_in_the_list_of_processes() -> None:
    found = set()
    groups: list[tuple[str, Any]] = [("", typer.main.get_command(app))]
    while groups:
        path, group = groups.pop()
        for name, command in getattr(group, "commands", {}).items():
            groups.append((f"{path} {name}".strip(), command))
        found |= {(path, x.name) for x in group.params if re.search("key|secret|token", x.name)}
    # The first is the key of a request, the second takes ids, and the third the name of a file.
    assert found == {("campaign ask", "key"), ("keys revoke", "key"), ("doctor", "key_file")}
