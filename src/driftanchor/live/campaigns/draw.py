"""Draw the arm of a campaign's next decision, and compute the propensities.

Every arm has a minimum probability f (its floor), and the policy distributes the rest: an arm that
the policy plays with probability w is played with probability f + (1 − Σf) w. A separate
random number first decides whether an arm is played for its floor: each with probability f. If
none is, the policy chooses as it would without floors.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Bools, Floats
from driftanchor.core.noise import keyed_stream, uniform, wrapping
from driftanchor.live import decide
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.decide import Decider
from driftanchor.live.explanation import Explanation
from driftanchor.live.propensities import MANY, Propensities
from driftanchor.live.state import State
from driftanchor.live.state_events import Decided
from driftanchor.live.terms import Terms
from driftanchor.policies.base import errors_of

# Minimum propensity of a played arm. A computed one has an error of 1e-6, so it may be 0.
MIN_PROPENSITY = 1e-9


class Draw(NamedTuple):
    """The next decision of a campaign.

    Attributes:
        event: The decision, as an event to record.
        probabilities: The probability of each arm.
    """

    event: Decided
    probabilities: Floats

    @property
    def propensity(self) -> float:
        """The probability of the drawn arm."""
        return max(self.probabilities.item(self.event.column), MIN_PROPENSITY)


def draw(
    decider: Decider,
    settings: Settings,
    exclude: Sequence[str] = (),
    *,
    waits: bool = True,
    known: Propensities | None = None,
    until: float = math.inf,
) -> Draw:
    """Return the next decision; its noise depends only on the seed and its number.

    Args:
        decider: Holds the terms and the state.
        settings: The settings, which include the floors.
        exclude: Arms that cannot be played this time.
        waits: `True` if the decision waits for its reward as soon as it is made; `False` if it
            starts to wait when it is shown.
        known: Computes and caches propensities of the policy; reuse it between calls.
        until: Deadline for simulating propensities, by `time.monotonic`.

    Raises:
        Conflict: The policy is too slow to simulate its propensities before the deadline.
    """
    terms, number = decider.terms, decider.state.decisions + 1
    evidence, now = decider.situation(exclude)
    try:
        chances = (known or Propensities(terms.policy)).of(evidence, now)
    except Exception:
        with errors_of(terms.policy.name):
            raise
    if chances is None:
        chances = decide.counted(terms, decider.state, exclude, until=until)
    if settings.floor or settings.control:
        floors = floors_of(terms, settings, evidence.playable)
        chances = floors + (1.0 - floors.sum()) * chances
        column = _floor(terms, number, floors)
        if column is not None:
            return Draw(Decided(number, column, waits=waits), chances)
    if known is not None and evidence.pulls.size >= MANY and not decider.is_compiled:
        decider.prepare()  # with many arms, interpreting each decision takes longer
    return Draw(decider.next_decision(exclude, waits), chances)


def explain(
    terms: Terms, state: State, settings: Settings, exclude: Sequence[str] = ()
) -> Explanation:
    """Repeat the next decision and record every number behind it; the arguments are as for `draw`.

    If a floor decided, the policy's numbers show what it would have played.
    """
    account = decide.explain(terms, state, exclude)
    evidence, _ = decide.situation(terms, state, exclude)
    floors = floors_of(terms, settings, evidence.playable)
    column = _floor(terms, state.decisions + 1, floors)
    if column is None:
        return account
    label = terms.arms[column]
    reason = (
        f"{label!r} was drawn for its floor, {floors[column]:.4g} of all decisions; the policy "
        f"would have played {account.arm!r}"
    )
    return dataclasses.replace(account, arm=label, guard=False, reason=reason, floor=True)


def floors_of(terms: Terms, settings: Settings, playable: Bools) -> Floats:
    """Return the floor of each arm; 0 if it cannot be played.

    Arms may have been added since the floors were set. Floors that add up to more than 1 are scaled
    down to 1.
    """
    floors = np.full(len(terms.arms), settings.floor)
    for label in settings.control:
        floors[terms.arms.column(label)] = settings.floor_of(label)
    floors = np.where(playable, floors, 0.0)
    total = float(floors.sum())
    return floors if total <= 1.0 else floors / total


def _floor(terms: Terms, number: int, floors: Floats) -> int | None:
    """Return the arm drawn for its floor; `None` if the policy decides."""
    if not floors.any():
        return None
    with wrapping():
        u = uniform(keyed_stream(terms.seed, "floor", number))
    column = int(np.searchsorted(np.cumsum(floors), u, side="right"))
    return column if column < floors.size else None
