from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from campaign_commands import asked, new, refused, run, said

pytestmark = pytest.mark.usefixtures("in_own_folder")


def test_explain_says_why() -> None:
    new()
    made = asked()
    asked()
    found = said("campaign", "explain", "c", made["id"])
    assert (found["decision"], found["arm"]) == (1, made["arm"])
    assert run("campaign", "explain", "c", made["id"]).stdout.startswith("Decision 1: ")


def test_export_writes_decisions_or_events() -> None:
    new()
    made = asked("c", "--unit", "=u")
    run("campaign", "tell", "c", made["id"], "1")
    done = run("campaign", "export", "c", "d.csv")
    assert done.stderr == f"wrote {Path('d.csv').resolve()} (1 row)\n"
    line = Path("d.csv").read_text().splitlines()[1]
    assert line.startswith(f"{made['id']},1,{made['arm']},0.5,'=u,0,rewarded,1.0,")
    assert said("campaign", "export", "c", "e.jsonl", "--what", "events")["rows"] == 2
    kinds = [json.loads(line)["kind"] for line in Path("e.jsonl").read_text().splitlines()]
    assert kinds == ["decided", "rewarded"]
    run("campaign", "export", "c", "d.csv", "--raw-csv")
    assert ",=u," in Path("d.csv").read_text()


def test_bad_exports() -> None:
    new()
    export = ("campaign", "export", "c")
    refused(2, "FILE must end in .csv, .jsonl", *export, "a.xlsx")
    refused(2, "cannot write 'no/a.csv'", *export, "no/a.csv")
    refused(2, "--what: unknown what 'rows'", *export, "a.csv", "--what", "rows")
    assert not Path("a.csv").exists()


def test_verify_finds_what_does_not_fit() -> None:
    new()
    made = asked()
    run("campaign", "tell", "c", made["id"], "1")
    assert said("campaign", "verify", "c") == {
        "name": "c",
        "events": 2,
        "decisions": 1,
        "rewards": 1,
    }
    assert run("campaign", "verify", "c").stderr == (
        "c: 2 events, 1 decision, 1 reward; the stored sums agree\n"
    )
    with sqlite3.connect("driftanchor.db") as store:
        store.execute("UPDATE arms SET total = total + 1")
    refused(1, "the store does not match its events: total of arm", "campaign", "verify", "c")
