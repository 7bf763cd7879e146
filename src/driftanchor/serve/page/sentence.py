"""Summarize a campaign in one sentence, and format times for the page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from driftanchor.live.campaigns.status import Status
from driftanchor.live.watch.alarm import Alarm
from driftanchor.render.numbers import count, percent, rounded

LONGEST = 40  # characters of an arm's name in a sentence
WEEK = 6 * 86_400.0  # seconds in which the name of a day says which day it is
MOST_NAMED = 3  # alarms


def sentence(status: Status, now: float) -> str:
    """Summarize a campaign: the leader, the risk of stopping, and problems.

    Args:
        status: The status of the campaign.
        now: The time, in seconds since 1970.
    """
    parts = ["paused"] if status.paused else []
    if status.decisions == 0:
        parts.append(f"no decisions yet, {count(len(status.arms), 'arm')} ready")
    elif not status.outlook.can_rank:
        rewards = count(status.rewards, "reward")
        parts.append(f"too early to say which arm leads, {rewards} so far")
    else:
        labels, outlook = tuple(status.arms), status.outlook
        leader = short(labels[outlook.leader])
        parts.append(f"{leader} leads, {likely(float(outlook.p_best[outlook.leader]))} best")
        parts.append(f"stopping now risks {risk(outlook.loss)} rewards per 1,000 decisions")
        if status.is_too_early:
            parts.append("no live means yet, rewards need time to arrive")
    named = [alarm_sentence(alarm, tuple(status.arms), now) for alarm in status.alarms[:MOST_NAMED]]
    if len(status.alarms) > MOST_NAMED:
        named.append(count(len(status.alarms) - MOST_NAMED, "more alarm"))
    if status.ratio.is_off():
        named.append("arms are not played as often as they should be")
    if status.problems:
        named.append("rewards do not arrive as they should")
    text = "; ".join([*parts, *named])
    is_name = status.decisions and status.outlook.can_rank and not status.paused
    return text if is_name else text[0].upper() + text[1:]


def risk(loss: float) -> str:
    """What stopping may lose, without digits that matter to nobody.

    Example:
        >>> risk(0.4321), risk(7.86e-5), risk(0.0)
        ('0.432', 'less than 0.001', 'less than 0.001')
    """
    return rounded(loss) if loss >= 0.001 else "less than 0.001"


def likely(chance: float) -> str:
    """How likely something is, in words that do not claim to be certain.

    Example:
        >>> likely(0.932), likely(0.99999), likely(0.0001)
        ('93 % likely', 'more than 99 % likely', 'less than 1 % likely')
    """
    if chance > 0.995:
        return "more than 99 % likely"
    return f"{percent(chance)} likely" if chance >= 0.01 else "less than 1 % likely"


def short(label: str) -> str:
    """The name of an arm, cut where it is long."""
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def when(at: float, now: float) -> str:
    """A time for people: the day of this week, or the date.

    Example:
        >>> when(1_700_000_000, 1_700_100_000), when(1_700_000_000, 1_800_000_000)
        ('Tue 22:13 UTC', '14 Nov 2023 22:13 UTC')
    """
    moment = datetime.fromtimestamp(at, UTC)
    day = f"{moment:%a}" if abs(now - at) < WEEK else f"{moment.day} {moment:%b %Y}"
    return f"{day} {moment:%H:%M} UTC"


def alarm_sentence(alarm: Alarm, labels: Sequence[str], now: float) -> str:
    """An alarm in a few words."""
    named = " and ".join(short(labels[column]) for column in alarm.columns)
    since = ""
    if alarm.since.time:
        since = f" since {when(datetime.fromisoformat(alarm.since.time).timestamp(), now)}"
    if alarm.promise == "bias_bound":
        return f"the logs of {named} no longer fit{since}"
    if len(alarm.columns) == 1:
        return f"{named} no longer moves with the other arms{since}"
    return f"{named} have moved apart{since}"
