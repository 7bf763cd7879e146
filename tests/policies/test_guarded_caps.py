"""A cap is a bound on U for as long as it holds, to the last bit."""

from __future__ import annotations

from guarded_cases import ARMS, ROUNDS, RULES, arm, at, beside, judged, seen, state_of
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import ArmEvidence, GuardedAnchorTS, Round
from driftanchor.core.evidence import arm_at
from driftanchor.policies.base import keep, keeps_beliefs
from driftanchor.policies.guarded_beliefs import beliefs
from driftanchor.policies.guarded_bounds import upper_bound
from driftanchor.policies.guarded_caps import LONG, SHARE, all_are_capped, holds, is_capped_anew

ONE = arm(40, 0.3, 200, 0.2, 0.1)


@given(RULES, ARMS, ROUNDS, st.sampled_from([SHARE, LONG]), st.floats(0, 1), st.integers(0, 10**6))
def test_no_bound_exceeds_the_bound_one_round_later_with_fewer_rivals(
    rule: GuardedAnchorTS,
    arms: list[tuple[ArmEvidence, bool]],
    t: int,
    share: int,
    part: float,
    more: int,
) -> None:
    """In any round up to the last, with any more rivals: nothing is allowed for rounding."""
    state = state_of([(one._replace(relative_bound=float("inf")), on) for one, on in arms])
    ours, now = judged(rule, state, t), at(state, t)
    last = t + t // share
    later = now._replace(t=t + round(part * (last - t)))
    for column in range(len(arms)):
        one = arm_at(state, column)
        if one.pulls > 0:
            cap = upper_bound(rule, one, now._replace(t=last + 1), ours)
            crowded = ours._replace(rivals=ours.rivals + more)
            assert upper_bound(rule, one, later, crowded) <= cap


def test_a_cap_holds_up_to_its_round_with_no_fewer_rivals_and_nothing_pending() -> None:
    belief = beliefs(GuardedAnchorTS(), ONE)
    assert not holds(belief, 0, Round(1, 2), beside())  # there is none yet
    capped = belief._replace(cap=0.5, until=90.0, rivals=7.0)
    assert holds(capped, 0, Round(90, 2), beside(rivals=7))
    assert not holds(capped, 0, Round(91, 2), beside(rivals=7))
    assert not holds(capped, 0, Round(90, 2), beside(rivals=6))
    assert not holds(capped, 1, Round(90, 2), beside(rivals=7))


def test_interpreted_nothing_is_kept() -> None:
    rule, state = GuardedAnchorTS(), seen([arm(5_000, 0.5), ONE])
    is_capped_anew(rule, state, 1, Round(5_100, 2), beside(), 1.0)
    keep(rule, state, 1, 0, 1.0)
    assert not keeps_beliefs(rule)
    assert not all_are_capped(rule, state, Round(5_100, 2), beside(), float(10**9))
