from __future__ import annotations

from typing import Any

import pytest
from campaign_parts import create

from driftanchor.cli.reward_lines import AT_ONCE, tell_lines
from driftanchor.errors import StoreUnavailable


def test_a_store_that_goes_away_says_how_far_it_came(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = create(store_url)
    ids = [x.id for x in campaign.ask(n=AT_ONCE + 1)]
    lines = [f"{each},1" for each in ids]
    real, calls = campaign.tell_many, list[int]()

    def failing(pairs: Any, **options: Any) -> Any:
        calls.append(len(pairs))
        if len(calls) == 2:
            raise StoreUnavailable("the disk is full")
        return real(pairs, **options)

    monkeypatch.setattr(campaign, "tell_many", failing)
    with pytest.raises(StoreUnavailable, match="the first 500 lines are recorded: give the same"):
        tell_lines(campaign, lines)
    done = tell_lines(campaign, lines)
    assert [line.status for line in done] == ["replayed"] * AT_ONCE + ["recorded"]
    campaign.close()
