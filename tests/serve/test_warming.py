"""A server loads what it decides with before its first request, if that does not take long."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from driftanchor import Campaign, StoreUnavailable
from driftanchor.live import background, compiling
from driftanchor.live.law_writers import LawWriters
from driftanchor.live.stores.store import open_store
from driftanchor.serve.request_log import Log
from driftanchor.serve.served import Served, ServeSettings
from driftanchor.serve.warming import warm_up


def serving(path: Path, seconds: float) -> Served:
    store = open_store(f"sqlite:///{path}")
    return Served(store, ServeSettings(warm_up=seconds), log=Log(io.StringIO()))


def test_kernels_are_there_before_the_first_request(tmp_path: Path) -> None:
    served = serving(tmp_path / "store.db", 300.0)
    Campaign.create("c", arms=["A", "B"], store=served.store, seed=1)
    warm_up(served)
    with served.campaign("c").at_one_moment() as reading:
        current = reading.current
        evidence, now = current.decider.situation(1)
        assert compiling.ready(compiling.kind_of(current.terms.policy, evidence)) is not None
        assert current.law_writers.compiled(evidence, now) is not None
    served.close()


def test_a_paused_campaign_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serving(tmp_path / "store.db", 300.0)
    Campaign.create("c", arms=["A", "B"], store=served.store, seed=1).pause()
    monkeypatch.setattr(LawWriters, "compile_early", lambda *_: pytest.fail("it decides nothing"))
    warm_up(served)
    served.close()


def test_it_takes_no_longer_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serving(tmp_path / "store.db", 0.0)
    Campaign.create("c", arms=["A", "B"], store=served.store, seed=1)
    monkeypatch.setattr(Campaign, "prepare", lambda _: pytest.fail("the time was over"))
    monkeypatch.setattr(background, "finish", lambda _: pytest.fail("the time was over"))
    warm_up(served)
    served.close()


def test_a_store_that_is_away_is_left_to_the_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serving(tmp_path / "store.db", 300.0)

    def away() -> list[str]:
        raise StoreUnavailable("the store is away")

    monkeypatch.setattr(served, "names", away)
    warm_up(served)
    served.close()


def test_a_campaign_that_cannot_be_prepared_is_logged_and_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    served = Served(store, ServeSettings(warm_up=300.0), log=Log(stream))
    for name in ("a", "b"):
        Campaign.create(name, arms=["A", "B"], store=store, seed=1)
    prepared: list[str] = []

    def prepare(campaign: Campaign) -> None:
        prepared.append(campaign.name)
        if campaign.name == "a":
            raise RuntimeError("no such kernel")

    monkeypatch.setattr(Campaign, "prepare", prepare)
    warm_up(served)
    served.close()
    assert prepared == ["a", "b"]
    assert '"campaign": "a", "error": "RuntimeError", "message": "no such' in stream.getvalue()
