"""The law of the guarded rule's index against draws of that index."""

from __future__ import annotations

import math

import numpy as np
import pytest
from guarded_cases import arm, at, judged, seen
from law_cases import below, counted_below

from driftanchor import GuardedAnchorTS
from driftanchor.core import index_law
from driftanchor.core.evidence import arm_at
from driftanchor.core.noise import keyed_stream, wrapping
from driftanchor.policies.guarded_anchor_ts import index_of, noise_of
from driftanchor.policies.guarded_law import guarded_law

RULE = GuardedAnchorTS(noise=0.5)
STATE = seen(
    [
        arm(400, 0.9),  # leads
        arm(30, 0.1, 200, 0.5, bound=0.1),  # the guess is where the limit is
        arm(50, 0.4, 200, 0.3, bound=0.1),
        arm(60, 0.2, 50, 0.25, relative=0.1),
        arm(0, logs=80, logged=0.3, relative=0.2),  # one sample
        arm(0, pending=4),  # nothing is known of it
    ]
)
DRAWS = 4_000


@pytest.mark.parametrize("column", range(STATE.pulls.size))
@pytest.mark.parametrize("common", [0.0, 0.2])
def test_the_law_is_that_of_draws(column: int, common: float) -> None:
    """12 laws, 5 levels: a right program is 5 sds off with a chance below 1e-4."""
    now = at(STATE, 600)
    judgement = judged(RULE, STATE, 600)._replace(guard=False)
    law = guarded_law(RULE, arm_at(STATE, column), now, judgement, common)
    drawn = []
    with wrapping():
        stream = keyed_stream(1, "law", column)
        for _ in range(DRAWS):
            z = noise_of(RULE, judgement, stream)
            drawn.append(index_of(RULE, arm_at(STATE, column), now, judgement, common, z))
    levels = [sorted(drawn)[int(DRAWS * share)] for share in (0.05, 0.3, 0.5, 0.7, 0.95)]
    for level in levels:
        truth = below(law, level)
        allowed = 5 * math.sqrt(truth * (1 - truth) / DRAWS) + 1e-7
        assert abs(counted_below(np.array(drawn), level) - truth) <= allowed


def test_an_arm_of_which_nothing_is_known_has_a_constant_index() -> None:
    now, judgement = at(STATE, 600), judged(RULE, STATE, 600)._replace(guard=False)
    law = guarded_law(RULE, arm_at(STATE, 5), now, judgement, 0.0)
    assert law == index_law.constant(law.place)
    assert math.isfinite(law.place)
