"""Evidence: what a policy may see."""

import math

import numpy as np
import pytest

from driftanchor import ArmEvidence, Evidence, OfflineData
from driftanchor.core.evidence import arm_at, means_seen


def test_evidence_has_the_numbers_of_each_arm_and_no_nan_without_logs() -> None:
    offline = OfflineData.from_summary({"A": (5, 0.5), "B": (0,)})
    evidence = Evidence(
        pulls=np.array([1, 0]),
        totals=np.array([1.5, 0.0]),
        offline_pulls=offline.n,
        offline_means=means_seen(offline),
        bias_bounds=np.array([0.1, math.inf]),
        playable=np.array([True, False]),
        memory=np.zeros((2, 0)),
        pending=np.array([2, 0]),
        relative_bounds=np.array([0.2, math.inf]),
    )
    assert arm_at(evidence, 0) == ArmEvidence(1, 1.5, 5, 0.5, 0.1, pending=2, relative_bound=0.2)
    assert arm_at(evidence, 1) == ArmEvidence(0, 0.0, 0, 0.0, math.inf)
    for column in (-1, 2, 10**9):  # a negative one would be that of another arm
        with pytest.raises(IndexError, match="no arm has this column"):
            arm_at(evidence, column)
