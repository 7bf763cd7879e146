"""A short run of what `make torture` does to servers: nothing may be lost or doubled."""

from __future__ import annotations

from pathlib import Path

from benchmarks.torture import serve_bytes
from benchmarks.torture.serve_cases import fuzz
from benchmarks.torture.serve_kills import torture


def test_a_server_may_be_killed(store_url: str) -> None:
    outcome = torture(store_url, kills=5, between=30)
    assert (outcome.lost, outcome.doubled) == ([], 0)
    assert outcome.kills == 5
    assert outcome.acknowledged >= 150
    assert 0 < outcome.rewards <= outcome.decisions


def test_wrong_bytes_are_refused() -> None:
    outcome = serve_bytes.run(60)
    assert (outcome.cases, outcome.failures) == (60, ())


def test_requests_of_the_document_are_answered_as_documented(tmp_path: Path) -> None:
    found = fuzz(f"sqlite:///{tmp_path / 'store.db'}", each=5)
    assert found.failures == ()
    assert found.cases > 100
