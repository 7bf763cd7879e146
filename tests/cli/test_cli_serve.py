"""What `driftanchor serve` does before it answers; the server itself is tested in `tests/serve`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from socket import socket
from typing import Any

import pytest
from campaign_commands import refused, run

from driftanchor.cli.serve import name_of
from driftanchor.serve import server as running
from driftanchor.serve.app_state import ServeSettings

LOGS = "variant,won,at\n" + "".join(
    f"{'AB'[i % 2]},{int(i % 3 == 0)},2026-01-{1 + i // 4:02d}\n" for i in range(100)
)
COLUMNS = ("--log", "last test.csv", "--arm", "variant", "--reward", "won")
pytestmark = pytest.mark.usefixtures("in_own_folder", "asked")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the server was to be; it ends as soon as it is ready."""
    found: dict[str, Any] = {}
    Path("last test.csv").write_text(LOGS)

    def ready_at_once(
        store: str,
        settings: ServeSettings,
        listening: socket,
        ready: Callable[[], None],
        stopping: Callable[[], None],
    ) -> None:
        found.update(store=store, settings=settings)
        listening.close()
        ready()
        stopping()

    monkeypatch.setattr(running, "serve_store", ready_at_once)
    return found


def test_the_first_line_is_the_address(asked: dict[str, Any]) -> None:
    done = run("serve", *COLUMNS, "--relative-bound", "0.1", "--port", "0")
    assert done.exit_code == 0, done.stderr
    first, *others = done.stdout.splitlines()
    assert first.startswith("http://127.0.0.1:")
    assert any("last-test: 0 decisions" in line for line in others)
    assert done.stderr.endswith("stopping: finishing the requests that are open\n")
    assert "no campaigns" not in done.stderr
    assert (asked["settings"].workers, asked["settings"].keys_required) == (1, False)


def test_json_is_one_line() -> None:
    bounds = ("--relative-bound", "auto", "--time", "at", "--by", "week")
    done = run("serve", *COLUMNS, *bounds, "--port", "0", "--json", "--name", "shop")
    assert done.exit_code == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert "stopping" not in done.stderr
    assert json.loads(line)["campaigns"] == ["shop"]
    again = run("serve", *COLUMNS, *bounds, "--port", "0", "--json", "--name", "shop")
    assert json.loads(again.stdout)["campaigns"] == ["shop"]


def test_a_store_is_served_as_it_is(asked: dict[str, Any]) -> None:
    done = run("serve", "--port", "0", "--workers", "3", "--store", "sqlite:///other.db")
    assert done.exit_code == 0, done.stderr
    assert asked["settings"].workers == 3
    assert asked["store"] == "sqlite:///other.db"
    assert done.stderr.startswith(
        "the store has no campaigns yet: create one with 'driftanchor campaign create', or start "
        "with --log\n"
    )


def test_programs_and_quiet_people_are_spared_the_messages() -> None:
    for words in (("--json",), ("--quiet",)):
        assert run("serve", "--port", "0", *words).stderr == ""


def test_a_port_that_is_taken_leaves_no_store_behind() -> None:
    with contextlib.closing(running.listen("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        message = f"error: cannot listen on 127.0.0.1, port {port}: Address already in use. Is"
        refused(2, message, "serve", *COLUMNS, "--bias-bound", "0.1", "--port", port)
        refused(2, message, "serve", "--port", port)
    assert [file.name for file in Path().iterdir()] == ["last test.csv"]


@pytest.mark.parametrize(
    ("code", "message", "words"),
    [
        (2, "--port must be between 0 and 65535", ("--port", "70000")),
        (2, "--workers must be between 1 and 256", ("--workers", "0")),
        (2, "can be reached from other machines", ("--host", "0.0.0.0")),
        (2, "--host must be an address of this machine", ("--host", "a b")),
        (2, "--bias-bound is missing", (*COLUMNS, "--port", "0")),
        (2, "nowhere.csv", ("--log", "nowhere.csv", "--arm", "a", "--reward", "b")),
    ],
)
def test_what_is_refused(code: int, message: str, words: tuple[str, ...]) -> None:
    refused(code, message, "serve", *words)


def test_another_campaign_of_the_name_is_a_conflict() -> None:
    run("serve", *COLUMNS, "--bias-bound", "0.1", "--port", "0")
    words = (*COLUMNS, "--bias-bound", "0.2", "--port", "0")
    refused(4, "another --bias-bound", "serve", *words)


def test_the_name_of_a_file_becomes_that_of_a_campaign() -> None:
    assert name_of(["/data/Ads 2025 (final).parquet"]) == "Ads-2025-final"
    assert name_of(["é.csv"]) == "campaign"


def test_rows_that_were_not_used_are_told() -> None:
    Path("last test.csv").write_text(LOGS * 3 + "A,,2026-01-02\n")
    options = ("--relative-bound", "0.1", "--port", "0", "--allow-rejects")
    done = run("serve", *COLUMNS, *options, "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[0])
    lost = {"line_repeats_header": 2, "reward_missing": 1}
    assert (told["rows_read"], told["rows_rejected"]) == (303, lost)
    sentence = "3 of 303 rows were not used: 2 that repeat the column names, 1 without a reward"
    assert f"note: {sentence}\n" in done.stderr
