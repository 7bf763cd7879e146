"""Timeline: a campaign over time, from its history, with a marker for every change.

The history has a row for each arm and time interval, so no single decisions are read. The beliefs
at the end of an interval are computed from the sums up to then.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.core.check import Bools, Floats, Ints, frozen
from driftanchor.core.posterior import Posterior
from driftanchor.core.tally import Tally
from driftanchor.live.campaigns.campaign_state import live_of, terms_at
from driftanchor.live.campaigns.handle import CampaignReader
from driftanchor.live.campaigns.new_terms import TermsChange
from driftanchor.live.campaigns.past import STRETCH
from driftanchor.live.campaigns.stopping import Outlook, outlook
from driftanchor.live.state import State
from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.rows import HistoryRow
from driftanchor.live.terms import Terms
from driftanchor.serve.page.believed import drawn

POINTS = 160  # of a chart, at most
BELIEFS = 48  # points at which P(best) is computed, at most
BUDGET = 0.25  # seconds of one request that may be spent on beliefs
MOST_ARMS = 8  # that a chart has room for
SPANS = {"day": 86_400.0, "week": 7 * 86_400.0, "month": 30 * 86_400.0, "all": math.inf}


@dataclass(frozen=True)
class Stretches:
    """The history of all arms as arrays, one row for each stretch in which something happened.

    Attributes:
        starts: When each stretch starts.
        width: How many seconds each has.
        decisions: Of each arm.
        rewards: How many were counted.
        totals: Their sums.
    """

    starts: Floats
    width: float
    decisions: Ints
    rewards: Ints
    totals: Floats

    @classmethod
    def of(cls, rows: Sequence[HistoryRow], arms: int, width: float) -> Stretches:
        """The stretches of some rows of the history."""
        starts = sorted({row.start for row in rows})
        place = {start: i for i, start in enumerate(starts)}
        counts = np.zeros((2, len(starts), arms), np.int64)
        totals = np.zeros((len(starts), arms))
        for row in rows:
            i = place[row.start]
            counts[:, i, row.column] += (row.decisions, row.rewards)
            totals[i, row.column] += row.total
        return cls(np.array(starts), width, counts[0], counts[1], totals)


def stretches(reading: CampaignReader, span: str, now: float) -> Stretches:
    """The history of the last `span`, in stretches so long that they fit a chart."""
    first = reading.row.created_at
    since = max(now - SPANS[span], first)
    width = STRETCH * max(1, math.ceil((now - since) / STRETCH / POINTS))
    start = since // width * width
    rows = reading.reader.history(start, None if width == STRETCH else width)
    return Stretches.of(rows, len(reading.current.terms.arms), width)


def timeline(
    reading: CampaignReader, span: str, now: float, kept: dict[Any, Outlook]
) -> dict[str, Any]:
    """Return the chart data: means, P(best), shares and rewards over time, and markers.

    Args:
        reading: The campaign.
        span: How far back: a key of `SPANS`.
        now: The time.
        kept: A cache of beliefs; new ones are added.
    """
    past, current = stretches(reading, span, now), reading.current
    changes = reading.reader.changes()
    columns = shown_columns(current.decisions)
    rest = np.setdiff1d(np.arange(len(current.terms.arms)), columns)
    played = past.decisions.sum(axis=1)
    ends = past.starts + past.width
    wanted = _wanted(past.starts.size)
    sums = {i: sums_at(reading, past, i) for i in wanted}
    beliefs, complete = _beliefs(ends, sums, reading, changes, kept)
    means = _means(sums, past) if current.settings.is_delayed else None
    labels, limits = current.terms.arms.labels, current.terms.reward_range
    series = []
    for column in columns.tolist():
        believed = [None if x is None else _law(x, column) for x in beliefs]
        series.append(
            {
                "label": labels[column],
                "column": column,
                "share": _ratios(past.decisions[:, column], played),
                "decisions": past.decisions[:, column].tolist(),
                "reward": _rewards(past, means, column),
                "rewards": past.rewards[:, column].tolist(),
                "p_best": [_chance(x, column) for x in beliefs],
                "believed": [drawn(law, limits) for law in believed],
            }
        )
    since = float(past.starts[0]) if past.starts.size else now
    return {
        "span": span,
        "complete": complete,
        "delayed": means is not None,
        "stretch": past.width,
        "starts": past.starts.tolist(),
        "now": now,
        "created": reading.row.created_at,
        "arms": series,
        "others": {
            "count": int(rest.size),
            "share": _ratios(past.decisions[:, rest].sum(axis=1), played),
        },
        "markers": [x for x in markers(changes, labels) if x["at"] >= since],
    }


def shown_columns(decisions: Ints, most: int = MOST_ARMS) -> Ints:
    """The columns of the arms that were played most, in the order of columns."""
    if decisions.size <= most:
        return np.arange(decisions.size)
    return np.sort(np.argsort(-decisions, kind="stable")[:most])


def markers(changes: Sequence[Entry], labels: Sequence[str]) -> list[dict[str, Any]]:
    """The changes of a campaign, in words."""
    return [
        {
            "at": entry.at,
            "seq": entry.seq,
            "kind": entry.kind,
            "text": _words(entry, labels),
        }
        for entry in changes
    ]


def _words(entry: Entry, labels: Sequence[str]) -> str:
    arm = labels[entry.column] if entry.column is not None else ""
    detail = entry.detail or {}
    match entry.kind:
        case "arm_added":
            return f"{detail.get('label', arm)} was added"
        case "arm_distrusted":
            return f"the logs of {arm} no longer count"
        case "epoch":
            return f"epoch {int(entry.value or 0)}: every unit is drawn anew"
        case "alarm":
            named = [labels[x["column"]] for x in detail.get("arms", ())]
            return f"alarm: {' and '.join(named)} moved further than promised"
        case "changed":
            change = TermsChange.of(entry)
            return f"{change.what(labels)}, because: {change.reason}"
        case "paused" | "resumed":
            return f"the campaign was {entry.kind}"
    return f"{arm} was {entry.kind.removeprefix('arm_')}"


def _wanted(count: int) -> list[int]:
    """Return the intervals at whose ends beliefs are computed, latest first."""
    places = np.linspace(0, count - 1, min(count, BELIEFS)).tolist()
    return sorted({round(i) for i in places}, reverse=True)


def sums_at(reading: CampaignReader, past: Stretches, i: int) -> tuple[Ints | Floats, Floats]:
    """Return pulls and totals of live rewards at the end of an interval.

    If rewards are delayed, these are the estimate at that time.
    """
    if reading.current.settings.is_delayed:
        matured = reading.reader.matured(float(past.starts[i] + past.width))
        live = live_of(matured, len(reading.current.terms.arms))
        if live is not None:
            return live
    tally = reading.current.state.tally
    pulls = tally.pulls - past.rewards[i + 1 :].sum(axis=0)
    return pulls, tally.totals - past.totals[i + 1 :].sum(axis=0)


def _means(sums: dict[int, tuple[Ints | Floats, Floats]], past: Stretches) -> Floats:
    """Return each arm's live mean at the end of some intervals; NaN elsewhere."""
    means = np.full(past.totals.shape, np.nan)
    for i, (pulls, totals) in sums.items():
        np.divide(totals, pulls, out=means[i], where=pulls >= 1)
    return means


def _rewards(past: Stretches, means: Floats | None, column: int) -> list[float | None]:
    """Return the mean reward of each interval, or the live mean if rewards are delayed."""
    if means is None:
        return _ratios(past.totals[:, column], past.rewards[:, column])
    return [None if math.isnan(x) else x for x in means[:, column].tolist()]


def _beliefs(
    ends: Floats,
    sums: dict[int, tuple[Ints | Floats, Floats]],
    reading: CampaignReader,
    changes: Sequence[Entry],
    kept: dict[Any, Outlook],
) -> tuple[list[Outlook | None], bool]:
    """Return the beliefs at the end of some intervals, and whether all are computed.

    They are `None` for intervals in between, and for old ones left to the next call.
    """
    found: list[Outlook | None] = [None] * ends.size
    until, new = time.monotonic() + BUDGET, 0
    for i, (pulls, totals) in sums.items():  # latest first
        before = [entry for entry in changes if entry.at < ends[i]]
        seq = before[-1].seq if before else 0
        key = (reading.row.id, seq, pulls.tobytes(), totals.tobytes())
        if key not in kept:
            if new and time.monotonic() > until:
                return found, False
            new += 1
            terms = terms_at(reading.first, changes, seq)
            playable = _playable(before, len(terms.arms))
            kept[key] = outlook_at(terms, pulls, totals, playable)
        found[i] = kept[key]
    return found, True


def _playable(before: Sequence[Entry], arms: int) -> Bools:
    """Which arms could be played after some changes."""
    playable = np.ones(arms, np.bool_)
    for entry in before:
        if entry.column is not None and entry.column < arms:
            if entry.kind in ("arm_paused", "arm_archived"):
                playable[entry.column] = False
            elif entry.kind == "arm_restored":
                playable[entry.column] = True
    return playable if playable.any() else np.ones(arms, np.bool_)


def outlook_at(terms: Terms, pulls: Ints | Floats, totals: Floats, playable: Bools) -> Outlook:
    """Return the outlook for some sums of live rewards; fractional pulls are estimates."""
    arms = len(terms.arms)
    pulled = np.maximum(pulls[:arms], 0)
    paid = np.where(pulled > 0, totals[:arms], 0.0)
    live, tally = None, Tally.empty(terms.arms)
    if pulled.dtype == np.int64:
        tally = Tally.trusted(terms.arms, pulled.astype(np.int64), paid)
    else:
        live = pulled.astype(float), paid
    waiting = np.zeros(arms, np.int64) if live is None else np.ceil(pulled).astype(np.int64)
    memory = frozen(np.zeros((arms, terms.policy.memory)))
    state = State(tally, frozen(waiting), frozen(playable), memory, int(pulled.sum()), live)
    return outlook(terms, state, with_loss=False)


def _law(known: Outlook, column: int) -> Posterior | None:
    if not known.knows(column):
        return None
    return Posterior(known.means.item(column), known.sds.item(column))


def _chance(known: Outlook | None, column: int) -> float | None:
    """Return P(best), if the arm existed and enough was known to compare arms."""
    if known is None or not known.can_rank or column >= known.p_best.size:
        return None
    return known.p_best.item(column)


def _ratios(part: Any, whole: Any) -> list[float | None]:
    return [x / n if n else None for x, n in zip(part.tolist(), whole.tolist(), strict=True)]
