"""What every policy keeps to in a single decision, and what it says of itself."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from policy_cases import variants_of

import driftanchor
from driftanchor import (
    POLICIES,
    ArmEvidence,
    Draws,
    Evidence,
    InvalidInput,
    Policy,
    Round,
)
from driftanchor.core.index_law import MIXTURE
from driftanchor.core.noise import keyed_stream, wrapping
from driftanchor.policies import make
from driftanchor.policies.base import has_law, law_of

each_policy = pytest.mark.parametrize("name", list(POLICIES))


@each_policy
def test_it_says_what_it_is(name: str) -> None:
    cls = POLICIES[name]
    assert cls.name == name
    assert cls.__module__ == f"driftanchor.policies.{name.replace('-', '_')}"
    assert getattr(driftanchor, cls.__name__) is cls
    assert cls.formula.strip()
    assert cls.source.strip()
    assert cls.__doc__ is not None
    assert "Example:" in cls.__doc__
    assert ">>> " in cls.__doc__
    for field in dataclasses.fields(cls):
        assert f"{field.name}: " in cls.__doc__


@each_policy
def test_it_is_frozen_comparable_and_hashable(name: str) -> None:
    policy = POLICIES[name]()
    same: Any = POLICIES[name]()
    assert same == policy
    assert hash(same) == hash(policy)
    assert POLICIES[name](noise=2.0) != policy
    assert pickle.loads(pickle.dumps(policy)) == policy
    for field in dataclasses.fields(same):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(same, field.name, 1.0)


@each_policy
def test_its_parameters_make_it_again(name: str) -> None:
    for rule in [*variants_of(name), make(name, prior_mean=1, noise=np.float32(2))]:
        saved = json.loads(json.dumps(rule.parameters(), allow_nan=False))
        assert make(name, **saved) == rule


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("noise", 0, "must be greater than 0, got 0"),
        ("noise", -1.5, r"must be greater than 0, got -1\.5"),
        ("noise", math.nan, "must be a number, got nan"),
        ("noise", math.inf, "must be finite, got inf"),
        ("noise", "1", "must be a number, got '1'"),
        ("prior_mean", math.nan, "must be a number, got nan"),
        ("prior_mean", -math.inf, "must be finite, got -inf"),
        ("prior_mean", None, "must be a number, got None"),
    ],
)
def test_unusable_noise_and_prior_mean_are_refused(
    parameter: str, value: object, message: str
) -> None:
    for name in POLICIES:
        with pytest.raises(InvalidInput, match=f"^{parameter} of policy '{name}' {message}"):
            make(name, **{parameter: value})


@each_policy
def test_an_unknown_parameter_gets_the_nearest(name: str) -> None:
    with pytest.raises(
        InvalidInput, match=f"parameter of policy '{name}' 'noize'; did you mean 'noise'"
    ):
        make(name, noize=1.0)


NUMBERS = st.floats(-1e9, 1e9)
COUNTS = st.integers(0, 10**9)


@st.composite
def arms(draw: st.DrawFn) -> ArmEvidence:
    pulls, logs = draw(COUNTS), draw(COUNTS)
    total = draw(NUMBERS) if pulls else 0.0
    mean = draw(NUMBERS) if logs else 0.0
    bounds = st.floats(0, math.inf)
    return ArmEvidence(pulls, total, logs, mean, draw(bounds), 0, draw(bounds))


DRAWS = st.builds(Draws, st.floats(-12, 12), st.floats(-12, 12), st.floats(0, 1, exclude_max=True))


def every_rule(**common: float) -> Iterator[Policy]:
    """Every policy in its variants: what is drawn for a test serves all of them."""
    for name in POLICIES:
        for rule in variants_of(name, **common):
            note(repr(rule))
            yield rule


def has_index(rule: Policy) -> bool:
    """Whether the rule gives an arm an index by itself; others look at all arms at once."""
    cls = type(rule)
    return cls.index is not Policy.index or cls.sample is not Policy.sample


@given(arms(), st.integers(1, 10**9), st.integers(1, 1000), DRAWS, NUMBERS, st.floats(1e-9, 1e9))
def test_the_index_is_a_number_or_plus_infinity_and_depends_on_its_arguments_alone(
    arm: ArmEvidence, t: int, many: int, z: Draws, prior_mean: float, noise: float
) -> None:
    for rule in every_rule(prior_mean=prior_mean, noise=noise):
        if not has_index(rule):
            assert type(rule).choose is not Policy.choose
            assert type(rule).account is not Policy.account  # where this is asked instead
            continue
        value = rule.index(arm, Round(max(t, int(arm.pulls) + 1), many), z)
        assert isinstance(value, float)
        assert value > -math.inf  # and not NaN
        assert rule.index(arm, Round(max(t, int(arm.pulls) + 1), many), z) == value
        for part in rule.explain(arm, Round(max(t, int(arm.pulls) + 1), many), z).values():
            assert not math.isnan(part)


@given(arms(), NUMBERS, DRAWS, st.floats(1e-9, 1e9))
def test_the_index_of_an_arm_that_moved_is_a_number_too(
    arm: ArmEvidence, common: float, z: Draws, noise: float
) -> None:
    for rule in every_rule(noise=noise):
        there = rule.moved(arm, common)
        assert isinstance(there.offline_pulls, float)
        assert there[:2] == arm[:2]
        if has_index(rule):
            assert rule.index(there, Round(int(arm.pulls) + 1, 3), z) > -math.inf  # and not NaN


@given(arms(), NUMBERS, st.integers(1, 10**9), DRAWS, NUMBERS, st.floats(1e-3, 1e3))
def test_a_policy_that_leaps_has_a_law_that_only_its_own_rewards_change(
    arm: ArmEvidence, reward: float, t: int, z: Draws, prior_mean: float, noise: float
) -> None:
    """The mean of the law moves with each reward as the class says, whatever the round."""
    for rule in every_rule(prior_mean=prior_mean, noise=noise):
        if rule.leaps is None:
            continue
        assert has_law(type(rule))
        weight = arm.pulls + 1 + (arm.offline_pulls if rule.leaps == "hybrid" else 0)
        law = law_of(rule, arm, Round(1, 2))
        assert law_of(rule, arm, Round(t, 7)) == law
        after = law_of(
            rule, arm._replace(pulls=arm.pulls + 1, total=arm.total + reward), Round(1, 2)
        )
        scale = abs(law.mean) + abs(reward) + abs(arm.total)
        due = (law.mean * weight + reward) / (weight + 1)
        assert after.mean == pytest.approx(due, rel=1e-9, abs=1e-12 * scale)
        assert after.sd == pytest.approx(law.sd * math.sqrt(weight / (weight + 1)))


@given(arms(), st.integers(1, 10**9), DRAWS)
def test_the_index_is_drawn_from_its_law(arm: ArmEvidence, t: int, z: Draws) -> None:
    """With the noise of the index: its law is a median of two samples, or one of them by a coin."""
    for rule in every_rule():
        if not (has_law(type(rule)) and has_index(rule)):
            continue
        now = Round(max(t, int(arm.pulls) + 1), 3)
        law, value = law_of(rule, arm, now), rule.index(arm, now, z)
        first = law.mean + law.sd * z.on
        if law.kind == MIXTURE:
            other = law.other_mean + law.other_sd * z.on
            assert value in (pytest.approx(first), pytest.approx(other))
        else:
            other = law.other_mean + law.other_sd * z.hyb
            assert value == pytest.approx(sorted([law.place, first, other])[1])


def gathered(columns: list[tuple[ArmEvidence, bool]], memory: int) -> Evidence:
    seen = [arm._replace(offline_pulls=arm.offline_pulls % 20) for arm, _ in columns]
    return Evidence(
        np.array([arm.pulls for arm in seen]),
        np.array([arm.total for arm in seen]),
        np.array([arm.offline_pulls for arm in seen]),
        np.array([arm.offline_mean for arm in seen]),
        np.array([arm.bias_bound for arm in seen]),
        np.array([on for _, on in columns]),
        np.zeros((len(seen), memory)),
        np.array([arm.pending for arm in seen]),
        np.array([arm.relative_bound for arm in seen]),
    )


@given(
    st.lists(st.tuples(arms(), st.booleans()), min_size=1, max_size=4),
    st.integers(0, 2**32),
    st.floats(1e-9, 1e9),
)
def test_an_account_is_of_what_was_chosen_and_its_numbers_are_numbers(
    columns: list[tuple[ArmEvidence, bool]], seed: int, noise: float
) -> None:
    for rule in every_rule(noise=noise):
        now = Round(
            1 + sum(int(arm.pulls) for arm, _ in columns), max(1, sum(on for _, on in columns))
        )
        with wrapping():
            evidence = gathered(columns, rule.memory)
            chosen = rule.choose(evidence, now, keyed_stream(seed, "choose", 0))
            evidence = gathered(columns, rule.memory)
            told = rule.account(evidence, now, keyed_stream(seed, "choose", 0))
        assert told.column == chosen
        assert len(told.arms) in (0, len(columns))  # none where the policy names no numbers
        for value, parts in told.arms:
            assert value > -math.inf  # and not NaN
            assert not any(math.isnan(part) for part in parts.values())
        if told.arms and chosen >= 0:
            open_to = [value for (value, _), (_, on) in zip(told.arms, columns, strict=True) if on]
            assert told.arms[chosen][0] == max(open_to)


@given(
    st.lists(st.tuples(arms(), st.booleans()), min_size=1, max_size=5),
    st.integers(0, 2**32),
)
def test_only_playable_arms_are_chosen(columns: list[tuple[ArmEvidence, bool]], seed: int) -> None:
    playable = np.array([on for _, on in columns])
    for rule in every_rule():
        evidence = gathered(columns, rule.memory)
        now = Round(1 + sum(int(arm.pulls) for arm, _ in columns), max(1, int(playable.sum())))
        with wrapping():
            chosen = rule.choose(evidence, now, keyed_stream(seed, "choose", 0))
        assert playable[chosen] if playable.any() else chosen == -1
