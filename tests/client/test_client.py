"""Client against a real server: what `Campaign` gives, over HTTP."""

from __future__ import annotations

import math
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import create
from http_server import HttpServer, http_server

from driftanchor import (
    Campaign,
    Client,
    Conflict,
    Decision,
    InvalidInput,
    NotFound,
    Receipt,
    StoreUnavailable,
)
from driftanchor.client.client import _member, _read
from driftanchor.live.stores.access_keys import make_key

SLOW = 60.0  # seconds that a busy machine never needs


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    address = f"sqlite:///{tmp_path_factory.mktemp('store') / 'store.db'}"
    create(address).close()
    with http_server(address) as running:
        yield running


@pytest.fixture
def client(server: HttpServer) -> Iterator[Client]:
    with Client(server.url, campaign="c", timeout=SLOW, default_after=SLOW) as client:
        yield client


def campaign(server: HttpServer) -> Campaign:
    return server.state.campaign("c")


def test_it_asks_and_tells_as_a_campaign_does(server: HttpServer, client: Client) -> None:
    first = client.ask("user-1")
    assert client.ask("user-1") == campaign(server).ask("user-1")
    assert (first.replayed, first.campaign, first.unit) == (False, "c", "user-1")
    assert client.ask("user-1").replayed
    assert client.tell(str(first.id), 1).status == "recorded"
    assert client.tell(str(first.id), 1.0) == Receipt(str(first.id), "replayed", first.arm, 1.0)
    with pytest.raises(Conflict):
        client.tell(str(first.id), 0.0)
    with pytest.raises(NotFound):
        client.tell("nobody made/this", 0.0)
    assert client.expose(str(first.id)).status == "replayed"


def test_without_a_name_it_asks_the_only_campaign(server: HttpServer) -> None:
    with Client(server.url) as client:
        assert client.ask().campaign == "c"
        with pytest.raises(NotFound) as caught:
            client.campaign("other").ask()
        assert str(caught.value) == "there is no campaign of this name"


@pytest.mark.parametrize("names", [(), ("one", "two")])
def test_without_a_name_the_server_must_have_one_campaign(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    for name in names:
        create(address, name).close()
    message = f"campaign is needed: the server has {len(names)} campaigns"
    with (
        http_server(address) as running,
        Client(running.url) as client,
        pytest.raises(InvalidInput, match=message),
    ):
        client.ask()


def test_a_forked_process_has_connections_of_its_own(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = client._session
    transport, defaults = parent.transport, parent.defaults
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    child = client._session
    assert child.transport is not transport
    assert child.defaults is not defaults
    assert client._session.transport is child.transport


@pytest.mark.parametrize("data", [None, [], 3, {"id": "x"}, "text"])
def test_a_response_of_another_shape_is_refused(data: Any) -> None:
    with pytest.raises(StoreUnavailable, match="no usable decision"):
        _read(Decision, data)
    with pytest.raises(StoreUnavailable, match="no usable campaigns"):
        _member(data, "campaigns")


def test_members_of_a_newer_server_are_ignored() -> None:
    decision = Decision("9f", "A", 0.25, True, "c", 3, "u", 1, 17.5, "why")
    assert _read(Decision, {**decision.to_json(), "newer": 1}) == decision


def test_many_at_once(client: Client) -> None:
    made = client.ask(n=3, exclude=["A"])
    assert {x.arm for x in made} <= {"B", "C"}
    again = client.ask(n=2, key="mine")
    assert [x.id for x in client.ask(n=2, key="mine")] == [x.id for x in again]
    told: list[tuple[Any, Any]] = [(x.id, 1.0) for x in made]
    told += [("none", 1.0), (made[0].id, 0.5), (made[0].id, math.nan), (made[0].id, 7.0)]
    receipts = client.tell_many(told)
    assert [x.status for x in receipts[:3] if isinstance(x, Receipt)] == ["recorded"] * 3
    kinds = (NotFound, Conflict, InvalidInput, InvalidInput)
    assert all(isinstance(x, kind) for x, kind in zip(receipts[3:], kinds, strict=True))
    assert client.tell_many([]) == []


def test_to_peek_keeps_nothing(server: HttpServer, client: Client) -> None:
    before = campaign(server).status().decisions
    assert client.ask("peeking", peek=True).id is None
    assert campaign(server).status().decisions == before


def test_the_status_is_that_of_the_campaign(server: HttpServer, client: Client) -> None:
    assert client.status() == campaign(server).status().to_json()


def test_what_cannot_be_sent_is_refused_here(client: Client) -> None:
    for reward in (True, math.nan, math.inf, "1", None):
        with pytest.raises(InvalidInput, match="reward must be"):
            client.tell("x", reward)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="unit must be text"):
        client.ask(7)  # type: ignore[call-overload]
    with pytest.raises(InvalidInput, match="n must be"):
        client.ask(n=0)
    with pytest.raises(InvalidInput, match="pairs"):
        client.tell_many(["ab", 3])  # type: ignore[list-item]
    with pytest.raises(InvalidInput):
        client.ask("x" * 300)
    with pytest.raises(NotFound):
        client.campaign("a b/c").ask()


def test_threads_share_it(server: HttpServer, client: Client) -> None:
    got = []

    def work() -> None:
        for i in range(10):
            decision = client.ask(f"shared-{i}", default="A")
            got.append((decision.unit, decision.id))
            client.tell(str(decision.id), 1.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 40
    assert not any(str(x).startswith("default-") for _, x in got)
    campaign(server).verify()


def test_without_a_default_a_server_that_is_away_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        client = Client(url, campaign="c", timeout=0.05)
        with pytest.raises(StoreUnavailable, match=f"{url} did not answer within 0.05 s"):
            client.ask("u")


def test_a_server_that_never_answers_costs_no_more_than_the_default() -> None:
    """100 of 100 calls give the default; none waits for the server."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        client = Client(url, campaign="c", timeout=SLOW, default_after=0.001)
        found = [client.ask(f"u{i}", default="B") for i in range(100)]
        assert {x.arm for x in found} == {"B"}
        assert all(math.isnan(x.propensity) and x.number == 0 for x in found)
        assert len({x.id for x in found}) == 100
        assert all(x.note.startswith("the caller's default: ") for x in found)
        late = [x.note for x in found if "before this one" not in x.note]
        assert late
        assert all("answer within 0.0009 s" in note for note in late)
        ignored = client.tell(str(found[0].id), 1.0)
        assert ignored == Receipt(str(found[0].id), "ignored", "B", None)
        assert client.tell_many([(str(found[1].id), 1.0)])[0] == Receipt(
            str(found[1].id), "ignored", "B", None
        )
        assert client.expose(str(found[0].id)).status == "ignored"
        client._session.defaults._closed.set()  # nobody will ever take its reports


def test_defaults_are_reported_when_the_server_is_back(server: HttpServer, client: Client) -> None:
    before = campaign(server).status()
    server.stop()
    quick = Client(server.url, campaign="c", default_after=0.2)
    same = "the key of a request"
    played = [quick.ask("x", key=same, default="B"), quick.ask("y", default="B")]
    assert [x.arm for x in played] == ["B", "B"]
    assert quick.ask(n=2, default="B")[1].arm == "B"
    assert len(quick._session.defaults) == 3
    server.start()
    while quick.report_defaults():
        pass
    after = campaign(server).status()
    assert (after.decisions, after.rewards) == (before.decisions, before.rewards)
    with campaign(server).at_one_moment() as reading:
        kinds = [entry.kind for entry in reading.reader.entries(0)]
    assert kinds.count("default_used") == 3
    once = client.ask("x", key=same, default="B")  # the same request gets the same answer
    assert (once.id, once.arm) == (played[0].id, "B")
    assert client.ask("x").arm in ("A", "B", "C")
    quick.close()
    campaign(server).verify()


def test_a_paused_campaign_gives_the_default_and_mistakes_are_still_errors(
    server: HttpServer, client: Client
) -> None:
    campaign(server).pause()
    try:
        found = client.ask("paused", default="C")
        assert (found.arm, str(found.id)[:8]) == ("C", "default-")
        assert "is paused" in found.note
        with pytest.raises(Conflict):
            client.ask("paused")
    finally:
        campaign(server).resume()
    with pytest.raises(InvalidInput):
        client.ask("u", exclude=["nothing"], default="C")
    with pytest.raises(InvalidInput, match="default must be"):
        client.ask("u", default="")


def test_a_key_opens_what_its_roles_allow(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    with create(address) as made:
        keys = {}
        for role in ("decide", "reward"):
            keys[role], row = make_key([role], now=0.0)
            made.store.add_key(row)
    with http_server(address) as guarded:
        decides = Client(guarded.url, keys["decide"], campaign="c", timeout=SLOW)
        rewards = Client(guarded.url, keys["reward"], timeout=SLOW)
        decision = decides.ask("u", default="A")
        assert rewards.tell(str(decision.id), 1.0).status == "recorded"
        for wrong in (lambda: decides.tell(str(decision.id), 1.0), decides.status, rewards.ask):
            with pytest.raises(InvalidInput, match="key is not accepted by the server") as caught:
                wrong()
            assert not any(key in str(caught.value) for key in keys.values())
        without = Client(guarded.url, campaign="c", timeout=SLOW)
        with pytest.raises(InvalidInput, match="the server needs a key"):
            without.ask("u")
        for client in (decides, rewards, without):
            client.close()


def test_a_client_is_named() -> None:
    client = Client("http://127.0.0.1:1", campaign="c")
    assert repr(client) == "<Client: c at http://127.0.0.1:1>"
    assert repr(Client("http://h")) == "<Client: the only campaign at http://h>"
    for bad in ("", 3):
        with pytest.raises(InvalidInput, match="campaign must be the name"):
            client.campaign(bad)  # type: ignore[arg-type]


def test_it_corrects_and_changes_as_a_campaign_does(server: HttpServer, client: Client) -> None:
    one = str(client.ask().id)
    client.tell(one, 1.0)
    assert client.correct(one, 0.5, before=1.0, reason="refund").status == "corrected"
    assert client.correct(one, 0.5, before=1.0).status == "replayed"
    with pytest.raises(Conflict):
        client.correct(one, 0.0, before=1.0)
    create(server.state.store, "terms", reward_window=60, default_reward=0).close()
    other = client.campaign("terms")
    other.change("orders take longer", reward_window=600, control={"A": 0.1}, floor=0.05)
    other.change("zeros are sent", reward_window=None, default_reward=None)
    settings = server.state.campaign("terms").settings
    assert (settings.reward_window, settings.control, settings.floor) == (None, {"A": 0.1}, 0.05)
    assert [x["reason"] for x in other.status()["changes"]] == [
        "orders take longer",
        "zeros are sent",
    ]
    with pytest.raises(InvalidInput, match="reason must be"):
        other.change(" ", floor=0.1)
    with pytest.raises(InvalidInput, match="floor must be a number"):
        other.change("wrong", floor="much")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="nothing to change"):
        other.change("nothing")
