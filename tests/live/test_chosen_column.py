"""Compiled choices are the interpreted ones, to the bit, for every kind of policy."""

import pytest

from benchmarks.pages.live_decisions import SETTINGS, differing
from driftanchor import POLICIES, ArtificialReplay, Policy

# One of each way to draw: two normals, a coin, nothing, a rule of its own, and other laws. What
# chooses is the same code in simulated rounds, where every policy is compared.
KINDS = ("anchor-ts", "epsilon-ts", "ucb", "guarded-anchor-ts", "beta-ts")


@pytest.mark.parametrize("name", KINDS)
def test_a_policy_decides_alike_compiled_and_interpreted(name: str) -> None:
    """`make claims` does the same for every policy over 10,000 decisions."""
    policy = POLICIES[name]()
    assert [differing(policy, setting, 120, seed=5) for setting in SETTINGS] == [0] * 4


@pytest.mark.parametrize("policy", [ArtificialReplay(base="ts"), ArtificialReplay(base="ucb")])
def test_a_policy_that_remembers_does_so_alike(policy: Policy) -> None:
    assert differing(policy, "bias bounds", 250, seed=6) == 0
