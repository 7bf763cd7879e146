"""The hazard table keeps its sums, finds its arms, and serves many arms."""

from typing import Any

import numpy as np
import pytest
from driftanchor.simulation.engines.leaping import hazards as table
from driftanchor.simulation.engines.leaping.lead import spread_levels
from driftanchor.simulation.engines.leaping.loop import LeapingDesk, lay_out, serves
from driftanchor.simulation.engines.rewards import world_of

from benchmarks.pages.exactness import chance_of_gap
from driftanchor import POLICIES, AnchorTS, Bandit, simulate
from driftanchor.core.noise import keyed_stream, uniform, wrapping
from driftanchor.policies.base import belief_at

ARMS = table.MANY
SPREAD = np.linspace(0.2, 0.9, ARMS)
BANDITS = {
    "logs": Bandit(SPREAD, SPREAD[::-1], 20, 0.7),
    "no logs": Bandit([2.0] + [0.0] * (ARMS - 1)),
    "Bernoulli": Bandit(SPREAD, reward="bernoulli"),
}


def desk_after(pulls: int) -> LeapingDesk:
    """A desk of many arms after some pulls of random arms."""
    policy, desk = AnchorTS(), lay_out(world_of(BANDITS["logs"]), AnchorTS())
    stream = keyed_stream(1, "pulls", 0)
    with wrapping():
        spread_levels(policy, desk.evidence, desk.hazards)
        for _ in range(pulls):
            arm = int(uniform(stream) * ARMS)
            desk.evidence.pulls[arm] += 1
            desk.evidence.totals[arm] += uniform(stream)
            table.update(policy, desk.evidence, desk.hazards, arm)
    return desk


def test_a_table_kept_up_to_date_is_a_table_filled_anew() -> None:
    desk = desk_after(300)
    kept = desk.hazards.tree.copy()
    table.fill(AnchorTS(), desk.evidence, desk.hazards)
    assert np.array_equal(kept, desk.hazards.tree)


def test_hazards_add_up() -> None:
    desk = desk_after(50)
    policy, sheet = AnchorTS(), desk.hazards
    leader = int(sheet.leader[0])
    for j in (0, 5, table.LEVELS - 1):
        own = [
            table.hazard(policy, belief_at(policy, desk.evidence, arm), sheet.levels[j])
            for arm in range(ARMS)
            if arm != leader
        ]
        assert table.hazard_from(sheet, j) == pytest.approx(sum(own), rel=1e-9, abs=1e-12)


def test_every_position_finds_the_arm_whose_segment_holds_it() -> None:
    desk = desk_after(50)
    j = table.LEVELS // 2
    segments = desk.hazards.tree[desk.hazards.tree.shape[0] // 2 :, j][:ARMS]
    ends = np.cumsum(segments)
    for position in np.linspace(0, ends[-1] * (1 - 1e-12), 400):
        arm, end = table.find(desk.hazards, j, float(position))
        assert segments[arm] > 0
        assert end == pytest.approx(ends[arm])
        assert end - segments[arm] <= position + 1e-12 < end + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("bandit", BANDITS)
@pytest.mark.parametrize(
    "name", [name for name, cls in POLICIES.items() if serves(cls, BANDITS["logs"])]
)
def test_many_arms_have_the_same_law(name: str, bandit: str, times: int) -> None:
    """False alarms: 12 cells × 3 checks at 1e-6 each, 0.004 % in all.

    Both engines have the same table, so one of them plays each bandit. Laws 0.4 apart are told
    apart nine times in ten; over the 1,500 runs of `make torture`, which are twice as long, those
    0.13 apart, and over the 30,000 of `make claims` those 0.03 apart.
    """
    engine = "thinned" if bandit == "logs" else "events"
    rounds = 150 if times == 1 else 300
    effort: dict[str, Any] = {"horizon": rounds, "runs": 150 * times, "checkpoints": [90, rounds]}
    every = simulate(name, BANDITS[bandit], seed=21, engine="every-round", **effort)
    other = simulate(name, BANDITS[bandit], seed=22, engine=engine, **effort)
    assert other.pulls.sum() == 150 * times * rounds
    for i in range(2):
        assert chance_of_gap(every.regret[0, :, i], other.regret[0, :, i]) > 1e-6
    best = int(np.argmax(BANDITS[bandit].online))
    assert chance_of_gap(every.pulls[0, :, best], other.pulls[0, :, best]) > 1e-6


def test_a_leader_far_ahead_is_leapt_with() -> None:
    """Many arms and a long horizon: some hundred thousand rounds in a moment."""
    result = simulate("anchor-ts", BANDITS["no logs"], horizon=10**7, runs=1, engine="events")
    assert result.pulls.sum() == 10**7
    assert result.pulls[0, 0, 0] > 0.99 * 10**7
