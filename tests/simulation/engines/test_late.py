"""Rewards that come late: what policies see when, and that nothing else changes."""

from typing import Any, ClassVar

import numpy as np
import pytest
from driftanchor.simulation.engines.desk import keys_of
from driftanchor.simulation.engines.late import LATE_REWARDS
from driftanchor.simulation.engines.reference import EVERY_ROUND
from driftanchor.simulation.engines.rewards import world_of

from driftanchor import POLICIES, TS, Bandit, GuardedAnchorTS, simulate
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import Stream, wrapping
from driftanchor.policies.base import Policy

LATE: dict[str, dict[str, int]] = {
    "delay": {"delay": 7},
    "batch": {"batch": 5},
    "both": {"delay": 3, "batch": 4},
    "never": {"delay": 10_000},
}


def world(**late: Any) -> Bandit:
    return Bandit([0.6, 0.5, 0.4], [0.5, 0.5, 0.6], [20, 0, 9], 0.3, **late)


class Watcher(Policy):
    """Plays arms in turn and writes down (round, pulls paid, pulls pending). Interpreted only."""

    name = "watcher"
    formula = "none"
    source = "this test"
    seen: ClassVar[list[tuple[int, list[int], list[int]]]] = []

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        self.seen.append((now.t, evidence.pulls.tolist(), evidence.pending.tolist()))
        return (now.t - 1) % 3


@pytest.mark.parametrize("late", LATE)
def test_a_policy_sees_the_rewards_that_have_come(late: str) -> None:
    Watcher.seen.clear()
    simulate(Watcher(), world(**LATE[late]), horizon=40, runs=1, engine="interpreted")
    delay, batch = LATE[late].get("delay", 0), LATE[late].get("batch", 1)
    for t, paid, pending in Watcher.seen:
        before = [i for i in range(t - 1) if i // batch < (t - 1) // batch]  # batches that ended
        seen = before[: max(0, len(before) - delay)]
        assert paid == [sum(i % 3 == arm for i in seen) for arm in range(3)]
        asked = [sum(i % 3 == arm for i in range(t - 1)) for arm in range(3)]
        assert pending == [a - b for a, b in zip(asked, paid, strict=True)]
    assert len(Watcher.seen) == 40


@pytest.mark.parametrize("name", POLICIES)
def test_without_a_wait_it_is_the_loop_that_plays_every_round(name: str) -> None:
    policy, bandit = POLICIES[name](), world_of(world())
    rounds, played = np.array([9, 50, 120]), []
    for loop in (EVERY_ROUND, LATE_REWARDS):
        regret, pulls = np.empty((2, 3)), np.empty((2, 3), np.int64)
        desk = loop.lay_out(bandit, policy)
        with wrapping():
            assert loop.play_runs(policy, bandit, keys_of(3, name), 0, rounds, desk, regret, pulls)
        played.append(regret.tobytes() + pulls.tobytes())
    assert played[0] == played[1]


@pytest.mark.parametrize("engine", ["every-round", "events"])
@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("policy", [TS(), GuardedAnchorTS()], ids=lambda p: p.name)
def test_every_engine_plays_the_same_rounds(policy: Policy, late: str, engine: str) -> None:
    effort: dict[str, Any] = {"horizon": 120, "runs": 2, "seed": 4, "checkpoints": [9, 120]}
    slow = simulate(policy, world(**LATE[late]), engine="interpreted", **effort)
    fast = simulate(policy, world(**LATE[late]), engine=engine, **effort)
    assert np.array_equal(slow.pulls, fast.pulls)
    assert np.array_equal(slow.regret, fast.regret)
    assert (slow.pulls.sum(axis=2) == 120).all()
    assert slow.regret[..., -1] == pytest.approx(slow.pulls @ world().gaps)


def test_a_wait_costs_about_what_is_asked_before_the_first_reward() -> None:
    """Uniform choice for 200 rounds loses 30 of 3 arms with gaps 0, 0.15, 0.3; mean of 200 runs.

    The sum of the gaps of 200 × 200 choices has a standard deviation of 0.12 a run: no false alarm.
    """
    rule = TS(noise=0.01, prior_mean=1.0)
    bandit = Bandit([0.8, 0.65, 0.5], noise=0.01)
    late = Bandit([0.8, 0.65, 0.5], noise=0.01, delay=200)
    effort: dict[str, Any] = {"horizon": 400, "runs": 200, "checkpoints": 1}
    quick, slow = (simulate(rule, w, **effort).regret.mean() for w in (bandit, late))
    assert 29 < slow - quick < 31


def test_a_batch_does_not_repeat_a_guard_pull() -> None:
    """In one batch the guard asks for an arm as often as its radius needs, not in every round.

    The leader is far ahead, so that all other pulls late in a run are guard pulls.
    """
    bandit = Bandit([1.0, 0.0], noise=0.5, batch=500)
    effort: dict[str, Any] = {"horizon": 5_000, "runs": 50, "seed": 1}
    result = simulate(GuardedAnchorTS(noise=0.5), bandit, checkpoints=[500, 5_000], **effort)
    after_first_batch = result.regret[0, :, 1] - result.regret[0, :, 0]
    assert after_first_batch.max() < 60  # a repeated guard pull would lose 500 at once
