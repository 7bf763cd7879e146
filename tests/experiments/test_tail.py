"""The tail of regret: stuck runs."""

from __future__ import annotations

import numpy as np

from driftanchor.experiments import tail


def test_a_stuck_run_lost_half_of_what_the_second_best_arm_loses() -> None:
    gaps = np.array([0.0, 0.3, 0.1])
    final = np.array([49.9, 50.0, 50.1, 300.0])
    assert tail.stuck_share(final, gaps, 1_000) == 0.5
    assert tail.stuck_share(final, np.zeros(3), 1_000) == 0.0
