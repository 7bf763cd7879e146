"""What every policy keeps to in whole runs: a new one is picked up from POLICIES by itself.

Statistical checks have a false-alarm rate of 1e-6 for each policy and bandit, and fixed seeds.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from interpreted_loops import played
from live_states import STATES
from policy_cases import VARIANTS, variants_of

from driftanchor import (
    POLICIES,
    Bandit,
    Policy,
    Result,
    simulate,
)
from driftanchor.core.evidence import Round
from driftanchor.core.promises import ANYTHING
from driftanchor.live.propensities import compiled, interpreted, propensities
from driftanchor.policies.base import has_law
from driftanchor.simulation.leaping import can_leap

if TYPE_CHECKING:
    from conftest import Chance

FALSE_ALARM = 1e-6

BANDITS = {
    "paper": Bandit([0.8, 0.5, 0.5], [0.5, 0.6, 0.6], 20),
    "one arm": Bandit([0.5], [0.4], 5),
    "no logs": Bandit([0.2, 0.1]),
    "logs of some arms": Bandit([0.5, 0.4, 0.3], [0.5, 0.0, 0.6], [7, 0, 12]),
    "nothing known of the bias": Bandit([0.5, 0.4], [0.1, 0.9], [9, 3], bias_bound=math.inf),
    "known for one arm": Bandit([0.5, 0.4, 0.6], 0.5, [9, 3, 0], bias_bound=[0.0, math.inf, 0.1]),
    "no bias": Bandit([0.5, 0.4], [0.5, 0.4], 10, bias_bound=0.0),
    "equal means": Bandit([0.5] * 4, [0.5] * 4, 5),
    "almost no noise": Bandit([1.0, 1.0, -1.0], [1.0, 1.0, -1.0], 3, noise=1e-300),
    "large and far from 0": Bandit([1e6, 1.1e6], [1.2e6, 1e6], 4, noise=1e5),
    "coins": Bandit([0.7, 0.3, 0.3], [0.2, 0.5, 0.5], [11, 0, 6], reward="bernoulli"),
    "sure coins": Bandit([1.0, 0.0, 1.0], [0.0, 1.0, 1.0], 3, reward="bernoulli"),
    "moved together": Bandit(
        [0.8, 0.5, 0.5], [0.8, 0.5, 0.4], [20, 7, 0], relative_bound=0.1, common_shift=-1.0
    ),
    "both promises": Bandit(
        [0.8, 0.5, 0.4],
        [0.8, 0.5, 0.5],
        [20, 7, 11],
        bias_bound=[0.2, 0.15, math.inf],
        relative_bound=[0.1, 0.2, 0.1],
        common_shift=-0.1,
    ),
    "only some move together": Bandit(
        [0.8, 0.5, 0.4], 0.5, [20, 7, 11], relative_bound=[0.0, 0.3, math.inf]
    ),
    "moved together, seen late": Bandit(
        [0.8, 0.5], [0.3, 0.0], 9, relative_bound=0.0, common_shift=-0.5, delay=2, batch=3
    ),
    "coins that moved together": Bandit(
        [0.5, 0.2], [0.5, 0.2], 9, relative_bound=0.1, common_shift=0.2, reward="bernoulli"
    ),
    "many arms": Bandit(np.linspace(0, 1, 17), np.linspace(1, 0, 17), np.arange(17)),
}


@pytest.fixture(scope="module", params=list(POLICIES))
def name(request: pytest.FixtureRequest) -> str:
    """The policy under test. Of module scope: all tests of one policy then share its kernel."""
    return str(request.param)


@pytest.fixture(scope="module")
def policy(name: str) -> Policy:
    return POLICIES[name]()


@pytest.fixture(scope="module")
def variants(name: str) -> list[Policy]:
    return variants_of(name)


def suited(rule: Policy, bandit: Bandit) -> Bandit:
    """The bandit, with coins in place of rewards that the rule is not made for."""
    if rule.reward_range == ANYTHING or bandit.reward == "bernoulli":
        return bandit
    return Bandit(
        bandit.online.clip(0, 1),
        bandit.offline.clip(0, 1),
        bandit.offline_pulls,
        bandit.bias_bound,
        "bernoulli",
        relative_bound=bandit.relative_bound,
        delay=bandit.delay,
        batch=bandit.batch,
    )


def run(policy: Policy, bandit: Bandit, **effort: Any) -> Result:
    return simulate({"it": policy}, suited(policy, bandit), **{"engine": "every-round", **effort})


def bits(result: Result, policy: str = "it") -> tuple[bytes, bytes]:
    row = result.policies.index(policy)
    return result.regret[row].tobytes(), result.pulls[row].tobytes()


class Case(NamedTuple):
    """A variant of the policy in a world, and its runs there, of `ROUNDS` rounds."""

    rule: Policy
    world: str
    result: Result


ROUNDS = 30


@pytest.fixture(scope="module")
def cases(variants: list[Policy]) -> list[Case]:
    """Each variant in each world, 20 runs."""
    found = []
    for rule, world in itertools.product(variants, BANDITS):
        effort = {"horizon": ROUNDS, "checkpoints": ROUNDS, "seed": 7, "runs": 20}
        found.append(Case(rule, world, run(rule, BANDITS[world], **effort)))
    return found


def test_interpreted_and_compiled_runs_are_equal_to_the_bit(cases: list[Case]) -> None:
    """The first two runs."""
    for rule, world, fast in cases:
        effort = {"horizon": ROUNDS, "checkpoints": ROUNDS, "seed": 7}
        slow = run(rule, BANDITS[world], **effort, runs=2, engine="interpreted")
        assert (fast.engine, slow.engine) == ("every-round", "interpreted")
        assert slow.regret.tobytes() == fast.regret[:, :2].tobytes(), (rule, world)
        assert slow.pulls.tobytes() == fast.pulls[:, :2].tobytes(), (rule, world)


@pytest.mark.parametrize("engine", ["events", "thinned"])
def test_engines_leap_where_they_can_and_play_every_round_elsewhere(
    engine: str, variants: list[Policy]
) -> None:
    """Leaps are the same to the bit when interpreted; the rest are the bits of every round."""
    effort: Any = {"runs": 2, "seed": 7}
    rounds = [7, 150]
    for rule, world in itertools.product(variants, BANDITS):
        bandit = suited(rule, BANDITS[world])
        fast = run(rule, bandit, horizon=150, checkpoints=rounds, engine=engine, **effort)
        assert fast.engine == engine
        if can_leap(type(rule), bandit):
            regret, pulls = played(engine, rule, bandit, checkpoints=rounds, **effort)
            assert fast.regret[0].tobytes() == regret.tobytes(), (rule, world)
            assert fast.pulls[0].tobytes() == pulls.tobytes(), (rule, world)
        else:
            every = run(rule, bandit, horizon=150, checkpoints=rounds, **effort)
            assert bits(fast) == bits(every), (rule, world)


def test_compiled_laws_are_the_interpreted_ones_to_the_bit(variants: list[Policy]) -> None:
    for rule, evidence in itertools.product(variants, STATES.values()):
        if not has_law(type(rule)):
            assert propensities(rule, evidence, Round(50, 3)) is None
            continue
        moves, rows = np.array([-1.0, 0.5]), 2 * evidence.pulls.size
        for guard in (True, False):
            ours, theirs = np.zeros((rows, 6)), np.zeros((rows, 6))
            asked = evidence, 50, int(evidence.playable.sum()), moves, guard
            kind = interpreted(rule)(*asked, ours)
            assert compiled(rule, evidence)(*asked, theirs) == tuple(kind)
            assert ours.tobytes() == theirs.tobytes(), rule


def test_pulls_and_regret_add_up(cases: list[Case]) -> None:
    for rule, world, result in cases:
        gaps = suited(rule, BANDITS[world]).gaps
        assert (result.pulls.sum(axis=2) == ROUNDS).all(), (rule, world)
        np.testing.assert_allclose(result.regret[..., -1], result.pulls @ gaps)
        steps = np.diff(result.regret, prepend=0.0, axis=2)
        assert (steps >= -1e-9 * gaps.max()).all(), (rule, world)


@pytest.mark.parametrize("logs", [0, 10])
def test_among_equal_arms_each_is_as_likely_to_be_the_first(
    variants: list[Policy], logs: int, chance: Chance
) -> None:
    for rule in variants:
        first = run(rule, Bandit([0.0] * 5, 0.0, logs), horizon=1, runs=4000).pulls[0]
        chance.fits(first.sum(axis=0), np.full(5, 800), false_alarm=FALSE_ALARM)


def test_ties_on_the_way_are_fair_too(variants: list[Policy], chance: Chance) -> None:
    """Coins that always win: after the first rounds arms with the same numbers keep tying."""
    bandit = Bandit([1.0] * 3, reward="bernoulli")
    for rule in variants:
        pulls = run(rule, bandit, horizon=4, runs=4000).pulls[0]
        most = (pulls == pulls.max(axis=1, keepdims=True)).astype(float)
        shares = (most / most.sum(axis=1, keepdims=True)).sum(axis=0)  # less spread than counts
        chance.fits(shares, np.full(3, 4000 / 3), false_alarm=FALSE_ALARM)


def test_the_order_of_the_arms_does_not_matter(variants: list[Policy], chance: Chance) -> None:
    """Regret and the pulls of each of four arms, on other noise: five tests at a fifth each."""
    online, offline = np.array([0.8, 0.5, 0.4, 0.1]), np.array([0.5, 0.6, 0.2, 0.3])
    logs, order = np.array([5, 20, 0, 10]), [3, 0, 2, 1]
    for rule in variants:
        straight = run(rule, Bandit(online, offline, logs), horizon=60, runs=2000, seed=1)
        moved = Bandit(online[order], offline[order], logs[order])
        turned = run(rule, moved, horizon=60, runs=2000, seed=2)
        chance.same_mean(straight.final("it"), turned.final("it"), false_alarm=FALSE_ALARM / 5)
        for there, here in enumerate(order):
            chance.same_mean(
                straight.pulls[0, :, here], turned.pulls[0, :, there], false_alarm=FALSE_ALARM / 5
            )


@pytest.mark.parametrize(
    ("scale", "shift"), [(4.0, 0.0), (0.125, 0.0), (10.0, 0.0), (1.0, 2.0), (10.0, -50.0)]
)
def test_other_units_of_reward_change_no_pull(name: str, scale: float, shift: float) -> None:
    online, offline = np.array([0.8, 0.5, 0.4]), np.array([0.5, 0.6, 0.0])
    logs, bound = [20, 30, 0], np.array([0.3, 0.2, math.inf])
    for parameters in [{}, *VARIANTS.get(name, [])]:
        if POLICIES[name](**parameters).reward_range != ANYTHING:
            continue  # its rewards have one unit
        plain = run(
            POLICIES[name](**parameters), Bandit(online, offline, logs, bound), horizon=200, runs=50
        )
        moved = run(
            POLICIES[name](**parameters, prior_mean=shift, noise=scale),
            Bandit(
                online * scale + shift,
                offline * scale + shift,
                logs,
                bound * scale,
                noise=scale,
            ),
            horizon=200,
            runs=50,
        )
        np.testing.assert_array_equal(moved.pulls, plain.pulls)
        np.testing.assert_allclose(moved.regret, plain.regret * scale, rtol=1e-9)


def test_the_numbers_depend_on_the_seed_and_not_on_threads_or_chunks(policy: Policy) -> None:
    effort = {"horizon": 60, "runs": 150}
    one = run(policy, BANDITS["paper"], **effort, seed=3, threads=1)
    assert bits(run(policy, BANDITS["paper"], **effort, seed=3, threads=2)) == bits(one)
    assert bits(run(policy, BANDITS["paper"], **effort, seed=3, threads=7)) == bits(one)
    assert bits(run(policy, BANDITS["paper"], **effort, seed=4, threads=1)) != bits(one)


def test_company_and_order_change_nothing(policy: Policy) -> None:
    effort: Any = {"horizon": 60, "runs": 10, "seed": 3}
    alone = run(policy, BANDITS["paper"], **effort)
    company = {"first": POLICIES["ts"](), "it": policy, "last": POLICIES["ucb"]()}
    turned = dict(reversed(company.items()))
    for together in (company, turned):
        bandit = suited(policy, BANDITS["paper"])
        result = simulate(together, bandit, engine="every-round", **effort)
        assert bits(result) == bits(alone)


def test_one_that_says_it_uses_no_logs_uses_none(variants: list[Policy]) -> None:
    """Nor if an engine leaps."""
    plain = Bandit([0.5, 0.4, 0.3])
    logged = Bandit(plain.online, [0.1, 0.9, 0.2], [9, 30, 4], bias_bound=0.1)
    for policy in variants:
        if policy.uses_logs:
            continue
        effort: Any = {"horizon": 200, "runs": 4}
        assert bits(run(policy, plain, **effort)) == bits(run(policy, logged, **effort))
        leaping: Any = {**effort, "engine": "events"}
        assert bits(run(policy, plain, **leaping)) == bits(run(policy, logged, **leaping))


def test_one_that_says_it_uses_no_bounds_uses_none(variants: list[Policy]) -> None:
    def seen(policy: Policy, bound: float) -> tuple[bytes, bytes]:
        bandit = Bandit([0.5, 0.4, 0.3], [0.1, 0.9, 0.2], [9, 30, 4], bias_bound=bound)
        return bits(run(policy, bandit, horizon=200, runs=4))

    for policy in variants:
        assert policy.uses_bounds or seen(policy, 0.1) == seen(policy, math.inf)


def test_a_short_simulation_is_the_beginning_of_a_long_one(policy: Policy) -> None:
    long = run(policy, BANDITS["paper"], horizon=80, runs=20, checkpoints=80)
    fewer = run(policy, BANDITS["paper"], horizon=80, runs=7, checkpoints=80)
    assert fewer.regret.tobytes() == long.regret[:, :7].tobytes()
    assert fewer.pulls.tobytes() == long.pulls[:, :7].tobytes()
    shorter = run(policy, BANDITS["paper"], horizon=30, runs=20, checkpoints=30)
    assert shorter.regret.tobytes() == long.regret[:, :, :30].tobytes()
