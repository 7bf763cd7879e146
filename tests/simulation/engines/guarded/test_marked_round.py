"""Noise given what is marked has the law of noise that happens to be so."""

import math

import numpy as np

from benchmarks.pages.exactness import chance_of_gap
from driftanchor.core.noise import keyed_stream, two_normals, wrapping
from driftanchor.simulation.engines.guarded import marked_round as marked
from driftanchor.simulation.engines.guarded.marks import make_marks

TRIES = 4_000


def test_noise_of_arms_before_at_and_after_the_first_mark() -> None:
    """Kolmogorov–Smirnov, 6 checks at 1e-6."""
    table = make_marks(1)
    table.online[0], table.hybrid[0, 0], table.hazards[0, 0] = 0.4, -0.2, 0.5
    stream, plain = keyed_stream(1, "given", 0), keyed_stream(2, "plain", 0)
    with wrapping():
        draws = np.array([two_normals(plain) for _ in range(5 * TRIES)])
        is_marked = (draws[:, 0] > 0.4) & (draws[:, 1] > -0.2)
        wanted = {1.2: draws[is_marked], 2.0: draws[~is_marked], 0.5: draws}
        for first, expected in wanted.items():  # the arm's segment is from 1 to 1.5
            got = np.array(
                [marked.noise_given(table, 0, 0, 1.0, first, stream) for _ in range(TRIES)]
            )
            for i in range(2):
                assert chance_of_gap(got[:, i], expected[:, i]) > 1e-6


def test_a_draw_within_a_bin() -> None:
    """4 checks at 1e-6."""
    stream, rng = keyed_stream(1, "bin", 0), np.random.default_rng(1)
    z = rng.normal(size=200_000)
    with wrapping():
        for low, high in ((-math.inf, -2.5), (-2.5, 0.0), (0.0, 1.25), (1.25, math.inf)):
            drawn = [marked.normal_within(low, high, stream) for _ in range(TRIES)]
            assert chance_of_gap(np.array(drawn), z[(z > low) & (z <= high)]) > 1e-6


def test_a_bin_is_marked_as_often_as_its_rate_says() -> None:
    """A share of 0.25 of 4,000 within 5 standard errors: 1e-6."""
    table = make_marks(1)
    table.rates[:] = [0.1, 0.0, 0.05, 0.05, 0.0]
    stream = keyed_stream(1, "bins", 0)
    with wrapping():
        counts = np.bincount([marked.marked_bin(table, 5, stream) for _ in range(TRIES)])
    assert counts[1] == 0
    assert abs(counts[2] / TRIES - 0.25) < 5 * math.sqrt(0.1875 / TRIES)
