"""Defaults that were played are reported once the server is back, and once each."""

from __future__ import annotations

import logging
import threading

import pytest

from driftanchor.client import defaults
from driftanchor.client.defaults import Default, DefaultQueue, default_arm
from driftanchor.errors import NotFound, StoreUnavailable


class Server:
    """Takes reports while it is there."""

    def __init__(self) -> None:
        self.there = False
        self.refuses = False
        self.got: list[tuple[str | None, list[str]]] = []
        self.tried = threading.Event()

    def __call__(self, campaign: str | None, batch: list[Default]) -> None:
        self.tried.set()
        if not self.there:
            raise StoreUnavailable("away")
        if self.refuses:
            raise NotFound("no such campaign")
        self.got.append((campaign, [x.key for x in batch]))


def test_they_wait_until_the_server_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defaults, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(defaults, "MAX_WAIT", 0.001)
    server = Server()
    queue = DefaultQueue(server)
    for i in range(3):
        queue.add(Default("c" if i < 2 else None, f"k{i}", "A"))
    assert server.tried.wait(60.0)
    assert (len(queue), server.got) == (3, [])
    server.there = True
    while len(queue):
        server.tried.wait(0.001)
    assert sorted(key for _, keys in server.got for key in keys) == ["k0", "k1", "k2"]
    assert {campaign for campaign, _ in server.got} == {"c", None}


def test_a_report_says_how_many_wait_and_many_go_in_parts() -> None:
    server = Server()
    queue = DefaultQueue(server)
    queue._running = True  # no thread: this test reports by itself
    for i in range(1_200):
        queue.add(Default("c", str(i), "A"))
    assert queue.report() == 1_200
    server.there = True
    assert queue.report() == 0
    assert [len(keys) for _, keys in server.got] == [500, 500, 200]
    queue.close()
    queue.add(Default("c", "late", "A"))
    assert len(queue) == 1


def test_the_oldest_are_dropped_and_what_is_refused_is_not_sent_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(defaults, "MAX_PENDING", 2)
    server = Server()
    queue = DefaultQueue(server)
    queue._running = True
    for i in range(3):
        queue.add(Default("c", str(i), "A"))
    assert len(queue) == 2
    server.there = server.refuses = True
    with caplog.at_level(logging.WARNING, "driftanchor.client"):
        assert queue.report() == 0
    assert "cannot report the defaults that were played: no such campaign" in caplog.text


def test_the_id_of_a_default_tells_its_arm_anywhere() -> None:
    one = Default("c", "any: key", "arm: 1")
    assert default_arm(one.decision_id(0)) == "arm: 1"
    assert one.decision_id(0) != one.decision_id(1)
    assert one.decision_id(0) == Default("c", "any: key", "arm: 1").decision_id(0)
    assert [default_arm(x) for x in ("9f1c", None, 3)] == [None, None, None]


def test_a_unit_that_was_answered_is_not_named_in_a_report() -> None:
    """Its decision was shown, so the server must not give it up."""
    sent: list[Default] = []
    queue = DefaultQueue(lambda _, batch: sent.extend(batch))
    queue.close()  # no thread: this test reports
    for campaign, unit in (("c", "u"), ("c", "v"), ("d", "u")):
        queue.add(Default(campaign, f"{campaign}{unit}", "A", unit=unit))
    queue.keep_decision("c", "u")
    assert queue.report() == 0
    assert [(x.key, x.unit) for x in sent] == [("cu", None), ("cv", "v"), ("du", "u")]
