"""The rules of `ablations` differ from Anchor-TS in what they take of its three numbers."""

import pytest

from driftanchor import Bandit
from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.noise import Draws
from driftanchor.experiments.ablations import AnchorMax, AnchorMean, AnchorMin
from driftanchor.policies import POLICIES, AnchorTS
from driftanchor.policies.base import Policy, has_law
from driftanchor.simulation.leaping import can_leap

ARM = ArmEvidence(pulls=3, total=1.2, offline_pulls=4, offline_mean=0.5, bias_bound=0.7)
NOW = Round(t=4, arms=2)


@pytest.mark.parametrize("z", [Draws(1.0, -1.0, 0.0), Draws(-0.5, 0.3, 0.0), Draws(0.2, 2.0, 0.0)])
def test_each_takes_its_number_of_the_three(z: Draws) -> None:
    three = AnchorTS().explain(ARM, NOW, z)
    samples = three["online_sample"], three["hybrid_sample"]
    assert AnchorMin().index(ARM, NOW, z) == min(samples)
    assert AnchorMax().index(ARM, NOW, z) == max(samples)
    assert AnchorMean().index(ARM, NOW, z) == pytest.approx(sum(three.values()) / 3)
    assert AnchorTS().index(ARM, NOW, z) == sorted(three.values())[1]


@pytest.mark.parametrize("rule", [AnchorMin, AnchorMax, AnchorMean])
def test_they_are_not_offered_and_state_no_law(rule: type[Policy]) -> None:
    assert rule.name not in POLICIES
    assert not has_law(rule)
    assert not can_leap(rule, Bandit([0.5, 0.4]))
