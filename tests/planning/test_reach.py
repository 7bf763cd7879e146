"""Who plays the longest horizons."""

import pytest

from driftanchor.core.offline import OfflineData
from driftanchor.planning.contenders import RULE, RULE_COLD, contenders
from driftanchor.planning.promise import promised
from driftanchor.planning.reach import within_reach
from driftanchor.planning.reward_law import COINS, law_of
from driftanchor.planning.worlds import Worlds

LOGS = OfflineData.from_summary({"A": (900, 0.5, 0.25), "B": (900, 0.2, 0.16)})


@pytest.mark.parametrize(
    ("bounds", "slow"),
    [
        ((0.05, None), {"hierarchical-ts", "min-ucb"}),
        ((None, 0.05), {"hybrid-ts", "hierarchical-ts", "min-ucb", "anchor-ts"}),
    ],
)
def test_rules_that_play_every_round_are_left_out_beyond_a_million_rounds(
    bounds: tuple[float | None, float | None], slow: set[str]
) -> None:
    promise = promised(*bounds, LOGS).promise
    truth = Worlds.draw(LOGS, law_of(LOGS, "bernoulli", COINS), promise, 10**9, 2, 0)
    who, _ = contenders(LOGS, COINS, None)
    assert within_reach(who, truth, promise, 10**6) == (who, ())
    kept, (note,) = within_reach(who, truth, promise, 10**9)
    assert set(who) - set(kept) == slow
    assert {RULE, RULE_COLD} <= set(kept)  # although they play every round
    assert all(label in note for label in slow)
