from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from driftanchor.cli.main import app
from driftanchor.cli.policies import known, markdown_table
from driftanchor.policies import POLICIES, make


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_the_table_is_complete_and_nothing_is_cut_in_a_pipe() -> None:
    done = invoke("policies")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "…" not in done.stdout
    lines = done.stdout.splitlines()
    assert all(line == line.rstrip() for line in lines)
    for name, cls in POLICIES.items():
        for fact in (name, cls.__name__, cls.formula, cls.source):
            assert any(fact in line for line in lines), fact
        for field in dataclasses.fields(cls):
            assert f"{field.name}=" in done.stdout


def test_json_holds_what_makes_each_policy() -> None:
    done = invoke("policies", "--json")
    listed = json.loads(done.stdout)["policies"]
    assert (done.exit_code, done.stderr, list(listed)) == (0, "", list(POLICIES))
    for name, facts in listed.items():
        policy = make(name)
        assert facts["parameters"] == policy.parameters()
        assert facts["class"] == type(policy).__name__
        assert (facts["formula"], facts["source"]) == (policy.formula, policy.source)
        assert facts["summary"]


def test_markdown_is_a_table_with_a_row_for_each_policy() -> None:
    done = invoke("policies", "--markdown")
    assert (done.exit_code, done.stdout) == (0, markdown_table(known()) + "\n")
    rows = done.stdout.splitlines()
    assert len(rows) == 2 + len(POLICIES)
    assert {row.replace("\\|", "").count("|") for row in rows} == {6}
    assert "`radius=ucb1`" in done.stdout
    assert "`epsilon=none`" in done.stdout


@pytest.mark.parametrize("name", list(POLICIES))
def test_listed_defaults_can_be_typed(name: str) -> None:
    row = next(
        row for row in markdown_table(known()).splitlines() if row.startswith(f"| `{name}` ")
    )
    typed = row.split(" | ")[3].replace("`", "").replace(" ", "")
    arguments = ["--engine", "interpreted", "--horizon", "3", "--runs", "1", "--json"]
    arguments += ["--reward", "bernoulli"]  # which every policy takes
    done = invoke("simulate", "--policy", f"{name}:{typed}", *arguments)
    assert json.loads(done.stdout)["parameters"][name] == {
        "policy": name,
        **make(name).parameters(),
    }


def test_one_format_at_a_time() -> None:
    done = invoke("policies", "--json", "--markdown")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "error: --json and --markdown are both given: choose one\n"


def test_policies_of_installed_packages_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "listed_rule.py").write_text(
        "from driftanchor import TS\nclass Mine(TS):\n    'Mine alone.'\n    name = 'mine'\n"
    )
    folder = tmp_path / "some_rules-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: some-rules\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[driftanchor.policies]\nmine = listed_rule:Mine\nlost = nix:Lost\nts = nix:Lost\n"
    )
    listed = json.loads(invoke("policies", "--json").stdout)["policies"]
    assert list(listed) == [*POLICIES, "lost", "mine"]
    assert (listed["mine"]["class"], listed["mine"]["summary"]) == ("Mine", "Mine alone.")
    assert listed["mine"]["package"] == listed["lost"]["package"] == "some-rules"
    assert "cannot be loaded: 'nix:Lost': there is no module 'nix'" in listed["lost"]["summary"]
    assert "package some-rules" in invoke("policies").stdout
    assert "| `mine` | `Mine` |" in invoke("policies", "--markdown").stdout
