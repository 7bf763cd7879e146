"""What the clients of one server share."""

from __future__ import annotations

import os

import pytest

from driftanchor.client.line import Line
from driftanchor.errors import InvalidInput


class Campaigns(Line):
    """A line to a server with some campaigns."""

    def __init__(self, *names: str) -> None:
        super().__init__("http://server", None, 1.0)
        self.names = names
        self.asked = 0

    def call(self, *_: object, **__: object) -> object:
        """The list of campaigns."""
        self.asked += 1
        return {"campaigns": [{"name": name} for name in self.names]}


def test_the_only_campaign_is_looked_up_once() -> None:
    line = Campaigns("a b")
    assert [line.path(None), line.path(None)] == ["/v1/campaigns/a%20b"] * 2
    assert line.asked == 1
    assert line.path("x/y") == "/v1/campaigns/x%2Fy"
    assert line.asked == 1


@pytest.mark.parametrize("names", [(), ("one", "two")])
def test_with_none_or_several_a_name_is_needed(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match=f"campaign is needed: the server has {len(names)}"):
        Campaigns(*names).path(None)


def test_a_forked_process_has_connections_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line("http://server", None, 1.0)
    mine = line.defaults
    assert line.within(60.0, lambda: 1) == 1
    assert line.defaults is mine
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    assert line.within(60.0, lambda: 2) == 2
    assert line.defaults is not mine
