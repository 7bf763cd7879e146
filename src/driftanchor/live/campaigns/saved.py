"""What the logs saved: what a start without logs would have lost, minus what was lost.

Nobody knows what would have happened. This is an estimate. Worlds are drawn from what is believed
of the arms now. In each world, what the campaign's decisions lost is known, Σ decisions · gap, and
Thompson sampling that starts without logs is played for as many decisions. The difference is what
the logs saved in this world. Its mean over worlds is the estimate, and its quantiles are the
interval: it has the doubt about the arms and the luck of the cold start in it.

The cold start is played in steps that become longer with time, as rewards come in batches in life,
so that the cost grows with the logarithm of the number of decisions. The same terms and state give
the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.promises import Range
from driftanchor.core.record import Record

WORLDS = 64
DRAWS = 64  # of one step and world: longer steps share their decisions out as these fell
NUMBERS = 60_000  # drawn for one step, at most
GROWTH = 0.04  # a step is as long as this part of the decisions before it
QUANTILES = (0.05, 0.95)


@dataclass(frozen=True, slots=True)
class Saved:
    """What the logs saved, in rewards; negative if they cost.

    Attributes:
        mean: The estimate.
        low: The end below which it is with a probability of 5 %.
        high: The end above which it is with a probability of 5 %.
        cold: What a start without logs loses on average.
        lost: What the decisions of the campaign lost on average.
        decisions: How many decisions it is about.
    """

    mean: float
    low: float
    high: float
    cold: float
    lost: float
    decisions: int

    def to_json(self) -> Record:
        """For programs."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, eq=False)
class Played:
    """What a campaign did so far, as far as the estimate needs it.

    Attributes:
        means: What each arm is believed to pay.
        sds: How sure that is, one standard deviation.
        decisions: How many decisions each arm had.
        floors: The share of decisions that each arm has for sure; a cold start has it too.
        noise: The standard deviation of one reward.
        ends: The least and the largest reward.
    """

    means: Floats
    sds: Floats
    decisions: Floats
    floors: Floats
    noise: float
    ends: Range


def saved(played: Played, seed: int) -> Saved:
    """What the logs saved so far.

    Args:
        played: What the campaign did.
        seed: Of all that is drawn.

    Example:
        >>> sure, none = np.full(2, 0.01), np.zeros(2)
        >>> played = Played(np.array([0.3, 0.1]), sure, np.array([990, 10]), none, 0.5, (0.0, 1.0))
        >>> now = saved(played, seed=1)
        >>> round(now.lost), now.low < now.mean < now.high, now.mean > 0
        (2, True, True)
    """
    means, decisions = played.means, played.decisions
    rng = np.random.default_rng(seed)
    total = int(decisions.sum())
    worlds = np.clip(means + played.sds * rng.standard_normal((WORLDS, means.size)), *played.ends)
    gaps = worlds.max(axis=1, keepdims=True) - worlds
    lost = gaps @ decisions
    cold = (_cold_start(worlds, total, played, rng) * gaps).sum(axis=1)
    gained = cold - lost
    low, high = np.quantile(gained, QUANTILES).tolist()
    return Saved(float(gained.mean()), low, high, float(cold.mean()), float(lost.mean()), total)


def _cold_start(worlds: Floats, total: int, played: Played, rng: np.random.Generator) -> Floats:
    """How often Thompson sampling without logs plays each arm, in each world."""
    (count, arms), noise = worlds.shape, played.noise
    free = 1.0 - float(played.floors.sum())
    most = max(1, min(DRAWS, NUMBERS // worlds.size))
    first = min(total, arms)
    pulls = np.zeros((count, arms))
    pulls[:, :first] = 1.0  # each arm once
    sums = pulls * worlds + noise * pulls * rng.standard_normal(worlds.shape)
    done = first
    while done < total:
        step = min(max(1, math.ceil(GROWTH * done)), total - done)
        draws = min(step, most)
        seen = np.maximum(pulls, 1.0)
        law = (sums / seen)[:, None], (noise / np.sqrt(seen))[:, None]
        indices = law[0] + law[1] * rng.standard_normal((count, draws, arms))
        won = indices.argmax(axis=2)
        rows = np.arange(count)[:, None] * arms
        wins = np.bincount((rows + won).ravel(), minlength=worlds.size) / draws
        more = step * (played.floors + free * wins.reshape(worlds.shape))
        sums += more * worlds + noise * np.sqrt(more) * rng.standard_normal(worlds.shape)
        pulls += more
        done += step
    return pulls
