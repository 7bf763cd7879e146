from __future__ import annotations

import asyncio

import pytest

from driftanchor import Decision, NotFound
from driftanchor.serve import owners
from driftanchor.serve.owners import Owners


def test_the_last_decisions_are_known_by_heart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owners, "MOST_KNOWN", 2)
    asked: list[str] = []

    async def find(decision_id: str) -> str | None:
        asked.append(decision_id)
        return {"1": "old"}.get(decision_id)

    known = Owners(find)
    known.note("c", [Decision(str(i), "A", 1.0, False, "c", i) for i in (1, 2, 3)])
    assert [asyncio.run(known.of(x)) for x in ("1", "2", "3")] == ["old", "c", "c"]
    assert asked == ["1"]
    with pytest.raises(NotFound, match="no such decision"):
        asyncio.run(known.of("4"))
