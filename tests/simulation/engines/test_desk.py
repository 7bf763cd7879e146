"""Desk: every run starts from nothing, with logs and streams of its own."""

import numpy as np
from driftanchor.simulation.engines.desk import Desk, keys_of, lay_out, prepare
from driftanchor.simulation.engines.rewards import world_of

from driftanchor import AnchorTS, Bandit
from driftanchor.core.noise import wrapping

BANDIT = Bandit([0.5, 0.4, 0.3], [0.2, 0.6, 0.0], [9, 4, 0])


def prepared(bandit: Bandit, run: int, policy: str = "x", seed: int = 3) -> Desk:
    desk = lay_out(world_of(bandit), AnchorTS())
    for numbers in (desk.evidence.pulls, desk.evidence.totals, desk.evidence.memory):
        numbers[...] = 7  # what a run before has left
    desk.evidence.pending[...] = 7
    with wrapping():
        prepare(world_of(bandit), keys_of(seed, policy), run, desk)
    return desk


def test_a_run_starts_from_nothing() -> None:
    evidence = prepared(BANDIT, 0).evidence
    for numbers in (evidence.pulls, evidence.totals, evidence.memory, evidence.pending):
        assert not np.any(numbers)
    assert evidence.offline_means[2] == 0.0
    assert evidence.playable.all()


def test_runs_have_their_own_noise_and_policies_share_all_but_theirs() -> None:
    one, again, next_run, other = (
        prepared(BANDIT, 0),
        prepared(BANDIT, 0),
        prepared(BANDIT, 1),
        prepared(BANDIT, 0, policy="y"),
    )
    assert np.array_equal(one.rewards, again.rewards)
    assert np.array_equal(one.stream, again.stream)
    assert not np.isin(next_run.rewards, one.rewards).any()
    assert next_run.evidence.offline_means[0] != one.evidence.offline_means[0]
    assert np.array_equal(other.rewards, one.rewards)
    assert np.array_equal(other.evidence.offline_means, one.evidence.offline_means)
    assert not np.array_equal(other.stream, one.stream)
    assert not np.isin(prepared(BANDIT, 0, seed=4).rewards, one.rewards).any()


def test_logs_that_are_given_are_not_drawn() -> None:
    given = Bandit(BANDIT.online, BANDIT.offline, BANDIT.offline_pulls, logs="given")
    assert prepared(given, 0).evidence.offline_means.tolist() == [0.2, 0.6, 0.0]
