"""Explain a past decision by recomputing it from the state at that time."""

from __future__ import annotations

from driftanchor.core import record
from driftanchor.errors import UnreadableState
from driftanchor.live.campaigns import draw
from driftanchor.live.campaigns.campaign_state import terms_at
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.explanation import Explanation
from driftanchor.live.records import read_state
from driftanchor.live.state import State
from driftanchor.live.stores.damage import reads_store
from driftanchor.live.stores.journal import core_event, excluded
from driftanchor.live.stores.rows import DecisionRow
from driftanchor.live.stores.store import Reader
from driftanchor.live.terms import Terms


@reads_store
def explain_decision(
    reader: Reader, row: DecisionRow, first: Terms, settings: Settings
) -> Explanation:
    """Explain a decision by recomputing it.

    The state is rebuilt from the last snapshot and the events between it and the decision, so the
    cost does not grow with the age of the campaign.

    Raises:
        UnreadableState: The recomputed decision differs: the store or the policy was changed.
    """
    before = row.seq - 1
    changes = [entry for entry in reader.changes() if entry.seq <= before]
    snapshot = reader.snapshot(before)
    start, state = 0, State.start(first.arms, first.policy.memory)
    if snapshot is not None:
        start = snapshot.seq
        with record.reading("snapshot", {}):
            state = read_state(snapshot.state, terms_at(first, changes, start))
    for entry in reader.entries(start, before):
        event = core_event(entry, waits=settings.exposure == "ask")
        if event is not None:
            state.apply(event)
    terms = terms_at(first, changes, before)
    made = next(reader.entries(before, row.seq))
    labels = [terms.arms[column] for column in excluded(made)]
    for entry in changes:
        if entry.kind == "changed":
            settings = settings.after((entry.detail or {})["after"])
    explanation = draw.explain(terms, state, settings, labels)
    arm = terms.arms[row.column]
    if explanation.arm != arm or explanation.decision != row.number:
        raise UnreadableState(
            f"decision {row.number} was for arm {arm!r}, but recomputing it gives decision "
            f"{explanation.decision} for {explanation.arm!r}: the store was changed, or the policy "
            "is a different one"
        )
    return explanation
