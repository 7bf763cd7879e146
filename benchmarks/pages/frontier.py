"""What the best possible rule loses with two arms, if logs that are right and reversed both count.

Logs say that arm A is better than arm B by `gap`. They are right, or the truth is reversed; nobody
knows which, nor how far both arms moved together. So only the difference D of the two online means
tells. With n_A and n_B pulls and noise 1 it has the law N(±g, 1/h), h = n_A n_B/(n_A + n_B), and
the log likelihood ratio of "reversed" against "right" is L = −2 g h D: a Brownian motion in h with
drift −2g² if the logs are right, +2g² if they are reversed, and variance 4g².

A rule that gives "reversed" the probability p before the first reward, and knows g, the horizon and
that nothing else is possible, does best by dynamic programming over (n_A, n_B, L). No rule has a
smaller (1 − p)·(regret if right) + p·(regret if reversed). All p together are the frontier: what no
rule can go below.

Pulls are made in blocks of one arm, so the numbers are a little too high: halving the blocks takes
off about 5 % at 24 blocks, 2.5 % at 48, and so on.
"""

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats

DOUBTS = (0.05, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
FARTHEST = 14.0  # the largest |L| that is kept: odds of a million to one
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
TIE = 1e-9  # of the horizon's stake: plays that are this close are as good


class Point(NamedTuple):
    """What the best rule loses that gives "reversed" the probability `doubt`."""

    doubt: float
    right: float  # regret where the logs are right
    wrong: float  # regret where they are reversed

    @property
    def weighed(self) -> float:
        """The smallest weighted regret that any rule can have."""
        return (1.0 - self.doubt) * self.right + self.doubt * self.wrong


class Solution(NamedTuple):
    """The best rule and what it loses."""

    point: Point
    ratios: Floats  # the values of L
    plays_b: list[Floats]  # after k blocks, by blocks of B and by L: the chance to play B


def solve(
    gap: float, horizon: int, doubt: float, *, blocks: int = 60, width: float = 0.05
) -> Solution:
    """The best rule for one doubt, by backward induction.

    Args:
        gap: g, in units of the noise.
        horizon: How many pulls there are.
        doubt: p.
        blocks: How many blocks of pulls the horizon is cut into; a block is of one arm.
        width: The distance of the values of L.

    Example:
        >>> point = solve(0.02, 20_000, 0.5, blocks=20).point
        >>> point.right == point.wrong
        True
    """
    block = horizon / blocks
    half = round(FARTHEST / width)
    ratios: Floats = width * np.arange(-half, half + 1, dtype=np.float64)
    believed = 1.0 / (1.0 + np.exp(-(ratios + math.log(doubt / (1.0 - doubt)))))
    right = np.zeros((blocks + 1, ratios.size))
    wrong = np.zeros_like(right)
    plays: list[Floats] = []
    for k in reversed(range(blocks)):
        now_right, now_wrong = np.zeros_like(right), np.zeros_like(wrong)
        play_b = np.zeros((k + 1, ratios.size))
        for b in range(k + 1):
            a = k - b
            told = _told(a * block, b * block)
            more_a = _told((a + 1) * block, b * block) - told
            more_b = _told(a * block, (b + 1) * block) - told
            right_a = _ahead(right[b], ratios, more_a, gap, -1.0)
            wrong_a = _ahead(wrong[b], ratios, more_a, gap, 1.0) + gap * block
            right_b = _ahead(right[b + 1], ratios, more_b, gap, -1.0) + gap * block
            wrong_b = _ahead(wrong[b + 1], ratios, more_b, gap, 1.0)
            better = (1.0 - believed) * (right_a - right_b) + believed * (wrong_a - wrong_b)
            # Equally good plays are drawn by a coin, so that neither arm is preferred.
            share = np.where(np.abs(better) < TIE * gap * horizon, 0.5, better > 0.0)
            play_b[b] = share
            now_right[b] = share * right_b + (1.0 - share) * right_a
            now_wrong[b] = share * wrong_b + (1.0 - share) * wrong_a
        right, wrong = now_right, now_wrong
        plays.append(play_b)
    point = Point(doubt, float(right[0, half]), float(wrong[0, half]))
    return Solution(point, ratios, plays[::-1])


def trace(gap: float, horizon: int, *, blocks: int = 100, width: float = 0.05) -> list[Point]:
    """The frontier, from little doubt to as much as trust.

    Example:
        >>> points = trace(0.02, 20_000, blocks=10)
        >>> points[0].right < points[-1].right and points[0].wrong > points[-1].wrong
        True
    """
    return [solve(gap, horizon, doubt, blocks=blocks, width=width).point for doubt in DOUBTS]


def least_wrong(points: list[Point], right: float) -> float:
    """The least regret where logs are reversed, of rules that lose at most `right` where they fit.

    For every p, (1 − p)·right + p·wrong is at least what the best rule has.

    Example:
        >>> least_wrong([Point(0.5, 90.0, 90.0), Point(0.1, 32.0, 204.0)], 32.0)
        204.0
    """
    return max((p.weighed - (1.0 - p.doubt) * right) / p.doubt for p in points)


def least_right(points: list[Point], wrong: float) -> float:
    """The least regret where logs fit, of rules that lose at most `wrong` where they are reversed.

    Example:
        >>> round(least_right([Point(0.5, 90.0, 90.0), Point(0.1, 32.0, 204.0)], 204.0))
        32
    """
    return max((p.weighed - p.doubt * wrong) / (1.0 - p.doubt) for p in points)


def _told(a: float, b: float) -> float:
    """h: how many pulls of the difference itself would tell as much."""
    return a * b / (a + b) if a + b > 0.0 else 0.0


def _ahead(values: Floats, ratios: Floats, more: float, gap: float, sign: float) -> Floats:
    """The expected value after h has grown by `more`."""
    if more <= 0.0:
        return values
    steps = sign * 2.0 * gap * gap * more + 2.0 * gap * math.sqrt(more) * NODES
    reached = np.interp((ratios + steps[:, None]).ravel(), ratios, values)
    expected: Floats = WEIGHTS @ reached.reshape(len(NODES), -1)
    return expected
