"""Decisions of the past come out as they did, from the last snapshot before them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from campaign_parts import create

from driftanchor import Campaign, GuardedAnchorTS, OfflineData, UnreadableState
from driftanchor.live.campaigns import batch


def test_any_old_decision_is_explained(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Across snapshots, new, paused and distrusted arms, excluded ones and floors."""
    monkeypatch.setattr(batch, "MIN_BETWEEN_SNAPSHOTS", 7)
    logs = OfflineData.from_summary({"A": (50, 0.5, 0.25), "B": (50, 0.6, 0.25)})
    campaign = Campaign.create(
        "c",
        offline=logs,
        bias_bound=0.1,
        policy=GuardedAnchorTS(noise=0.5),
        floor=0.1,
        reward_range=(0, 1),
        seed=3,
        store=store_url,
    )
    made = []
    changes = {
        5: lambda: campaign.add_arm("C", (9, 0.7), 0.2),
        10: lambda: campaign.pause_arm("A"),
        15: lambda: campaign.distrust_arm("B"),
        20: lambda: campaign.restore_arm("A"),
        25: lambda: campaign.archive_arm("C"),
    }
    for i in range(30):
        changes.get(i, lambda: None)()
        decision = campaign.ask(exclude=["B"] if i % 7 == 3 else [])
        made.append(decision)
        if i % 3:
            campaign.tell(str(decision.id), float(i % 2))
    with campaign.store.reading(campaign._row.id) as reader:
        assert reader.counters.snapshot > 40
        assert reader.snapshot(20) is not None
    for decision in made:
        explained = campaign.explain(str(decision.id))
        assert (explained.arm, explained.decision) == (decision.arm, decision.number)
    assert any("for its floor" in campaign.explain(str(x.id)).reason for x in made)
    status = campaign.status()
    assert (status.arms["B"].logs_count, status.arms["A"].logs_count) == (False, True)
    campaign.verify()
    campaign.close()


def test_a_decision_that_comes_out_otherwise_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    campaign = create(f"sqlite:///{path}")
    decision = campaign.ask()
    campaign.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE decisions SET arm = (arm + 1) % 3")
    connection.close()
    with pytest.raises(UnreadableState, match="the store was changed, or the policy is a diff"):
        campaign.explain(str(decision.id))
    campaign.close()
