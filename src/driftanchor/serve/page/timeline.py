"""A campaign over time, from its history, with a marker for every change.

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
from driftanchor.live.campaigns.batch import HISTORY_SECONDS
from driftanchor.live.campaigns.campaign import CampaignReader
from driftanchor.live.campaigns.campaign_state import live_of, terms_at
from driftanchor.live.campaigns.change_requests import TermsChange
from driftanchor.live.campaigns.stopping import Outlook, outlook
from driftanchor.live.state import State
from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.rows import HistoryRow
from driftanchor.live.terms import Terms
from driftanchor.serve.page.page_intervals import interval_json, json_ready

MAX_POINTS = 160  # of a chart
MAX_OUTLOOKS = 48  # points at which P(best) is computed
MAX_ARMS = 8  # of a chart
BUDGET = 0.25  # seconds of one request for computing outlooks
SPANS = {"day": 86_400.0, "week": 7 * 86_400.0, "month": 30 * 86_400.0, "all": math.inf}

Outlooks = dict[Any, Outlook]  # cached, by campaign, changes and sums


@dataclass(frozen=True)
class History:
    """The history of all arms as arrays, with a row for each time interval that has events.

    Attributes:
        starts: Start of each interval.
        width: Seconds of an interval.
        decisions: Decisions of each arm.
        rewards: Rewards of each arm that count.
        totals: Their sums.
    """

    starts: Floats
    width: float
    decisions: Ints
    rewards: Ints
    totals: Floats

    @classmethod
    def of(cls, rows: Sequence[HistoryRow], arms: int, width: float) -> History:
        """Build the arrays from rows of the store."""
        starts = sorted({row.start for row in rows})
        index = {start: i for i, start in enumerate(starts)}
        counts = np.zeros((2, len(starts), arms), np.int64)
        totals = np.zeros((len(starts), arms))
        for row in rows:
            i = index[row.start]
            counts[:, i, row.column] += (row.decisions, row.rewards)
            totals[i, row.column] += row.total
        return cls(np.array(starts), width, counts[0], counts[1], totals)


def timeline(reading: CampaignReader, span: str, cache: Outlooks) -> dict[str, Any]:
    """Return the chart data: means, P(best), shares and rewards over time, and markers.

    Args:
        reading: The campaign.
        span: How far back: a key of `SPANS`.
        cache: Outlooks computed earlier; new ones are added.
    """
    current, changes = reading.current, reading.reader.changes()
    labels, limits = current.terms.arms.labels, current.terms.reward_range
    history = _history(reading, SPANS[span])
    columns = shown_columns(current.decisions)
    others = np.setdiff1d(np.arange(len(labels)), columns)
    played = history.decisions.sum(axis=1)
    sums = {i: _sums_at(reading, history, i) for i in _points(history.starts.size)}
    outlooks, complete = _outlooks(reading, history, sums, changes, cache)
    means = _live_means(sums, history) if current.settings.is_delayed else None
    series = [
        {
            "label": labels[column],
            "column": column,
            "share": _ratios(history.decisions[:, column], played),
            "decisions": history.decisions[:, column].tolist(),
            "reward": (
                _ratios(history.totals[:, column], history.rewards[:, column])
                if means is None
                else means[:, column].tolist()
            ),
            "rewards": history.rewards[:, column].tolist(),
            "p_best": [_p_best(x, column) for x in outlooks],
            "believed": [interval_json(_belief(x, column), limits) for x in outlooks],
        }
        for column in columns.tolist()
    ]
    since = float(history.starts[0]) if history.starts.size else reading.now
    chart: dict[str, Any] = json_ready(
        {
            "span": span,
            "complete": complete,
            "delayed": means is not None,
            "stretch": history.width,
            "starts": history.starts.tolist(),
            "now": reading.now,
            "created": reading.row.created_at,
            "arms": series,
            "others": {
                "count": int(others.size),
                "share": _ratios(history.decisions[:, others].sum(axis=1), played),
            },
            "markers": [
                {"at": x.at, "seq": x.seq, "kind": x.kind, "text": _marker_text(x, labels)}
                for x in changes
                if x.at >= since
            ],
        }
    )
    return chart


def shown_columns(decisions: Ints, limit: int = MAX_ARMS) -> Ints:
    """Return the columns of the arms with most decisions, in column order."""
    if decisions.size <= limit:
        return np.arange(decisions.size)
    return np.sort(np.argsort(-decisions, kind="stable")[:limit])


def outlook_at(terms: Terms, pulls: Ints | Floats, totals: Floats, playable: Bools) -> Outlook:
    """Return the outlook for some sums of live rewards; fractional pulls are estimates."""
    arms = len(terms.arms)
    pulls = np.maximum(pulls[:arms], 0)
    totals = np.where(pulls > 0, totals[:arms], 0.0)
    live, tally, pending = None, Tally.empty(terms.arms), np.zeros(arms, np.int64)
    if pulls.dtype == np.int64:
        tally = Tally.trusted(terms.arms, pulls.astype(np.int64), totals)
    else:
        live, pending = (pulls.astype(float), totals), np.ceil(pulls).astype(np.int64)
    memory = frozen(np.zeros((arms, terms.policy.memory)))
    state = State(tally, frozen(pending), frozen(playable), memory, int(pulls.sum()), live)
    return outlook(terms, state, with_loss=False)


def _history(reading: CampaignReader, span: float) -> History:
    """Read the history of the last `span` seconds, in intervals wide enough for a chart."""
    since = max(reading.now - span, reading.row.created_at)
    intervals = (reading.now - since) / HISTORY_SECONDS
    width = HISTORY_SECONDS * max(1, math.ceil(intervals / MAX_POINTS))
    longer = None if width == HISTORY_SECONDS else width
    rows = reading.reader.history(since // width * width, longer)
    return History.of(rows, len(reading.current.terms.arms), width)


def _marker_text(entry: Entry, labels: Sequence[str]) -> str:
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


def _points(count: int) -> list[int]:
    """Return the intervals at whose ends outlooks are computed, latest first."""
    spread = np.linspace(0, count - 1, min(count, MAX_OUTLOOKS)).tolist()
    return sorted({round(i) for i in spread}, reverse=True)


def _sums_at(reading: CampaignReader, history: History, i: int) -> tuple[Ints | Floats, Floats]:
    """Return pulls and totals of live rewards at the end of an interval.

    If rewards are delayed, these are the estimate at that time.
    """
    current = reading.current
    if current.settings.is_delayed:
        matured = reading.reader.matured(float(history.starts[i] + history.width))
        live = live_of(matured, len(current.terms.arms))
        if live is not None:
            return live
    tally = current.state.tally
    pulls = tally.pulls - history.rewards[i + 1 :].sum(axis=0)
    return pulls, tally.totals - history.totals[i + 1 :].sum(axis=0)


def _live_means(sums: dict[int, tuple[Ints | Floats, Floats]], history: History) -> Floats:
    """Return each arm's live mean at the end of some intervals; NaN elsewhere."""
    means = np.full(history.totals.shape, np.nan)
    for i, (pulls, totals) in sums.items():
        np.divide(totals, pulls, out=means[i], where=pulls >= 1)
    return means


def _outlooks(
    reading: CampaignReader,
    history: History,
    sums: dict[int, tuple[Ints | Floats, Floats]],
    changes: Sequence[Entry],
    cache: Outlooks,
) -> tuple[list[Outlook | None], bool]:
    """Return the outlooks at the end of some intervals, and whether all are computed.

    An outlook is `None` for intervals not in `sums`, and for old ones if time ran out.
    """
    outlooks: list[Outlook | None] = [None] * history.starts.size
    deadline, computed = time.monotonic() + BUDGET, False
    for i, (pulls, totals) in sums.items():  # latest first
        before = [entry for entry in changes if entry.at < history.starts[i] + history.width]
        seq = before[-1].seq if before else 0
        key = (reading.row.id, seq, pulls.tobytes(), totals.tobytes())
        if key not in cache:
            if computed and time.monotonic() > deadline:
                return outlooks, False
            computed = True
            terms = terms_at(reading.first, changes, seq)
            cache[key] = outlook_at(terms, pulls, totals, _playable(before, len(terms.arms)))
        outlooks[i] = cache[key]
    return outlooks, True


def _playable(before: Sequence[Entry], arms: int) -> Bools:
    """Return which arms were playable after some changes."""
    playable = np.ones(arms, np.bool_)
    for entry in before:
        if entry.column is not None and entry.column < arms:
            if entry.kind in ("arm_paused", "arm_archived"):
                playable[entry.column] = False
            elif entry.kind == "arm_restored":
                playable[entry.column] = True
    return playable if playable.any() else np.ones(arms, np.bool_)


def _belief(outlook: Outlook | None, column: int) -> Posterior | None:
    if outlook is None or not outlook.knows(column):
        return None
    return Posterior(outlook.means.item(column), outlook.sds.item(column))


def _p_best(outlook: Outlook | None, column: int) -> float | None:
    """Return P(best), if the arm existed and enough was known to compare arms."""
    if outlook is None or not outlook.can_rank or column >= outlook.p_best.size:
        return None
    return outlook.p_best.item(column)


def _ratios(part: Ints | Floats, whole: Ints) -> list[float | None]:
    return [x / n if n else None for x, n in zip(part.tolist(), whole.tolist(), strict=True)]
