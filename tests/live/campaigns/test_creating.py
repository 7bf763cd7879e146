"""Creating campaigns, and loading those that are the same."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import create

from driftanchor import (
    UCB,
    ArtificialReplay,
    Campaign,
    Conflict,
    InvalidInput,
    NotFound,
    OfflineData,
    Store,
)


def test_a_campaign_is_loaded_if_it_is_the_same(store: Store) -> None:
    first = create(store)
    first.ask()
    again = create(store, if_exists="load", seed=None)
    assert again.status().decisions == 1
    assert again.terms.seed == 1
    with pytest.raises(Conflict, match="there is a campaign 'c' already"):
        create(store)
    with pytest.raises(Conflict, match="with another floor, policy, seed"):
        create(store, if_exists="load", policy=UCB(), floor=0.1, seed=2)
    with pytest.raises(NotFound, match="there is no campaign 'd'; there are: c"):
        Campaign.load("d", store=store)


def test_the_same_logs_read_again_are_the_same(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    path.write_text("arm,won\n" + "A,1\nB,0\nA,0\nB,1\nB,0\nA,1\n" * 20)
    logs = OfflineData.from_logs(path, arm="arm", reward="won")
    assert logs.provenance is not None
    earlier = dataclasses.replace(logs.provenance, read_at="2001-01-01T00:00:00Z")
    before = dataclasses.replace(logs, provenance=earlier)
    assert before != logs
    promised: Any = {"relative_bound": 0.1, "reward_range": (0, 1), "store": store}
    Campaign.create("c", offline=before, **promised)
    Campaign.create("c", offline=logs, if_exists="load", **promised)


def test_names_are_safe() -> None:
    wrong: list[Any] = ["", "../x", "a b", "'; DROP", "a\0", "ä", "x" * 129, "-a", None]
    for name in wrong:
        with pytest.raises(InvalidInput, match="name must start with a letter"):
            create("nowhere", name)


LOGS = OfflineData.from_summary({x: (1_000, 0.5, 0.25) for x in "ABC"})


def test_a_policy_that_is_not_made_for_live_use_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInput, match=r"'artificial-replay' is not made for campaigns: .*min"):
        Campaign.create(
            "slow", store=store, offline=LOGS, bias_bound=0.1, policy=ArtificialReplay()
        )
    assert store.names() == []


def test_a_stored_campaign_with_such_a_policy_decides_nothing_and_still_learns(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier versions created such campaigns; its asks took minutes and held up all others."""
    with monkeypatch.context() as earlier:
        earlier.setattr(ArtificialReplay, "not_live", None)
        few = OfflineData.from_summary({x: (1, 0.5) for x in "AB"})
        policy = ArtificialReplay(noise=0.5)
        old = Campaign.create("old", store=store, offline=few, bias_bound=0.1, policy=policy)
        decision = old.ask("ann")
    loaded = Campaign.load("old", store=store)
    for options in ({}, {"peek": True}, {"unit": "bob"}):
        with pytest.raises(Conflict, match=r"not made for live use: .* another policy"):
            loaded.ask(**options)
    assert loaded.ask("ann").id == decision.id
    assert loaded.tell(str(decision.id), 1.0).status == "recorded"
    assert loaded.verify().rewards == 1
