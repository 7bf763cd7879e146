"""SAM-TS: Thompson sampling with the logs as a prior, as long as online rewards fit the logs."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.index_law import IndexLaw, mixture
from driftanchor.core.noise import Draws
from driftanchor.core.posterior import online_posterior
from driftanchor.policies.base import Policy


class MixturePosterior(NamedTuple):
    """The two normal components of an arm's posterior, and the weight of the first."""

    hybrid_mean: float  # with the logs as prior
    hybrid_sd: float
    online_mean: float  # with the vague prior
    online_sd: float
    fit: float  # weight of the hybrid component, given the rewards


@dataclass(frozen=True, kw_only=True)
class SamTS(Policy):
    """A sample from the posterior under a self-adapting mixture (SAM) prior.

    An arm has T online rewards with sum S, N logged rewards with mean m, and a bias bound V. Let
    D = S/T − m. The prior of the arm's online mean is a mixture::

        w N(m, σ²/N) + (1 − w) N(m₀, σ²),   w = 1/(1 + exp(−T V (V − 2|D|)/(2σ²)))

    The weight w compares the likelihoods of two cases: no move since the logs, and a move by V.
    Given the online rewards, the components become N((S + N m)/(T + N), σ²/(T + N)) and
    N((S + m₀)/(T + 1), σ²/(T + 1)). The weight of each is multiplied by a density at S/T: that of
    N(m, σ²/N + σ²/T) for the first, and that of N(m₀, σ² + σ²/T) for the second. The index is a
    sample from one component, picked at random by weight.

    Here V is not a bound but the smallest move that matters. With V = 0, w is always 1/2. A large V
    trusts the logs until S/T is V/2 away from m. With V = ∞, or without logs, the rule is TS.
    Before the first reward, both components have weight 1/2.

    A relative bound replaces V if it gives the tighter upper bound on the online mean. The logs are
    then shifted by the common move (see `Policy.moved`).

    Attributes:
        prior_mean: m₀, the prior mean without logs.
        noise: σ, the standard deviation of a reward.

    Example:
        >>> arm = ArmEvidence(pulls=4, total=2.0, offline_pulls=12, offline_mean=0.5, bias_bound=1)
        >>> SamTS().explain(arm, Round(t=5, arms=2), Draws(on=1.0, hyb=0.0, coin=0.5))
        {'hybrid_sample': 0.75, 'online_sample': 0.847..., 'fit': 0.940...}
        >>> SamTS().index(arm, Round(t=5, arms=2), Draws(on=1.0, hyb=0.0, coin=0.5))
        0.75
    """

    name = "sam-ts"
    formula = "θ of w N(m,σ²/N) + (1−w) N(m₀,σ²) given S, w = 1/(1+exp(−T V(V−2|D|)/(2σ²)))"
    source = "prior of Yang, Zhao, Nie, Vallejo & Yuan 2023, Biometrics 79:2857 (SAM), with TS"
    normals = 1
    uniforms = 1
    belief = MixturePosterior

    def believe(self, arm: ArmEvidence) -> MixturePosterior:
        """Return both components of the posterior and the weight of the first."""
        online = online_posterior(arm, self.prior_mean, self.noise)
        if arm.offline_pulls == 0 or arm.bias_bound == math.inf:
            return MixturePosterior(online.mean, online.sd, online.mean, online.sd, 0.0)
        n = arm.pulls + arm.offline_pulls
        mean = (arm.total + arm.offline_pulls * arm.offline_mean) / n
        fit = share(log_odds(arm, self.prior_mean, self.noise))
        return MixturePosterior(mean, self.noise / math.sqrt(n), online.mean, online.sd, fit)

    def sample(self, belief: MixturePosterior, now: Round, z: Draws) -> float:
        """Return a sample from the component that the uniform draw `z.coin` picks."""
        if z.coin < belief.fit:
            return belief.hybrid_mean + belief.hybrid_sd * z.on
        return belief.online_mean + belief.online_sd * z.on

    def law(self, belief: MixturePosterior, now: Round) -> IndexLaw:
        """Return the distribution of the index: the mixture of both components."""
        return mixture(
            belief.fit, belief.hybrid_mean, belief.hybrid_sd, belief.online_mean, belief.online_sd
        )

    def explain(self, arm: ArmEvidence, now: Round, z: Draws) -> dict[str, float]:
        """Return a sample from each component, and the weight of the first."""
        belief = self.believe(arm)
        return {
            "hybrid_sample": belief.hybrid_mean + belief.hybrid_sd * z.on,
            "online_sample": belief.online_mean + belief.online_sd * z.on,
            "fit": belief.fit,
        }


def log_odds(arm: ArmEvidence, prior_mean: float, noise: float) -> float:
    """Return the log odds of the mixture component that uses the logs, given the online rewards.

    The result is the prior log odds plus the log likelihood ratio of the online mean. The prior
    adapts itself to the data: its log odds are T V (V − 2|D|)/(2σ²), with T pulls, bias bound V,
    noise σ, and D the online mean minus the logged mean. The code computes no
    exponential, so nothing overflows. Without pulls, the result is 0.
    """
    if arm.pulls == 0:
        return 0.0
    mean = arm.total / arm.pulls
    off, bound = abs(mean - arm.offline_mean) / noise, arm.bias_bound / noise
    prior = 0.5 * arm.pulls * bound * (bound - 2.0 * off)
    logged, vague = 1.0 / arm.offline_pulls + 1.0 / arm.pulls, 1.0 + 1.0 / arm.pulls
    likelier = log_density(off, logged) - log_density((mean - prior_mean) / noise, vague)
    return prior + likelier


def log_density(x: float, variance: float) -> float:
    """Return the log density of N(0, variance) at x, without the constant −log(2π)/2."""
    return -0.5 * (math.log(variance) + x * x / variance)


def share(log_odds: float) -> float:
    """Convert log odds to a probability.

    Example:
        >>> share(0.0), share(-1000.0), share(1000.0)
        (0.5, 0.0, 1.0)
    """
    if log_odds >= 0.0:
        return 1.0 / (1.0 + math.exp(-log_odds))
    odds = math.exp(log_odds)
    return odds / (1.0 + odds)
