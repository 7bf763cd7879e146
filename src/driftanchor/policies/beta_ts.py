"""Thompson sampling with Beta posteriors, for rewards of 0 and 1; logs are ignored."""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.index_law import IndexLaw, beta_sample
from driftanchor.core.noise import Stream
from driftanchor.core.promises import Range
from driftanchor.core.variates import beta
from driftanchor.policies.base import Account, Best, Policy, challenge


@dataclass(frozen=True, kw_only=True)
class BetaTS(Policy):
    """A sample from the Beta posterior of the arm's success probability; logs are ignored.

    An arm with T online pulls and S successes has this index::

        index = θ ~ Beta(1 + S, 1 + T − S)

    This is the exact posterior for Bernoulli rewards under a uniform prior. A reward between 0 and
    1 counts as that fraction of a success. Rewards outside [0, 1] are refused: use `TS` for them.
    The class defines `choose` instead of `index`, because it is not known in advance how many
    draws rejection sampling needs.

    Attributes:
        prior_mean: Not used: the prior is uniform.
        noise: Not used: the mean of a Bernoulli reward determines its variance.

    Example:
        >>> BetaTS().reward_range
        (0.0, 1.0)
        >>> from driftanchor import Learner
        >>> learner = Learner(BetaTS(), arms=["A", "B"], seed=1)
        >>> learner.update(["A"] * 60 + ["B"] * 60, [1, 0] * 60)
        >>> learner.update("B", 2)
        Traceback (most recent call last):
            ...
        driftanchor.errors.InvalidInput: reward of arm 'B' must be between 0 and 1, got 2
    """

    name = "beta-ts"
    formula = "θ ~ Beta(1+S, 1+T−S)"
    source = "Thompson 1933, Biometrika 25:285; Kaufmann, Korda & Munos 2012, arXiv 1205.4217"
    uses_logs = False

    @property
    def reward_range(self) -> Range:
        """The lowest and the highest reward that the policy accepts: 0 and 1."""
        return (0.0, 1.0)

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """Return the arm with the largest sample; ties are broken at random."""
        best = Best(-math.inf, -1, 0)
        for column in range(evidence.pulls.size):
            value = sampled(evidence, column, stream)
            if evidence.playable[column]:
                best = challenge(best, value, column, stream)
        return best.column

    def account(self, evidence: Evidence, now: Round, stream: Stream) -> Account:
        """Repeat the decision of `choose`, and record every sample."""
        best, arms = Best(-math.inf, -1, 0), []
        for column in range(evidence.pulls.size):
            value = sampled(evidence, column, stream)
            arms.append((value, dict[str, float]()))
            if evidence.playable[column]:
                best = challenge(best, value, column, stream)
        return Account(best.column, arms)

    def law_at(self, evidence: Evidence, column: int, now: Round) -> IndexLaw:
        """Return the distribution of an arm's index: its Beta posterior."""
        a, b = shapes(evidence, column)
        return beta_sample(a, b)


def sampled(evidence: Evidence, column: int, stream: Stream) -> float:
    """Draw a sample from the Beta posterior of the arm in `column`."""
    a, b = shapes(evidence, column)
    return beta(a, b, stream)


def shapes(evidence: Evidence, column: int) -> tuple[float, float]:
    """Return the parameters (a, b) of an arm's Beta posterior, its sum clipped to its pulls."""
    pulls = float(evidence.pulls[column])
    wins = min(max(evidence.totals[column], 0.0), pulls)
    return 1.0 + wins, 1.0 + pulls - wins
