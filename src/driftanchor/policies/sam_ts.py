"""SAM-TS: Thompson sampling that trusts the logs as a prior as long as the rewards fit them."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.index_law import IndexLaw, mixture
from driftanchor.core.noise import Draws
from driftanchor.core.posterior import online_posterior
from driftanchor.policies.base import Policy


class MixturePosterior(NamedTuple):
    """The two components of an arm's posterior, and the weight of the first."""

    hybrid_mean: float  # with the logs as prior
    hybrid_sd: float
    online_mean: float  # with the vague prior
    online_sd: float
    fit: float  # probability that the logs are the prior, given the rewards


@dataclass(frozen=True, kw_only=True)
class SamTS(Policy):
    """A sample of the posterior from a self-adapting mixture (SAM) prior.

    With T pulls and reward sum S online, N logged rewards of mean m, bias bound V and
    D = S/T − m, the prior of the online mean is a mixture::

        w N(m, σ²/N) + (1 − w) N(m₀, σ²),   w = 1/(1 + exp(−T V (V − 2|D|)/(2σ²)))

    w compares the likelihood of no move with that of a move by V, the smallest that matters. Given
    the online rewards, the posterior's components are N((S + N m)/(T + N), σ²/(T + N)) and
    N((S + m₀)/(T + 1), σ²/(T + 1)). The weight of each is multiplied by the likelihood of S/T,
    which is N(m, σ²/N + σ²/T) for the first and N(m₀, σ² + σ²/T) for the second. A coin flip picks
    a component by weight, and the index is a sample of it.

    With a relative bound W, the logs shift by one shared draw of the common move, and W replaces V
    (see `driftanchor.core.common_move`).

    Here V is not a bound but the smallest move that matters: with V = 0, w is always 1/2, and a
    large V trusts the logs until S/T is V/2 away from m. With V = ∞, or without logs, the rule is
    TS. Before the first reward, both components have weight 1/2.

    Attributes:
        prior_mean: m₀.
        noise: σ.

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
        """Return a sample of the component that the coin flip picks."""
        if z.coin < belief.fit:
            return belief.hybrid_mean + belief.hybrid_sd * z.on
        return belief.online_mean + belief.online_sd * z.on

    def law(self, belief: MixturePosterior, now: Round) -> IndexLaw:
        """Return the mixture of both components."""
        return mixture(
            belief.fit, belief.hybrid_mean, belief.hybrid_sd, belief.online_mean, belief.online_sd
        )

    def explain(self, arm: ArmEvidence, now: Round, z: Draws) -> dict[str, float]:
        """Return a sample of each component and the weight of the first."""
        belief = self.believe(arm)
        return {
            "hybrid_sample": belief.hybrid_mean + belief.hybrid_sd * z.on,
            "online_sample": belief.online_mean + belief.online_sd * z.on,
            "fit": belief.fit,
        }


def log_odds(arm: ArmEvidence, prior_mean: float, noise: float) -> float:
    """Return the log odds that the logs are the prior, given the rewards.

    It uses log(w/(1 − w)) = T V (V − 2|D|)/(2σ²), without the exponential, so nothing overflows.
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
    """Return the log density of N(0, variance) at x, up to a constant."""
    return -0.5 * (math.log(variance) + x * x / variance)


def share(log_odds: float) -> float:
    """Return the probability with these log odds.

    Example:
        >>> share(0.0), share(-1000.0), share(1000.0)
        (0.5, 0.0, 1.0)
    """
    if log_odds >= 0.0:
        return 1.0 / (1.0 + math.exp(-log_odds))
    odds = math.exp(log_odds)
    return odds / (1.0 + odds)
