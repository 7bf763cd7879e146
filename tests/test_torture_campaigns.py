"""A short run of what `make torture` does to campaigns: nothing may be lost or doubled."""

from __future__ import annotations

from pathlib import Path

from store_addresses import postgres_address

from benchmarks.torture.campaign_crowd import crowd
from benchmarks.torture.campaign_kills import Outcome, compare, torture
from benchmarks.torture.campaign_writer import NAME
from benchmarks.torture.postgres import running
from driftanchor import Campaign


def fine(outcome: Outcome, kills: int) -> None:
    assert (outcome.lost, outcome.doubled) == ([], 0)
    assert outcome.kills == kills
    assert outcome.acknowledged >= 30 * kills
    assert 0 < outcome.rewards <= outcome.decisions


def test_writers_of_sqlite_may_be_killed(tmp_path: Path) -> None:
    fine(torture(f"sqlite:///{tmp_path / 'store.db'}", kills=5, between=30), 5)


def test_writers_of_postgresql_may_be_killed(postgres: str) -> None:
    fine(torture(postgres_address(postgres), kills=5, between=30), 5)


def test_postgresql_itself_may_be_killed() -> None:
    with running() as server:
        fine(torture(server.address, kills=5, between=30, server=server), 5)


def test_processes_share_a_store(store_url: str) -> None:
    found = crowd(store_url, workers=8, each=25)
    assert (found.errors, found.outcome.lost, found.outcome.doubled) == ([], [], 0)
    assert len(found.shares) == 8
    assert min(found.shares) > 0


def test_a_loss_is_noticed(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    with Campaign.create(NAME, arms=["A", "B"], store=address, seed=1) as campaign:
        decision = campaign.ask()
    asked: dict[str, object] = {
        "ask": decision.id,
        "arm": decision.arm,
        "p": decision.propensity,
    }
    assert compare(Outcome(), address, [asked]).lost == []
    wrong: list[dict[str, object]] = [
        {**asked, "ask": "x"},
        {**asked, "arm": "Z"},
        {"tell": decision.id, "reward": 1.0},
    ]
    assert len(compare(Outcome(), address, wrong).lost) == 3
