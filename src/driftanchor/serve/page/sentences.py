"""Sentences of the page: campaigns, alarms, shares and savings in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from driftanchor.live.campaigns.saved import Saved
from driftanchor.live.campaigns.status import Status
from driftanchor.live.watch.alarms import Alarm
from driftanchor.render.numbers import count, percent, rounded

MAX_LABEL = 40  # characters of an arm's name
NEAR = 6 * 86_400.0  # seconds within which a weekday is unambiguous
MAX_ALARMS = 3
SMALL_SHARE = 0.03  # a smaller difference may be chance
MUCH_MORE = 2.0  # times the expected share


def campaign_sentence(status: Status, now: float) -> str:
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
    named = [alarm_sentence(alarm, tuple(status.arms), now) for alarm in status.alarms[:MAX_ALARMS]]
    if len(status.alarms) > MAX_ALARMS:
        named.append(count(len(status.alarms) - MAX_ALARMS, "more alarm"))
    if status.ratio.is_off():
        named.append("arms are not played as often as they should be")
    if status.problems:
        named.append("rewards do not arrive as they should")
    text = "; ".join([*parts, *named])
    is_name = status.decisions and status.outlook.can_rank and not status.paused
    return text if is_name else text[0].upper() + text[1:]


def risk(loss: float) -> str:
    """Format the risk of stopping, without needless digits.

    Example:
        >>> risk(0.4321), risk(7.86e-5), risk(0.0)
        ('0.432', 'less than 0.001', 'less than 0.001')
    """
    return rounded(loss) if loss >= 0.001 else "less than 0.001"


def likely(chance: float) -> str:
    """Format a probability without claiming certainty.

    Example:
        >>> likely(0.932), likely(0.99999), likely(0.0001)
        ('93 % likely', 'more than 99 % likely', 'less than 1 % likely')
    """
    if chance > 0.995:
        return "more than 99 % likely"
    return f"{percent(chance)} likely" if chance >= 0.01 else "less than 1 % likely"


def short(label: str) -> str:
    """Shorten an arm's name."""
    return label if len(label) <= MAX_LABEL else f"{label[: MAX_LABEL - 1]}…"


def when(at: float, now: float) -> str:
    """Format a time: the weekday if it is near, else the date.

    Example:
        >>> when(1_700_000_000, 1_700_100_000), when(1_700_000_000, 1_800_000_000)
        ('Tue 22:13 UTC', '14 Nov 2023 22:13 UTC')
    """
    moment = datetime.fromtimestamp(at, UTC)
    day = f"{moment:%a}" if abs(now - at) < NEAR else f"{moment.day} {moment:%b %Y}"
    return f"{day} {moment:%H:%M} UTC"


def alarm_sentence(alarm: Alarm, labels: Sequence[str], now: float) -> str:
    """Describe an alarm in a few words."""
    named = " and ".join(short(labels[column]) for column in alarm.columns)
    since = ""
    if alarm.since.time:
        since = f" since {when(datetime.fromisoformat(alarm.since.time).timestamp(), now)}"
    if alarm.promise == "bias_bound":
        return f"the logs of {named} no longer fit{since}"
    if len(alarm.columns) == 1:
        return f"{named} no longer moves with the other arms{since}"
    return f"{named} have moved apart{since}"


def share_reason(state: str, share: float, of: int, p_best: float | None, floor: float) -> str:
    """Explain an arm's share of the last decisions.

    Args:
        state: The state of the arm.
        share: The arm's share of the last decisions.
        of: The number of these decisions.
        p_best: The probability that it is best; None if too little is known.
        floor: The arm's guaranteed share.

    Example:
        >>> share_reason("active", 0.76, 1000, 0.998, 0.08)
        'It got 76 % of the last 1,000 decisions: it is most likely the best.'
        >>> share_reason("active", 0.09, 1000, 0.001, 0.08)
        'It got 9 % of the last 1,000 decisions: about its guaranteed 8 %.'
    """
    if state != "active":
        return f"It gets nothing: it is {state}."
    if not of:
        return "It has got nothing yet: there were no decisions."
    got = f"It got {percent(round(share, 3))} of the last {count(of, 'decision')}"
    if p_best is None:
        return f"{got}: too little is known yet to prefer an arm."
    if p_best >= 0.5 and share >= 0.5:
        return f"{got}: it is {'most likely' if p_best > 0.9 else 'likely'} the best."
    if floor and share <= floor + SMALL_SHARE:
        return f"{got}: about its guaranteed {percent(floor)}."
    if share > MUCH_MORE * max(p_best, floor, SMALL_SHARE):
        return (
            f"{got}, more than its chance to be the best: the rule plays it to check that the logs "
            "are right about it."
        )
    if p_best >= 0.5:
        return f"{got}: it leads, but the rule is not sure yet, or has become sure only lately."
    if p_best < SMALL_SHARE:
        return f"{got}: it is unlikely to be the best."
    return f"{got}: it may be the best, and is played about as often as that is likely."


def saved_text(saving: Saved, until: str = "") -> str:
    """Describe what the logs saved, and how certain that is.

    Example:
        >>> print(saved_text(Saved(40.2, 21.0, 60.5, 50.0, 9.8, 1000)))  # doctest: +ELLIPSIS
        The logs saved about 40.2 rewards (21.0 to 60.5) over 1,000 decisions: a start without ...
    """
    low, high, mean = saving.low, saving.high, saving.mean
    verdict = "The logs saved about"
    if high < 0:
        verdict, low, high, mean = "The logs cost about", -high, -low, -mean
    elif low <= 0:
        yet = "" if until else " yet"
        verdict = f"It is not clear{yet} whether the logs saved anything: about"
    if until:
        verdict = f"Before the arms moved, until {until}: {verdict[0].lower()}{verdict[1:]}"
    return (
        f"{verdict} {rounded(mean)} rewards ({rounded(low)} to {rounded(high)}) over "
        f"{count(saving.decisions, 'decision')}: a start without them would have lost about "
        f"{rounded(saving.cold)}, and {rounded(saving.lost)} were lost. This is an estimate: "
        "nobody knows what would have happened."
    )
