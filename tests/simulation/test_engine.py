"""The loops that play every round: how a run starts, late rewards, and logs that moved together."""

import math
from typing import Any, ClassVar

import numpy as np
import pytest

from driftanchor import POLICIES, TS, AnchorTS, Bandit, GuardedAnchorTS, simulate
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import Stream, wrapping
from driftanchor.policies.base import Policy
from driftanchor.simulation.engine import RunState, allocate, keys_of, prepare
from driftanchor.simulation.world import world_of

LOGGED = Bandit([0.5, 0.4, 0.3], [0.2, 0.6, 0.0], [9, 4, 0])


def prepared(bandit: Bandit, run: int, policy: str = "x", seed: int = 3) -> RunState:
    state = allocate(world_of(bandit), AnchorTS())
    evidence = state.evidence
    for numbers in (evidence.pulls, evidence.totals, evidence.memory, evidence.pending):
        numbers[...] = 7  # left over from an earlier run
    with wrapping():
        prepare(world_of(bandit), keys_of(seed, policy), run, state)
    return state


def test_a_run_starts_with_empty_evidence() -> None:
    evidence = prepared(LOGGED, 0).evidence
    for numbers in (evidence.pulls, evidence.totals, evidence.memory, evidence.pending):
        assert not np.any(numbers)
    assert evidence.offline_means[2] == 0.0
    assert evidence.playable.all()


def test_runs_have_their_own_noise_and_policies_share_all_but_theirs() -> None:
    one, again, next_run = prepared(LOGGED, 0), prepared(LOGGED, 0), prepared(LOGGED, 1)
    assert np.array_equal(one.rewards, again.rewards)
    assert np.array_equal(one.stream, again.stream)
    assert not np.isin(next_run.rewards, one.rewards).any()
    assert next_run.evidence.offline_means[0] != one.evidence.offline_means[0]
    other = prepared(LOGGED, 0, policy="y")
    assert np.array_equal(other.rewards, one.rewards)
    assert np.array_equal(other.evidence.offline_means, one.evidence.offline_means)
    assert not np.array_equal(other.stream, one.stream)
    assert not np.isin(prepared(LOGGED, 0, seed=4).rewards, one.rewards).any()


def test_given_logs_are_not_drawn() -> None:
    given = Bandit(LOGGED.online, LOGGED.offline, LOGGED.offline_pulls, logs="given")
    assert prepared(given, 0).evidence.offline_means.tolist() == [0.2, 0.6, 0.0]


LATE: dict[str, dict[str, int]] = {
    "delay": {"delay": 7},
    "batch": {"batch": 5},
    "both": {"delay": 3, "batch": 4},
    "never": {"delay": 10_000},
}


def late_bandit(**late: Any) -> Bandit:
    return Bandit([0.6, 0.5, 0.4], [0.5, 0.5, 0.6], [20, 0, 9], 0.3, **late)


class Watcher(Policy):
    """Plays arms in turn and records (round, pulls paid, pulls pending). Interpreted only."""

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
    simulate(Watcher(), late_bandit(**LATE[late]), horizon=40, runs=1, engine="interpreted")
    delay, batch = LATE[late].get("delay", 0), LATE[late].get("batch", 1)
    for t, paid, pending in Watcher.seen:
        ended = [i for i in range(t - 1) if i // batch < (t - 1) // batch]  # of ended batches
        seen = ended[: max(0, len(ended) - delay)]
        assert paid == [sum(i % 3 == arm for i in seen) for arm in range(3)]
        asked = [sum(i % 3 == arm for i in range(t - 1)) for arm in range(3)]
        assert pending == [a - b for a, b in zip(asked, paid, strict=True)]
    assert len(Watcher.seen) == 40


@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("policy", [TS(), GuardedAnchorTS()], ids=lambda p: p.name)
def test_compiled_and_interpreted_rewards_come_alike(policy: Policy, late: str) -> None:
    effort: dict[str, Any] = {"horizon": 120, "runs": 2, "seed": 4, "checkpoints": [9, 120]}
    slow = simulate(policy, late_bandit(**LATE[late]), engine="interpreted", **effort)
    fast = simulate(policy, late_bandit(**LATE[late]), engine="events", **effort)
    assert np.array_equal(slow.pulls, fast.pulls)
    assert np.array_equal(slow.regret, fast.regret)
    assert (slow.pulls.sum(axis=2) == 120).all()
    assert slow.regret[..., -1] == pytest.approx(slow.pulls @ late_bandit().gaps)


def test_a_delay_costs_the_pulls_before_the_first_reward() -> None:
    """Uniform choice for 200 rounds loses 30 of 3 arms with gaps 0, 0.15, 0.3; mean of 200 runs.

    The sum of the gaps of 200 × 200 choices has a standard deviation of 0.12 a run: no false alarm.
    """
    rule = TS(noise=0.01, prior_mean=1.0)
    bandit = Bandit([0.8, 0.65, 0.5], noise=0.01)
    late = Bandit([0.8, 0.65, 0.5], noise=0.01, delay=200)
    effort: dict[str, Any] = {"horizon": 400, "runs": 200, "checkpoints": 1}
    quick, slow = (simulate(rule, x, **effort).regret.mean() for x in (bandit, late))
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


MEANS = [0.75, 0.5, 0.25]


@pytest.mark.parametrize("name", ["hybrid-ts", "hybrid-ucb", "min-ucb", "hierarchical-ts"])
def test_a_common_error_of_all_logs_changes_no_pull(name: str) -> None:
    """If all arms have the same number of logs, even the first pull depends on differences."""
    played = [
        simulate(
            name,
            Bandit(MEANS, np.array(MEANS) + off, 16, relative_bound=0.125, logs="given"),
            horizon=200,
            runs=20,
            engine="every-round",
        ).pulls
        for off in (0.0, 4.0, -16.0)
    ]
    np.testing.assert_array_equal(played[0], played[1])
    np.testing.assert_array_equal(played[0], played[2])


@pytest.mark.parametrize("name", [name for name in POLICIES if not POLICIES[name].uses_logs])
def test_policies_without_logs_draw_no_common_move(name: str) -> None:
    plain = Bandit(MEANS, reward="bernoulli")  # accepted by every policy
    promised = Bandit(MEANS, MEANS, 16, reward="bernoulli", relative_bound=0.1)
    effort: dict[str, Any] = {"horizon": 100, "runs": 5, "engine": "every-round"}
    alone, beside = simulate(name, plain, **effort), simulate(name, promised, **effort)
    assert alone.regret.tobytes() == beside.regret.tobytes()


@pytest.mark.parametrize("name", [name for name in POLICIES if POLICIES[name].uses_logs])
def test_an_infinite_relative_bound_promises_nothing(name: str) -> None:
    plain = Bandit(MEANS, 0.5, 9, 0.2, "bernoulli")
    infinite = Bandit(MEANS, 0.5, 9, 0.2, "bernoulli", relative_bound=math.inf)
    effort: dict[str, Any] = {"horizon": 60, "runs": 4, "engine": "every-round"}
    one, other = simulate(name, plain, **effort), simulate(name, infinite, **effort)
    assert one.regret.tobytes() == other.regret.tobytes()


def test_logs_that_moved_together_save_regret() -> None:
    """Mean regret of 200 runs with a fixed seed; the margins are some ten standard errors wide."""
    means = [0.8] + [0.5] * 9
    bandit = Bandit(means, means, 200, relative_bound=0.0, common_shift=-1.0)
    policies = ["ts", "anchor-ts", "hybrid-ts"]
    lost = simulate(policies, bandit, horizon=2_000, runs=200, engine="every-round").summary()
    assert lost["anchor-ts"]["mean"] < 0.5 * lost["ts"]["mean"]
    assert lost["hybrid-ts"]["mean"] < 0.35 * lost["ts"]["mean"]
