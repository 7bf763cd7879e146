"""What all policies have in common: choosing, ties, the numbers handed to the kernel, names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driftanchor import (
    POLICIES,
    TS,
    UCB,
    AnchorTS,
    ArmEvidence,
    Draws,
    EpsilonTS,
    Evidence,
    InvalidInput,
    MinUCB,
    Policy,
    Round,
    UnknownName,
)
from driftanchor.core.noise import keyed_stream, normal, wrapping
from driftanchor.policies import by_name, make

if TYPE_CHECKING:
    from conftest import Chance


@dataclass(frozen=True, kw_only=True)
class Told(Policy):
    """Its index of an arm is the arm's bias bound."""

    name = "told"
    formula = "V"
    source = "this test"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return arm.bias_bound


class Listener(TS):
    """Its index is the noise it is given."""

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return z.on


def chosen(rule: Policy, values: list[float], seed: int, playable: list[bool] | None = None) -> int:
    arms = len(values)
    evidence = Evidence(
        np.zeros(arms, np.int64),
        np.zeros(arms),
        np.zeros(arms, np.int64),
        np.zeros(arms),
        np.array(values, np.float64),
        np.array(playable or [True] * arms),
        np.zeros((arms, 0)),
        np.zeros(arms, np.int64),
        np.full(arms, np.inf),
    )
    with wrapping():
        return rule.choose(evidence, Round(1, arms), keyed_stream(seed, "choose", 0))


@pytest.mark.parametrize(
    ("values", "playable", "column"),
    [
        ([1.0, 3.0, 2.0], None, 1),
        ([1.0, 3.0, 2.0], [True, False, True], 2),
        ([math.inf, 3.0], None, 0),
        ([-math.inf, -5.0], None, 1),
        ([-math.inf], None, 0),
        ([math.nan, -5.0, math.nan], None, 1),
        ([math.nan, math.nan], None, -1),
        ([1.0, 2.0], [False, False], -1),
        ([math.nan, 2.0], [True, False], -1),
    ],
)
def test_the_largest_index_that_is_a_number_and_playable_is_chosen(
    values: list[float], playable: list[bool] | None, column: int
) -> None:
    for seed in range(20):
        assert chosen(Told(), values, seed, playable) == column


@pytest.mark.parametrize("value", [0.0, math.inf, -math.inf])
def test_arms_that_tie_are_equally_likely_wherever_they_stand(value: float, chance: Chance) -> None:
    """Four of six arms tie, 4,000 seeds: false alarm 1e-6."""
    values = [value, value, math.nan, value, value, math.nan]
    counts = np.bincount([chosen(Told(), values, seed) for seed in range(4000)], minlength=6)
    assert counts[[2, 5]].tolist() == [0, 0]
    chance.fits(counts[[0, 1, 3, 4]], np.full(4, 1000), false_alarm=1e-6)


def test_a_zero_ties_with_a_negative_zero(chance: Chance) -> None:
    counts = np.bincount([chosen(Told(), [0.0, -0.0], seed) for seed in range(2000)], minlength=2)
    chance.fits(counts, np.full(2, 1000), false_alarm=1e-6)


def test_every_arm_draws_its_noise_playable_or_not() -> None:
    for seed in range(50):
        stream = keyed_stream(seed, "choose", 0)
        with wrapping():
            noise = [normal(stream) for _ in range(3)]
        assert chosen(Listener(), [0.0] * 3, seed) == noise.index(max(noise))
        rest = max(noise[0], noise[2])
        assert chosen(Listener(), [0.0] * 3, seed, [True, False, True]) == noise.index(rest)


def test_the_kernel_gets_numbers_and_numeric_properties_alone() -> None:
    assert AnchorTS(noise=2).numbers()._asdict() == {
        "prior_mean": 0.0,
        "noise": 2.0,
        "posterior_scale": 1.0,
    }
    assert MinUCB(radius="cheung-lyu").numbers()._asdict() == {
        "prior_mean": 0.0,
        "noise": 1.0,
        "c": 2.0,
        "cheung_lyu": True,
    }


def test_the_numbers_of_a_class_have_one_type_whatever_their_values() -> None:
    for name, cls in POLICIES.items():
        assert type(cls().numbers()) is type(cls(noise=3.0).numbers()), name
    assert type(EpsilonTS().numbers()) is type(EpsilonTS(epsilon=0.5).numbers())
    assert type(TS().numbers()) is not type(Listener().numbers())


def test_a_policy_without_a_name_or_a_rule_says_so() -> None:
    with pytest.raises(InvalidInput, match="policy Policy has no name: give its class one"):
        Policy()

    @dataclass(frozen=True, kw_only=True)
    class Empty(Policy):
        name = "empty"

    with pytest.raises(InvalidInput, match="policy 'empty' defines neither index nor"):
        chosen(Empty(), [1.0], 0)
    assert Empty().explain(ArmEvidence(0, 0.0, 0, 0.0, 0.0), Round(1, 1), Draws(0, 0, 0)) == {}


def test_make_knows_every_policy_and_its_parameters() -> None:
    assert make("min-ucb", c=3) == MinUCB(c=3.0)
    with pytest.raises(UnknownName, match="unknown policy 'UCB'; known: anchor-ts, ts, ucb"):
        make("UCB")
    with pytest.raises(
        UnknownName, match="unknown parameter of policy 'ucb' 'radius'; known: prior_mean, noise, c"
    ):
        make("ucb", radius="ucb1")


@pytest.mark.parametrize(
    ("policies", "named"),
    [
        ("ts", {"ts": TS()}),
        (UCB(), {"ucb": UCB()}),
        (["ts", UCB(c=3)], {"ts": TS(), "ucb": UCB(c=3)}),
        ({"mine": UCB(c=3), "other": UCB()}, {"mine": UCB(c=3), "other": UCB()}),
    ],
)
def test_policies_get_the_names_they_are_reported_under(policies: Any, named: Any) -> None:
    assert by_name(policies) == named
    assert list(by_name(policies)) == list(named)
