"""A reading that takes too much memory is stopped."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from driftanchor import DriftanchorError
from driftanchor.logs import memory_guard, sandbox
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.memory_guard import MemoryGuard, resident


def test_the_process_knows_its_memory() -> None:
    before = resident()
    block = bytearray(b"x" * 50_000_000)
    assert 45_000_000 < resident() - before < 500_000_000
    assert len(block) == 50_000_000


def test_growth_beyond_the_limit_stops_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_guard, "SPARE", 10_000_000)
    stopped = threading.Event()
    with MemoryGuard("20MB", stopped.set):
        block = bytearray(b"x" * 60_000_000)
        assert stopped.wait(60)
    assert block


def test_duckdb_stops_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_guard, "SPARE", 10_000_000)
    with sandbox.connect([], "4GB") as connection:  # DuckDB itself would go on
        numbers = "SELECT list(i || repeat('x', 100)) FROM range(20_000_000) AS t(i)"
        with (
            pytest.raises(
                DriftanchorError, match=r"'a\.csv' needs more memory than 50MB: allow more"
            ),
            sandbox.naming_logs([LogFile("a.csv", Path("a.csv"), "csv", "")], "50MB"),
            MemoryGuard("50MB", connection.interrupt),
        ):
            connection.execute(numbers).fetchall()


def test_two_readings_may_use_what_both_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_guard, "SPARE", 10_000_000)
    monkeypatch.setattr(memory_guard, "EVERY", 0.001)
    calls: list[str] = []
    looks = threading.Semaphore(0)

    def look() -> int:
        looks.release()
        return resident()

    monkeypatch.setattr(memory_guard, "resident", look)
    with (
        MemoryGuard("1GB", lambda: calls.append("first")),
        MemoryGuard("1MB", lambda: calls.append("second")),
    ):
        block = bytearray(b"x" * 60_000_000)
        for _ in range(20):
            assert looks.acquire(timeout=60)
    assert (calls, len(block)) == ([], 60_000_000)
