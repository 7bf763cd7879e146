"""Runs side by side: the numbers of the interpreted loop, to the bit, whatever the policy does.

That every policy of the package gives them in every kind of bandit is in `tests/contracts`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from driftanchor import (
    POLICIES,
    TS,
    UCB,
    AnchorTS,
    ArmEvidence,
    Bandit,
    Draws,
    InvalidInput,
    Policy,
    Result,
    Round,
    simulate,
)
from driftanchor.core.noise import Stream, key, normal, uniform, wrapping
from driftanchor.core.posterior import online_posterior, sample_mean
from driftanchor.simulation.lanes import Unsuited
from driftanchor.simulation.reference import Keys
from driftanchor.simulation.vectorised import runs_at_once, side_by_side
from driftanchor.simulation.world import world_of

BANDIT = Bandit([0.8, 0.5, 0.5, 0.2], [0.5, 0.6, 0.6, 0.2], [20, 0, 3, 8])
COINS = Bandit([0.7, 0.3, 0.3], [0.2, 0.5, 0.5], [11, 0, 6], reward="bernoulli")


def runs_of(policy: Policy, bandit: Bandit = BANDIT, **effort: Any) -> Result:
    return simulate({"it": policy}, bandit, **{"horizon": 60, "runs": 9, "seed": 3, **effort})


def same(one: Result, other: Result) -> bool:
    alike = one.pulls.tobytes() == other.pulls.tobytes()
    return alike and one.regret.tobytes() == other.regret.tobytes()


def by_numpy_alone(policy: Policy, bandit: Bandit, runs: int, horizon: int) -> Any:
    """The pulls of runs side by side; raises where only the interpreted loop could play them."""
    world = world_of(bandit)
    keys = Keys(key(3, "rewards"), key(3, "logs"), key(3, f"policy/{policy.name}"))
    pulls = np.zeros((runs, bandit.online.size), np.int64)
    with wrapping():
        assert side_by_side(policy, world, keys, 0, np.array([horizon]), np.empty((runs, 1)), pulls)
    return pulls


@pytest.mark.parametrize("bandit", [BANDIT, COINS], ids=["gaussian", "bernoulli"])
@pytest.mark.parametrize(
    "name", [name for name, cls in POLICIES.items() if cls.choose is Policy.choose]
)
def test_the_policies_here_run_in_numpy_alone_through_many_blocks_of_words(
    name: str, bandit: Bandit
) -> None:
    """Compared with compiled runs, which equal interpreted ones and are there in no time."""
    ours = by_numpy_alone(POLICIES[name](), bandit, 120, 1200)
    theirs = runs_of(POLICIES[name](), bandit, runs=120, horizon=1200, engine="every-round")
    assert ours.tolist() == theirs.pulls[0].tolist()


@pytest.mark.parametrize("bandit", [BANDIT, Bandit([0.5], [0.4], 5)], ids=["arms", "one arm"])
def test_one_run_and_one_arm(bandit: Bandit) -> None:
    for rule in (AnchorTS(), UCB()):
        many = by_numpy_alone(rule, bandit, 3, 100)
        assert by_numpy_alone(rule, bandit, 1, 100).tolist() == many[:1].tolist()
        alone = runs_of(rule, bandit, runs=1, horizon=700, engine="vectorised")
        assert same(alone, runs_of(rule, bandit, runs=1, horizon=700, engine="interpreted"))


def test_chunks_change_no_number_and_progress_is_told_after_each() -> None:
    assert [runs_at_once(arms) for arms in (1, 10, 100, 10**4)] == [500, 500, 81, 16]
    bandit = Bandit(np.linspace(0.0, 0.1, 300))
    told: list[tuple[int, int]] = []
    result = simulate(
        ["ts", "ucb"],
        bandit,
        horizon=9,
        runs=60,
        engine="vectorised",
        progress=lambda done, of: told.append((done, of)),
    )
    assert told == [(done, 120) for done in (27, 54, 60, 87, 114, 120)]
    theirs = simulate(["ts", "ucb"], bandit, horizon=9, runs=60, engine="every-round")
    assert same(result, theirs)


@dataclass(frozen=True, kw_only=True)
class Own(Policy):
    """What policies of one's own share in these tests."""

    formula = "none"
    source = "this test"


class Branching(Own):
    """Other rules for arms that were never played, played a little, or go badly; its own draws."""

    name = "branching"

    @staticmethod
    def draw(stream: Stream) -> Draws:
        return Draws(normal(stream) * uniform(stream), 0.0, uniform(stream))

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        if arm.pulls == 0:
            return math.inf
        if arm.pulls < 5 or z.coin < 0.1:
            return arm.total / arm.pulls + z.on
        mean = online_posterior(arm, self.prior_mean, self.noise).mean
        return mean if mean > 0.3 else -(abs(mean) ** 1.5)


class Believing(Own):
    """A belief without a type named for it, and logarithms that differ from run to run."""

    name = "believing"

    def believe(self, arm: ArmEvidence) -> Any:
        return sample_mean(arm.total, arm.pulls, self.noise)

    def sample(self, belief: Any, now: Round, z: Draws) -> float:
        log = math.log(max(1.0 / (belief.sd * belief.sd), 1.0)) if belief.sd > 0.0 else 0.0
        return float(belief.mean + belief.sd * math.sqrt(log + math.log(now.t)))


@pytest.mark.parametrize("rule", [Branching(), Believing()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("bandit", [BANDIT, COINS], ids=["gaussian", "bernoulli"])
def test_policies_of_ones_own_run_in_numpy_alone(rule: Policy, bandit: Bandit) -> None:
    theirs = runs_of(rule, bandit, engine="interpreted")
    assert by_numpy_alone(rule, bandit, 9, 60).tolist() == theirs.pulls[0].tolist()
    assert same(runs_of(rule, bandit, engine="vectorised"), theirs)


class Methodical(Own):
    """Its index is in a method of its own."""

    name = "methodical"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return self.helper(arm)

    def helper(self, arm: ArmEvidence) -> float:
        return float(np.median([arm.total, arm.offline_mean, 0.1 * arm.pulls]))


class Dividing(Own):
    """NaN, with a warning, for arms that were never played: 0/0 of NumPy's numbers."""

    name = "dividing"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return max(now.t % 4 == arm.offline_pulls % 4, arm.total / arm.pulls)


class Choosy(TS):
    """TS that leaves the last arm out."""

    name = "choosy"

    def choose(self, evidence: Any, now: Round, stream: Stream) -> int:
        column = super().choose(evidence, now, stream)
        return min(column, int(evidence.pulls.size) - 2)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("rule", [Methodical(), Dividing(), Choosy()], ids=lambda rule: rule.name)
def test_what_numpy_cannot_do_is_interpreted(rule: Policy) -> None:
    with pytest.raises((Unsuited, AttributeError, FloatingPointError)):
        by_numpy_alone(rule, BANDIT, 9, 60)
    assert same(runs_of(rule, engine="vectorised"), runs_of(rule, engine="interpreted"))


class Careless(Own):
    """Does to many runs together, without a complaint, what it would do to one."""

    name = "careless"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        total: Any = arm.total
        return -float(abs(total.max()) + arm.pulls)


def test_the_trial_finds_what_comes_out_otherwise() -> None:
    theirs = runs_of(Careless(), engine="interpreted")
    assert by_numpy_alone(Careless(), BANDIT, 9, 60).tolist() != theirs.pulls[0].tolist()
    assert same(runs_of(Careless(), engine="vectorised"), theirs)


@pytest.mark.parametrize("late", [1, 250])
def test_what_a_policy_raises_is_raised(late: int) -> None:
    """In the trial, and long after it."""

    class Failing(Own):
        name = "failing"

        def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
            return math.sqrt(-1.0 - arm.pulls) if now.t >= late else 1.0

    with pytest.raises(ValueError, match="math domain error"):
        runs_of(Failing(), horizon=300, engine="vectorised")


class Blind(Own):
    """NaN from some round on."""

    name = "blind"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return math.nan if now.t > 200 else float(arm.bias_bound)


def test_a_run_without_an_arm_to_play_is_refused() -> None:
    with pytest.raises(InvalidInput, match="policy 'it' chose no arm: its index is NaN"):
        runs_of(Blind(), horizon=300, engine="vectorised")
    assert same(runs_of(Blind(), engine="vectorised"), runs_of(Blind(), engine="interpreted"))
