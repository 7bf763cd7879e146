"""Draw: the arm of the next decision of a campaign, and how likely each arm was.

Every arm has a least probability f (its floor). The policy decides about the rest: an arm that the
policy plays with probability w is played with probability f + (1 − Σf) w.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.noise import keyed_stream, uniform, wrapping
from driftanchor.live import decide
from driftanchor.live.explanation import Explanation
from driftanchor.live.settings import Settings
from driftanchor.live.state import State
from driftanchor.live.state_events import Decided
from driftanchor.live.terms import Terms


class Draw(NamedTuple):
    """The next decision of a campaign.

    Attributes:
        event: The decision, as the event to keep.
        probabilities: How likely each arm was.
        floor: Whether the floors chose the arm, and not the policy.
    """

    event: Decided
    probabilities: Floats
    floor: bool


def draw(
    terms: Terms, state: State, settings: Settings, exclude: Iterable[str], *, waits: bool = True
) -> Draw:
    """The next decision: its noise depends on the seed and its number alone."""
    number, excluded = state.decisions + 1, list(exclude)
    evidence, _ = decide.situation(terms, state, number, excluded)
    floors = floors_of(terms, settings, evidence.playable)
    chances = mixed(_policy_probabilities(terms, state, number, excluded), floors)
    column = _chosen_by_floor(terms.seed, number, floors)
    if column is not None:
        return Draw(Decided(number, column, waits=waits), chances, True)
    event = decide.next_decision(terms, state, excluded)
    return Draw(dataclasses.replace(event, waits=waits), chances, False)


def explain(
    terms: Terms, state: State, settings: Settings, exclude: Iterable[str]
) -> tuple[int, Explanation]:
    """The next decision once more, with every number behind it: its column and the account."""
    number, excluded = state.decisions + 1, list(exclude)
    account = decide.explain(terms, state, number, excluded)
    evidence, _ = decide.situation(terms, state, number, excluded)
    floors = floors_of(terms, settings, evidence.playable)
    column = _chosen_by_floor(terms.seed, number, floors)
    if column is None:
        return terms.arms.column(account.arm), account
    label = terms.arms[column]
    reason = (
        f"{label!r} was drawn for its floor, {floors[column]:.4g} of all decisions; the policy "
        f"would have played {account.arm!r}"
    )
    return column, dataclasses.replace(account, arm=label, guard=False, reason=reason)


def floors_of(terms: Terms, settings: Settings, playable: np.ndarray) -> Floats:
    """The floor of each arm; 0 where an arm cannot be played."""
    floors = np.full(len(terms.arms), settings.floor)
    for label, share in settings.control.items():
        column = terms.arms.column(label)
        floors[column] = max(share, floors.item(column))
    floors[~playable] = 0.0
    total = floors.sum()
    if total > 1.0:  # arms were added since the floors were agreed
        floors /= total
    return floors


def mixed(chances: Floats, floors: Floats) -> Floats:
    """The probability of each arm, from those of the policy and the floors."""
    rest = max(1.0 - float(floors.sum()), 0.0)
    return floors + rest * chances


def _chosen_by_floor(seed: int, number: int, floors: Floats) -> int | None:
    """The arm that the floors choose in a decision, or `None` if they leave it to the policy."""
    total = float(floors.sum())
    if total == 0.0:
        return None
    with wrapping():
        place = uniform(keyed_stream(seed, "floor", number))
    if place >= total:
        return None
    column = int(np.searchsorted(np.cumsum(floors), place, side="right"))
    last = int(np.flatnonzero(floors)[-1])  # the sums may be rounded
    return min(column, last)


def _policy_probabilities(terms: Terms, state: State, number: int, exclude: list[str]) -> Floats:
    """How likely the policy is to play each arm."""
    return decide.probabilities(terms, state, number, exclude, draws=20)
