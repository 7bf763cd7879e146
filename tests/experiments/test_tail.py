"""The tail of regret: stuck runs, and how sure the 99 % quantile is."""

from __future__ import annotations

import numpy as np

from driftanchor.experiments import tail
from driftanchor.experiments.outcome import Outcome


def test_a_stuck_run_played_one_wrong_arm_most_of_the_time() -> None:
    gaps = np.array([0.0, 0.3, 0.1])
    pulls = np.array([[100, 0, 0], [50, 50, 0], [49, 51, 0], [0, 30, 70]])
    assert tail.stuck_share(pulls, gaps) == 0.5
    assert tail.stuck_share(pulls, np.zeros(3)) == 0.0


def test_a_run_that_still_tries_fifty_arms_is_not_stuck() -> None:
    assert tail.stuck_share(np.full((7, 50), 200), np.arange(50.0)) == 0.0


def test_a_few_runs_leave_the_99_per_cent_quantile_open() -> None:
    final = np.arange(100.0)
    found = tail.statistics(Outcome(final, final[:, None], np.ones((100, 2), np.int64), 500.0),
                            np.array([0.0, 0.1]))  # fmt: skip
    assert (found["q99_low"], found["q99_high"]) == (96.0, 500.0)
