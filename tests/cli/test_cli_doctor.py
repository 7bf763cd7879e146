"""`driftanchor doctor`: what it prints, and how it ends."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign_commands import new, refused, run, said
from http_server import http_server
from typer.testing import CliRunner

from driftanchor import doctor
from driftanchor.cli.main import app
from driftanchor.doctor import Check
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.store import open_store

pytestmark = pytest.mark.usefixtures("in_own_folder")
STATUSES = {"fine", "missing", "problem"}


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the slow checks, and pretend that the store is on a disk with room."""

    def installation() -> Iterator[Check]:
        yield Check("python", "fine", "Python 3")
        yield Check("numba", "missing", "Numba is not installed", 'run pip install ".[fast]"')

    monkeypatch.setattr(doctor, "check_installation", installation)
    monkeypatch.setattr(doctor, "MOUNTS", tmp_path / "nothing")
    monkeypatch.setattr(doctor, "LOW_SPACE", 1)


def test_this_installation_is_sound() -> None:
    done = run("doctor", "--json")
    found = json.loads(done.stdout)
    assert set(found) == {"checks", "ok"}
    bad = [each["name"] for each in found["checks"] if each["status"] == "problem"]
    assert (bad, found["ok"], done.exit_code) == ([], True, 0), done.stdout
    for each in found["checks"]:
        assert set(each) == {"name", "status", "found", "advice"}
        assert each["status"] in STATUSES
    names = [each["name"] for each in found["checks"]]
    assert len(names) == len(set(names))
    assert {"python", "driftanchor", "numba", "cache folder"} == set(names)


@pytest.mark.usefixtures("quick")
def test_what_is_missing_is_said_and_fine() -> None:
    done = run("doctor")
    assert done.exit_code == 0
    assert "Numba is not installed" in done.stdout
    assert done.stdout.endswith('numba: run pip install ".[fast]"\n')
    assert done.stderr == "no problems; missing: 1 thing that you may not need\n"
    assert run("doctor", "--quiet").stderr == ""
    assert run("doctor", "--json").stderr == ""


@pytest.mark.usefixtures("quick")
def test_a_store_is_looked_at_and_nothing_else() -> None:
    new()
    before = {file.name: file.read_bytes() for file in Path().iterdir()}
    found = said("doctor", "--store", "driftanchor.db")
    assert found["ok"] is True, found
    assert {file.name: file.read_bytes() for file in Path().iterdir()} == before
    done = CliRunner().invoke(app, ["doctor"], env={"DRIFTANCHOR_STORE": "sqlite:///no.db"})
    assert done.exit_code == 10
    assert done.stderr == "error: 1 problem: store\n"
    assert "there is no store 'no.db'" in done.stdout
    assert {file.name: file.read_bytes() for file in Path().iterdir()} == before


@pytest.mark.usefixtures("quick")
def test_problems_end_in_code_10_and_one_line() -> None:
    done = run(
        "doctor", "--store", "postgresql://u:secret@127.0.0.1:1/x", "--url", "http://127.0.0.1:1"
    )
    assert done.exit_code == 10
    assert done.stderr == "error: 2 problems: store, server\n"
    assert "secret" not in done.output
    done = run("doctor", "--json", "--quiet", "--url", "http://127.0.0.1:1")
    assert (done.exit_code, done.stderr) == (10, "error: 1 problem: server\n")
    assert json.loads(done.stdout)["ok"] is False


@pytest.mark.usefixtures("quick")
def test_a_server_and_a_key() -> None:
    store = open_store("sqlite:///driftanchor.db")
    key, row = make_key(["decide"], now=time.time())
    store.add_key(row)
    store.close()
    Path("shop.key").write_text(f"{key}\n")
    with http_server("sqlite:///driftanchor.db") as server:
        found = said("doctor", "--url", server.url, "--key-file", "shop.key")
    (about_key,) = [each for each in found["checks"] if each["name"] == "server key"]
    assert about_key["found"].startswith("it accepts the key")
    assert key not in json.dumps(found)


@pytest.mark.usefixtures("quick")
def test_a_terminal_of_80_columns_shows_all_of_it() -> None:
    new()
    where = ["--store", "driftanchor.db", "--url", "http://127.0.0.1:1"]
    done = CliRunner().invoke(app, ["doctor", *where], env={"COLUMNS": "80"})
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "Connection" in done.stdout


@pytest.mark.usefixtures("quick")
def test_wrong_usage() -> None:
    Path("two words").write_text("no key\n")
    refused(2, "--key-file is for a server: name it with --url", "doctor", "--key-file", "x")
    refused(2, "cannot read 'x'", "doctor", "--key-file", "x", "--url", "http://127.0.0.1:1")
    refused(2, "--url must be the address of a server", "doctor", "--url", "x")
    refused(2, "--store must be a file", "doctor", "--store", "mysql://u:p@h/d")
    key = ("--key-file", "two words", "--url", "http://127.0.0.1:1")
    refused(2, "must be a key that `driftanchor keys create` printed", "doctor", *key)


def test_help_has_an_example_and_the_exit_code() -> None:
    shown = " ".join(run("doctor", "--help").stdout.split())
    assert "driftanchor doctor --store sqlite:///bandit.db" in shown
    assert "10" in shown
