"""All checks together: what is asked for is checked, and what is broken breaks no other check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from campaign_parts import create

from driftanchor import InvalidInput
from driftanchor.checkup.checks import INSTALLATION, check_all

if TYPE_CHECKING:
    from conftest import RunPython

BARE = """
import dataclasses, json, sys
for name in {names!r}:
    sys.modules[name] = None
from driftanchor.checkup.checks import check_all
print(json.dumps({{each.name: dataclasses.asdict(each) for each in check_all("store.db")}}))
"""


def test_only_what_is_named_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(str(tmp_path / "store.db")).close()
    monkeypatch.setattr("driftanchor.checkup.checks.INSTALLATION", INSTALLATION[:1])
    assert [each.name for each in check_all()] == ["python"]
    names = [each.name for each in check_all(str(tmp_path / "store.db"), "http://127.0.0.1:1")]
    assert (names[0], names[-1]) == ("python", "server")
    assert "store" in names


def test_a_mistake_in_an_address_is_told_before_the_long_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("driftanchor.checkup.checks.INSTALLATION", (pytest.fail,))
    for given in ({"store": "mysql://x"}, {"url": "x"}):
        with pytest.raises(InvalidInput):
            check_all(**given)


def test_an_installation_without_any_package_that_works(run_python: RunPython) -> None:
    """Everything but what commands need is broken: each check says so, or has nothing to say."""
    names = ["numpy", "numba", "matplotlib", "duckdb", "sqlalchemy", "psycopg", "uvicorn"]
    found = json.loads(run_python(BARE.format(names=names)))
    bad = [name for name, each in found.items() if each["status"] == "problem"]
    extras = ("fast", "plot", "logs", "live", "postgres", "serve", "cluster")
    assert bad == ["packages", *(f"extra {name}" for name in extras), "store"]
    assert {"compiling", "kernels"} & set(found) == set()
    assert 'pip install ".[live]"' in found["store"]["advice"]
