"""Runs in batches have the law of runs whose rewards arrive in the same batches.

All seeds are fixed. Each statistical check states the probability that correct code fails it.
"""

import dataclasses
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmarks.pages.exactness import chance_of_gap
from driftanchor import (
    POLICIES,
    TS,
    AnchorTS,
    ArmEvidence,
    Bandit,
    GuardedAnchorTS,
    HierarchicalTS,
    InvalidInput,
    Law,
    Policy,
    random_bandit,
)
from driftanchor.core.check import Floats
from driftanchor.core.posterior import Posterior
from driftanchor.core.win_chances import win_chances
from driftanchor.simulation import batches
from driftanchor.simulation.batches import can_batch, largest_batch, play_in_batches
from driftanchor.simulation.chunk import Chunk, play

if TYPE_CHECKING:
    from conftest import Chance

WORLD: dict[str, Any] = {"online": [0.6, 0.3, 0.2], "offline": [0.5, 0.4, 0.2]}
V: dict[str, Any] = {**WORLD, "offline_pulls": [20, 9, 0], "bias_bound": 0.3}
W: dict[str, Any] = {
    **WORLD,
    "offline_pulls": [20, 9, 15],
    "relative_bound": 0.2,
    "common_shift": 0.5,
}


def runs_of(policy: Policy, bandit: Bandit, **changes: Any) -> Chunk:
    effort: dict[str, Any] = {"horizon": 200, "runs": 8, "seed": 1, "checkpoints": 1}
    effort["engine"] = "every-round"
    return Chunk.all_runs(policy.name, policy, bandit, **(effort | changes))


def fixed_batches(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all batches have the same size."""

    def schedule(horizon: int) -> Iterator[tuple[int, int]]:
        return ((t, size) for t in range(1, horizon + 1, size))

    monkeypatch.setattr(batches, "batches", schedule)


def agree(policy: Policy, world: dict[str, Any], size: int, horizon: int, chance: Any) -> None:
    """Compare final regret and the pulls of two arms: Welch and Kolmogorov–Smirnov at 1e-6 each."""
    regret, pulls = play_in_batches(runs_of(policy, Bandit(**world), runs=1_200, horizon=horizon))
    late = runs_of(policy, Bandit(**world, batch=size), runs=6_000, seed=2, horizon=horizon)
    late_regret, late_pulls = play(late)
    pairs = [(regret[:, 0], late_regret[:, 0])]
    counts = pulls.astype(np.float64), late_pulls.astype(np.float64)
    pairs += [(counts[0][:, arm], counts[1][:, arm]) for arm in (0, 1)]
    for one, other in pairs:
        chance.same_mean(one, other, false_alarm=1e-6)
        assert chance_of_gap(one.round(6), other.round(6)) > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("policy", [TS(), AnchorTS(), HierarchicalTS()], ids=lambda p: p.name)
def test_batches_have_the_law_of_late_rewards(
    policy: Policy, chance: "Chance", monkeypatch: pytest.MonkeyPatch
) -> None:
    """False alarms: 3 policies × 6 checks at 1e-6, 2e-5 in all; means 0.2 sd apart are seen."""
    fixed_batches(10, monkeypatch)
    agree(policy, V, 10, 200, chance)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "world"),
    [(HierarchicalTS(), W), (AnchorTS(), W), (GuardedAnchorTS(), V), (GuardedAnchorTS(), W)],
    ids=["hierarchical-ts, W", "anchor-ts, W", "guarded, V", "guarded, W"],
)
def test_batches_of_one_have_the_law_of_every_round(
    policy: Policy, world: dict[str, Any], chance: "Chance", monkeypatch: pytest.MonkeyPatch
) -> None:
    """False alarms: 4 cases × 6 checks at 1e-6, 2e-5 in all.

    In a longer batch all decisions share a few draws of the common move, and the guard is asked
    only at its start, so there the laws are close and not the same. Runs share the draws of the
    common move too, so their mean varies a little more than that of independent runs.
    """
    fixed_batches(1, monkeypatch)
    agree(policy, world, 1, 30, chance)


def test_a_wrong_propensity_is_seen(chance: "Chance", monkeypatch: pytest.MonkeyPatch) -> None:

    def wrong(laws: Floats) -> Floats:
        return 0.9 * win_chances(laws) + 0.1 / 3

    monkeypatch.setattr(batches, "win_chances", wrong)
    fixed_batches(10, monkeypatch)
    with pytest.raises(AssertionError):
        agree(TS(), V, 10, 200, chance)


POOLS = [[0.0, 1.0, 1.0, 0.5], [0.4, 0.1], [-1.0, 1.0, 0.25]]
BANDITS = {
    "V": Bandit(**V),
    "W": Bandit(**W),
    "Bernoulli": Bandit(**V, reward="bernoulli"),
    "Student": Bandit(**V, reward="student"),
    "resampled": Bandit.resampling(POOLS, 0.5, [20, 9, 0], 0.3),
    "random": random_bandit(Law.normal(0, 1), 3, 20, bias=Law.uniform(-0.5, 0.1)),
}
SAMPLING = [TS(), AnchorTS(), HierarchicalTS(), GuardedAnchorTS(guard_share=0.5)]


@pytest.mark.parametrize("bandit", BANDITS)
@pytest.mark.parametrize("policy", SAMPLING, ids=lambda p: p.name)
def test_interpreted_equals_compiled(policy: Policy, bandit: str) -> None:
    fast = runs_of(policy, BANDITS[bandit])
    regret, pulls = play_in_batches(fast)
    assert (pulls.sum(axis=1) == 200).all()
    slow = play_in_batches(dataclasses.replace(fast, engine="interpreted"))
    assert regret.tobytes() == slow[0].tobytes()
    assert pulls.tobytes() == slow[1].tobytes()
    if bandit != "random":
        assert regret[:, 0] == pytest.approx(pulls @ BANDITS[bandit].gaps)


def test_runs_with_their_own_means_are_the_runs_of_their_bandits() -> None:
    means = np.array([[0.1, 0.7, 0.2], [0.9, 0.3, 0.2], [0.4, 0.4, 0.5]])
    together = dataclasses.replace(runs_of(AnchorTS(), Bandit(**V), runs=3), means=means)
    regret, pulls = play_in_batches(together)
    for run, row in enumerate(means):
        bandit = Bandit(**{**V, "online": row})
        alone = dataclasses.replace(runs_of(AnchorTS(), bandit, runs=1), first=run)
        lost, pulled = play_in_batches(alone)
        assert pulls[run].tolist() == pulled[0].tolist()
        assert regret[run] == pytest.approx(lost[0])


def test_guard_pulls_are_decided_one_by_one_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only guard pulls call `choose`. In 8 runs of 2,000 rounds they are most pulls of arm 2."""
    bandit = Bandit([1.0, 0.0], [1.0, 0.2], 50, [0.1, 1.0], noise=0.5)
    chunk = runs_of(GuardedAnchorTS(noise=0.5), bandit, horizon=2_000)
    chosen: list[int] = []
    every = play(chunk)[1]
    choose = GuardedAnchorTS.choose

    def noted(*arguments: Any) -> int:
        chosen.append(choose(*arguments))
        return chosen[-1]

    monkeypatch.setattr(GuardedAnchorTS, "choose", noted)
    regret, pulls = play_in_batches(dataclasses.replace(chunk, engine="interpreted"))
    assert 0.5 * pulls[:, 1].sum() < chosen.count(1) <= pulls[:, 1].sum()
    assert regret[:, 0].tolist() == pulls[:, 1].tolist()
    assert pulls[:, 1].mean() == pytest.approx(every[:, 1].mean(), rel=0.25)


@pytest.mark.parametrize("horizon", [1, 31, 64, 65, 1_000, 123_457, 10**7])
def test_batches_are_a_share_of_the_decisions_before_and_add_up(horizon: int) -> None:
    schedule = list(batches.batches(horizon))
    assert sum(size for _, size in schedule) == horizon
    for t, size in schedule[:-1]:
        assert size == max(1, (t - 1) // batches.SHARE)
    assert [t for t, _ in schedule] == [1, *np.cumsum([size for _, size in schedule])[:-1] + 1]
    assert largest_batch(horizon) == max(size for _, size in schedule)


def test_sampling_policies_are_played_in_batches() -> None:
    batched = {name for name, cls in POLICIES.items() if can_batch(cls)}
    assert batched >= {"ts", "anchor-ts", "hierarchical-ts", "guarded-anchor-ts", "sam-ts"}
    assert not batched & {"ucb", "min-ucb", "kl-ucb", "moss", "ada-ucb"}


class Nowhere(TS):
    """Believes nothing."""

    name = "nowhere"

    def believe(self, arm: ArmEvidence) -> Posterior:
        return Posterior(math.nan, 1.0)


class Broken(TS):
    """Raises after some pulls."""

    name = "broken"

    def believe(self, arm: ArmEvidence) -> Posterior:
        if arm.pulls > 9:
            raise ValueError("no more")
        return Posterior(0.0, 1.0)


@pytest.mark.parametrize("engine", ["interpreted", "every-round"])
def test_a_policy_that_cannot_choose_is_named(engine: str) -> None:
    with pytest.raises(InvalidInput, match="policy 'nowhere' chose no arm"):
        play_in_batches(runs_of(Nowhere(), Bandit(**V), engine=engine))
    with pytest.raises(InvalidInput, match="policy 'broken' raised ValueError: no more"):
        play_in_batches(runs_of(Broken(), Bandit(**V), engine=engine))
