import json
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import Clock, create
from page_story import Story, played

from driftanchor import Campaign, OfflineData
from driftanchor.serve.page.campaign_view import campaign_view, summary
from driftanchor.serve.page.savings import estimate_savings
from driftanchor.serve.page.timeline import timeline


@pytest.fixture(scope="module")
def story() -> Story:
    return played()


def test_everything_that_the_page_shows_is_there(story: Story) -> None:
    with story.campaign.at_one_moment() as reading:
        view = campaign_view(reading, None)
    assert json.loads(json.dumps(view, allow_nan=False)) == view
    assert view["alarmed"]
    assert view["leader"] == "C"
    assert view["decisions"] == 16 * 24
    assert view["rewards"] + view["pending"] == view["decisions"]
    assert view["outcomes"] == {
        "of": 384,
        "assigned": 0,
        "open": 4,
        "rewarded": 380,
        "defaulted": 0,
        "expired": 0,
    }
    assert [row["number"] for row in view["recent"]] == list(range(384, 372, -1))
    assert view["saved"] is None
    assert not view["traffic"]["off"]
    assert sum(arm["expected"] for arm in view["arms"]) > 383.9


def test_problems_and_changes_are_shown(tmp_path: Path) -> None:
    clock = Clock()
    campaign = create(
        f"sqlite:///{tmp_path / 'store.db'}", clock=clock, reward_window=60, default_reward=0
    )
    late = [str(x.id) for x in campaign.ask(n=20)]
    clock.now += 61
    campaign.tell_many([(x, 1.0) for x in late])
    with campaign.at_one_moment() as reading:
        view = campaign_view(reading, None)
        shown = summary(reading)
    assert view["alarmed"]
    assert "20 of the last 20 reported rewards came after" in view["problems"][0]
    assert "rewards do not arrive as they should" in view["sentence"]
    assert shown["alarmed"]
    campaign.change("orders take longer", reward_window=600)
    with campaign.at_one_moment() as reading:
        view = campaign_view(reading, None)
        marks = timeline(reading, "all", {})["markers"]
    assert (view["problems"], view["alarmed"]) == ([], False)
    assert view["changes"] == [
        "changed on 1970-01-01 00:17 UTC: reward window from 1 minute to 10 minutes; because: "
        "orders take longer"
    ]
    assert [x["text"] for x in marks] == [
        "reward window from 1 minute to 10 minutes, because: orders take longer"
    ]


LOGS = OfflineData.from_summary({"A": (900, 0.11, 0.098), "B": (900, 0.1, 0.09)})


def test_two_conversions_move_no_rate_to_one_half(tmp_path: Path) -> None:
    """The rates are 0.11; the intervals hold them, and nothing is said to be lost yet."""
    options: dict[str, Any] = {"offline": LOGS, "bias_bound": 0.035, "clock": Clock()}
    with Campaign.create(
        "c", store=str(tmp_path / "c.db"), reward="binary", seed=1, **options
    ) as campaign:
        asked = campaign.ask(n=3)
        for decision in asked[:2]:
            campaign.tell(str(decision.id), 1.0)
        with campaign.at_one_moment() as reading:
            view = campaign_view(reading, estimate_savings(reading))
            chart = timeline(reading, "all", {})
    for arm in view["arms"]:
        shown = [arm[kind] for kind in ("online", "hybrid", "rule") if arm[kind]]
        assert all(x["low"] <= 0.16 for x in shown)
        assert arm["rule"]["low"] <= 0.11 <= arm["rule"]["high"]
        assert arm["rule"]["mean"] < 0.2
    for series in chart["arms"]:
        assert all(x["low"] <= 0.11 <= x["high"] for x in series["believed"] if x)
    assert view["saved"]["mean"] is None
    assert "lost" not in view["saved"]["text"]


def test_without_logs_nothing_is_claimed_after_a_few_rewards(tmp_path: Path) -> None:
    with create(str(tmp_path / "c.db")) as campaign:
        for decision in campaign.ask(n=2):
            campaign.tell(str(decision.id), 1.0)
        with campaign.at_one_moment() as reading:
            view = campaign_view(reading, None)
            chart = timeline(reading, "all", {})
            item = summary(reading)
    assert view["sentence"] == "Too early to say which arm leads, 2 rewards so far"
    assert (view["leader"], view["outlook"]["loss"], view["outlook"]["loss_95"]) == (None,) * 3
    assert (item["leader"], item["p_best"], item["loss"]) == (None,) * 3
    assert [(arm["p_best"], arm["rule"]) for arm in view["arms"]] == [(None, None)] * 3
    for arm in view["arms"]:
        if arm["live"]["n"]:
            assert arm["online"]["low"] < 0.2
            assert arm["online"] == arm["hybrid"]
            assert arm["why"].endswith("too little is known yet to prefer an arm.")
    for series in chart["arms"]:
        assert set(series["p_best"]) | set(series["believed"]) == {None}


def test_all_reports_name_the_same_leader(tmp_path: Path) -> None:
    """C is known least and has the smallest logged mean, and is most likely the best."""
    logs = OfflineData.from_summary(
        {"A": (20_000, 0.12, 0.1), "B": (20_000, 0.12, 0.1), "C": (20, 0.11, 0.1)}
    )
    options: dict[str, Any] = {"offline": logs, "bias_bound": 0.0, "clock": Clock()}
    with Campaign.create(
        "c", store=str(tmp_path / "c.db"), reward="binary", seed=1, **options
    ) as campaign:
        campaign.ask()
        status = campaign.status()
        with campaign.at_one_moment() as reading:
            view = campaign_view(reading, None)
            item = summary(reading)
    best = max(view["arms"], key=lambda arm: arm["p_best"])
    assert best["label"] == "C"
    assert view["leader"] == item["leader"] == "C"
    assert item["p_best"] == best["p_best"]
    assert view["sentence"].startswith("C leads, ")
    assert status.findings()[-1].startswith("'C' is best with a probability of ")
    found = status.to_json()
    assert max(found["p_best"], key=found["p_best"].get) == "C"
    assert found["outlook"]["leader"] == 2
