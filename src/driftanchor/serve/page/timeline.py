"""Timeline: a campaign over time, from its history, with a marker for every change.

The history has a row for each arm and stretch of time, so nothing here looks at single decisions.
What was believed at the end of a stretch is computed from the sums up to then.
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
from driftanchor.live.campaigns.books import terms_at
from driftanchor.live.campaigns.handle import Moment
from driftanchor.live.campaigns.past import STRETCH
from driftanchor.live.campaigns.stopping import Outlook, outlook
from driftanchor.live.state import State
from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.store_rows import ArmRow, HistoryRow
from driftanchor.live.terms import Terms
from driftanchor.serve.page.believed import drawn

POINTS = 160  # of a chart, at most
BELIEFS = 48  # points at which P(best) is computed, at most
PANELS = 60  # enough for a line
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


def stretches(moment: Moment, span: str, now: float) -> Stretches:
    """The history of the last `span`, in stretches so long that they fit a chart."""
    first = moment.row.created_at
    since = max(now - SPANS[span], first)
    width = STRETCH * max(1, math.ceil((now - since) / STRETCH / POINTS))
    start = since // width * width
    rows = moment.reader.history(start, None if width == STRETCH else width)
    return Stretches.of(rows, len(moment.books.terms.arms), width)


def timeline(moment: Moment, span: str, now: float, kept: dict[Any, Outlook]) -> dict[str, Any]:
    """The chart of a campaign: means, P(best), shares and rewards over time, and markers.

    Args:
        moment: The campaign.
        span: How far back: a key of `SPANS`.
        now: The time.
        kept: What was computed before; new beliefs are added.
    """
    past, books = stretches(moment, span, now), moment.books
    changes, rows = moment.reader.changes(), moment.reader.arms()
    columns = shown_columns(books.decisions)
    rest = np.setdiff1d(np.arange(len(books.terms.arms)), columns)
    played = past.decisions.sum(axis=1)
    beliefs, complete = _beliefs(past, moment, changes, rows, kept)
    labels, ends = books.terms.arms.labels, books.terms.reward_range
    series = []
    for column in columns.tolist():
        believed = [None if x is None else _law(x, column) for x in beliefs]
        series.append(
            {
                "label": labels[column],
                "column": column,
                "share": _ratios(past.decisions[:, column], played),
                "decisions": past.decisions[:, column].tolist(),
                "reward": _ratios(past.totals[:, column], past.rewards[:, column]),
                "rewards": past.rewards[:, column].tolist(),
                "p_best": [_chance(x, column) for x in beliefs],
                "believed": [drawn(law, ends) for law in believed],
            }
        )
    since = float(past.starts[0]) if past.starts.size else now
    return {
        "span": span,
        "complete": complete,
        "stretch": past.width,
        "starts": past.starts.tolist(),
        "now": now,
        "created": moment.row.created_at,
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
        case "paused" | "resumed":
            return f"the campaign was {entry.kind}"
    return f"{arm} was {entry.kind.removeprefix('arm_')}"


def _beliefs(
    past: Stretches,
    moment: Moment,
    changes: Sequence[Entry],
    rows: list[ArmRow],
    kept: dict[Any, Outlook],
) -> tuple[list[Outlook | None], bool]:
    """What was believed at the end of some stretches, and whether there was time for all of them.

    It is `None` for the stretches in between, and for old ones that the next call computes.
    """
    state = moment.books.state
    pulls = state.tally.pulls - past.rewards[::-1].cumsum(axis=0)[::-1] + past.rewards
    totals = state.tally.totals - past.totals[::-1].cumsum(axis=0)[::-1] + past.totals
    count = past.starts.size
    wanted = {round(i) for i in np.linspace(0, count - 1, min(count, BELIEFS)).tolist()}
    found: list[Outlook | None] = [None] * count
    until, new = time.monotonic() + BUDGET, 0
    for i in sorted(wanted, reverse=True):
        before = [entry for entry in changes if entry.at < past.starts[i] + past.width]
        seq = before[-1].seq if before else 0
        key = (moment.row.id, seq, pulls[i].tobytes(), totals[i].tobytes())
        if key not in kept:
            if new and time.monotonic() > until:
                return found, False
            new += 1
            terms = terms_at(moment.first, rows, seq)
            playable = _playable(before, len(terms.arms))
            kept[key] = outlook_at(terms, pulls[i], totals[i], playable)
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


def outlook_at(terms: Terms, pulls: Ints, totals: Floats, playable: Bools) -> Outlook:
    """What is believed after these sums of live rewards."""
    arms = len(terms.arms)
    pulled = np.maximum(pulls[:arms], 0)
    tally = Tally.trusted(terms.arms, pulled, np.where(pulled > 0, totals[:arms], 0.0))
    nothing = frozen(np.zeros(arms, np.int64))
    memory = frozen(np.zeros((arms, terms.policy.memory)))
    state = State(tally, nothing, frozen(playable), memory, int(pulled.sum()))
    return outlook(terms, state, panels=PANELS)


def _law(known: Outlook, column: int) -> Posterior | None:
    if not known.knows(column):
        return None
    return Posterior(known.means.item(column), known.sds.item(column))


def _chance(known: Outlook | None, column: int) -> float | None:
    """P(best), where enough was known to compare arms and the arm was there."""
    if known is None or not known.can_rank or column >= known.p_best.size:
        return None
    return known.p_best.item(column)


def _ratios(part: Any, whole: Any) -> list[float | None]:
    return [x / n if n else None for x, n in zip(part.tolist(), whole.tolist(), strict=True)]
