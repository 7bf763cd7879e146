"""Evidence: what a policy may see."""

import math

import numpy as np
import pytest

from driftanchor import ArmEvidence, Arms, OfflineData, Tally
from driftanchor.core.evidence import arm_at, gather
from driftanchor.core.promises import bias_bounds, relative_bounds

ARMS = Arms(["A", "B"])


def test_evidence_has_the_numbers_of_each_arm_and_no_nan_without_logs() -> None:
    evidence = gather(
        Tally.empty(ARMS).add(0, 1.5),
        OfflineData.from_summary({"A": (5, 0.5), "B": (0,)}),
        bias_bounds([0.1, math.inf], ARMS),
        np.array([True, False]),
        np.zeros((2, 0)),
        np.array([2, 0]),
        relative_bounds([0.2, math.inf], ARMS),
    )
    assert arm_at(evidence, 0) == ArmEvidence(1, 1.5, 5, 0.5, 0.1, pending=2, relative_bound=0.2)
    assert arm_at(evidence, 1) == ArmEvidence(0, 0.0, 0, 0.0, math.inf)
    assert evidence.playable.tolist() == [True, False]
    for column in (-1, 2, 10**9):  # a negative one would be that of another arm
        with pytest.raises(IndexError, match="no arm has this column"):
            arm_at(evidence, column)
