import dataclasses

import pytest
from page_story import Story, played

from driftanchor.core.stats.intervals import Estimate
from driftanchor.live.watch.alarms import Alarm, Mark, Moved
from driftanchor.serve.page.sentences import alarm_sentence, campaign_sentence, share_reason, short


@pytest.fixture(scope="module")
def story() -> Story:
    return played()


def test_the_leader_the_risk_and_the_alarms_are_named(story: Story) -> None:
    text = campaign_sentence(story.campaign.status(), story.clock())
    assert text.startswith("C leads, ")
    assert "stopping now risks" in text
    assert "the logs of C no longer fit since " in text


def test_a_paused_campaign_without_decisions_says_so(story: Story) -> None:
    status = dataclasses.replace(story.campaign.status(), paused=True, decisions=0, alarms=())
    assert campaign_sentence(status, 0.0) == "Paused; no decisions yet, 4 arms ready"


def test_many_alarms_are_counted(story: Story) -> None:
    status = story.campaign.status()
    many = dataclasses.replace(status, alarms=status.alarms[:1] * 5)
    assert campaign_sentence(many, story.clock()).endswith("; 2 more alarms")


def test_arms_that_moved_apart_are_named_together() -> None:
    moved = [Moved(i, 0.1, Estimate(0.3, 0.2, 0.4), 50) for i in range(2)]
    alarm = Alarm("relative_bound", tuple(moved), Mark(9, "2026-11-10T14:00:00+00:00"))
    at = 1_794_400_000.0
    assert alarm_sentence(alarm, ("A", "B"), at).startswith("A and B have moved apart since Tue")
    alone = dataclasses.replace(alarm, arms=alarm.arms[:1])
    assert alarm_sentence(alone, ("A", "B"), at).startswith("A no longer moves with the other arms")


def test_long_names_are_cut() -> None:
    assert short("x" * 99) == "x" * 39 + "…"


@pytest.mark.parametrize(
    ("state", "share", "of", "p_best", "floor", "words"),
    [
        ("paused", 0.2, 100, 0.5, 0.0, "it is paused"),
        ("active", 0.0, 0, 0.5, 0.0, "no decisions"),
        ("active", 0.8, 100, 0.95, 0.0, "most likely the best"),
        ("active", 0.6, 100, 0.6, 0.0, "likely the best"),
        ("active", 0.09, 100, 0.3, 0.08, "about its guaranteed 8 %"),
        ("active", 0.4, 100, 0.02, 0.05, "to check that the logs are right"),
        ("active", 0.3, 100, 0.7, 0.0, "it leads"),
        ("active", 0.02, 100, 0.01, 0.0, "unlikely"),
        ("active", 0.25, 100, 0.25, 0.0, "about as often as that is likely"),
    ],
)
def test_each_share_has_its_reason(
    state: str, share: float, of: int, p_best: float, floor: float, words: str
) -> None:
    assert words in share_reason(state, share, of, p_best, floor)
