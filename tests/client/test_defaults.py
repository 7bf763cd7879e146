"""Defaults that were played are reported once the server is back, and once each."""

from __future__ import annotations

import logging
import threading

import pytest

from driftanchor.client import defaults
from driftanchor.client.defaults import Default, Defaults, arm_of_default
from driftanchor.errors import NotFound, StoreUnavailable


class Server:
    """Takes reports while it is there."""

    def __init__(self) -> None:
        self.there = False
        self.refuses = False
        self.got: list[tuple[str | None, list[str]]] = []
        self.tried = threading.Event()

    def __call__(self, campaign: str | None, some: list[Default]) -> None:
        self.tried.set()
        if not self.there:
            raise StoreUnavailable("away")
        if self.refuses:
            raise NotFound("no such campaign")
        self.got.append((campaign, [x.key for x in some]))


def test_they_wait_until_the_server_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defaults, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(defaults, "LONGEST_WAIT", 0.001)
    server = Server()
    kept = Defaults(server)
    for i in range(3):
        kept.add(Default("c" if i < 2 else None, f"k{i}", "A"))
    assert server.tried.wait(60.0)
    assert (len(kept), server.got) == (3, [])
    server.there = True
    while len(kept):
        server.tried.wait(0.001)
    assert sorted(key for _, keys in server.got for key in keys) == ["k0", "k1", "k2"]
    assert {campaign for campaign, _ in server.got} == {"c", None}


def test_a_report_says_how_many_wait_and_many_go_in_parts() -> None:
    server = Server()
    kept = Defaults(server)
    kept._runs = True  # no thread: this test reports by itself
    for i in range(1_200):
        kept.add(Default("c", str(i), "A"))
    assert kept.report() == 1_200
    server.there = True
    assert kept.report() == 0
    assert [len(keys) for _, keys in server.got] == [500, 500, 200]
    kept.end()
    kept.add(Default("c", "late", "A"))
    assert len(kept) == 1


def test_the_oldest_are_dropped_and_what_is_refused_is_not_sent_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(defaults, "MOST_KEPT", 2)
    server = Server()
    kept = Defaults(server)
    kept._runs = True
    for i in range(3):
        kept.add(Default("c", str(i), "A"))
    assert (len(kept), kept.dropped) == (2, 1)
    server.there = server.refuses = True
    with caplog.at_level(logging.WARNING, "driftanchor.client"):
        assert kept.report() == 0
    assert "cannot report the defaults that were played: no such campaign" in caplog.text


def test_the_id_of_a_default_tells_its_arm_anywhere() -> None:
    one = Default("c", "any: key", "arm: 1")
    assert arm_of_default(one.id(0)) == "arm: 1"
    assert one.id(0) != one.id(1)
    assert one.id(0) == Default("c", "any: key", "arm: 1").id(0)
    assert [arm_of_default(x) for x in ("9f1c", None, 3)] == [None, None, None]


def test_a_unit_that_was_answered_is_not_named_in_a_report() -> None:
    """Its decision was shown, so the server must not give it up."""
    sent: list[Default] = []
    kept = Defaults(lambda _, some: sent.extend(some))
    kept.end()  # no thread: this test reports
    for campaign, unit in (("c", "u"), ("c", "v"), ("d", "u")):
        kept.add(Default(campaign, f"{campaign}{unit}", "A", unit=unit))
    kept.shown("c", "u")
    assert kept.report() == 0
    assert [(x.key, x.unit) for x in sent] == [("cu", None), ("cv", "v"), ("du", "u")]
