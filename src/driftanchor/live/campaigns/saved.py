"""Estimate what the logs saved: the loss of a start without logs, minus the campaign's loss.

Worlds are drawn from the current beliefs about the arms. In each world the campaign's decisions
lost Σ decisions · gap, and Thompson sampling that starts without logs is simulated for as many
decisions. The difference is what the logs saved in this world. Its mean over worlds is the
estimate, and its quantiles are the interval.

The cold start is simulated in steps that grow with time, so its cost grows with the logarithm of
the number of decisions. The same terms and state give the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.promises import Range
from driftanchor.core.record import Record

WORLDS = 64
DRAWS = 64  # of one step and world; longer steps divide their decisions in these proportions
MAX_NUMBERS = 60_000  # drawn for one step
GROWTH = 0.04  # length of a step, relative to the decisions before it
QUANTILES = (0.05, 0.95)


@dataclass(frozen=True, slots=True)
class Saved:
    """What the logs saved, in rewards; negative if they cost.

    Attributes:
        mean: The estimate.
        low: The 5 % quantile.
        high: The 95 % quantile.
        cold: The mean loss of a start without logs.
        lost: The mean loss of the campaign's decisions.
        decisions: The number of decisions.
    """

    mean: float
    low: float
    high: float
    cold: float
    lost: float
    decisions: int

    def to_json(self) -> Record:
        """Return a JSON-ready record."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, eq=False)
class Played:
    """The beliefs and decisions of a campaign.

    Attributes:
        means: The posterior mean of each arm.
        sds: The posterior standard deviation of each arm.
        decisions: The number of decisions for each arm.
        floors: The floor of each arm; a cold start has it too.
        noise: The standard deviation of one reward.
        ends: The lowest and the highest reward.
    """

    means: Floats
    sds: Floats
    decisions: Floats
    floors: Floats
    noise: float
    ends: Range


def saved(played: Played, seed: int) -> Saved:
    """Estimate what the logs saved so far.

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
    """Return the number of plays of each arm by Thompson sampling without logs, in each world."""
    (count, arms), noise = worlds.shape, played.noise
    free = 1.0 - float(played.floors.sum())
    max_draws = max(1, min(DRAWS, MAX_NUMBERS // worlds.size))
    first = min(total, arms)
    pulls = np.zeros((count, arms))
    pulls[:, :first] = 1.0  # each arm once
    sums = pulls * worlds + noise * pulls * rng.standard_normal(worlds.shape)
    done = first
    while done < total:
        step = min(max(1, math.ceil(GROWTH * done)), total - done)
        draws = min(step, max_draws)
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
