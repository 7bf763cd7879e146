"""Thompson sampling and Anchor-TS with no logs at all: the leading terms, beside Lai–Robbins.

A sub-optimal arm is pulled until the probability p that its sample passes the best mean is 1/T.
After n pulls, with gap Δ and posterior variance c σ²/n, that is p ≈ exp(−n Δ²/(2 c σ²)) for
Thompson sampling. Anchor-TS without logs takes the median of the mean and *two* samples, so both
must pass: p². Solving for n gives the two functions.
"""

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import Floats
from driftanchor.theory import inputs

ANCHOR_FACTOR = 0.5
"""Appendix "Pure Online Setting", arXiv 2605.10289: Anchor-TS's exploration threshold is L_i(T)/2
where Thompson sampling's is L_i(T), since its tail probability is squared."""


def online_ts_pulls(
    horizon: npt.ArrayLike,
    gap: npt.ArrayLike,
    *,
    noise: npt.ArrayLike = 1.0,
    posterior_scale: npt.ArrayLike = 1.0,
) -> Floats:
    """Leading term of Thompson sampling's pulls of a sub-optimal arm, 2 c σ² log T/Δ².

    With c = 1 this *is* the Lai–Robbins rate. The appendix's own threshold, L_i(T) =
    18 log(T Δ²)/Δ², is nine times as large because the analysis leaves only a third of the gap to
    the posterior's spread; the constant here is that of the whole gap.

    Source: Agrawal & Goyal 2013, Lemma 2.16, as used in the appendix of arXiv 2605.10289.

    Args:
        horizon: T ≥ 1.
        gap: Δ > 0.
        noise: σ > 0.
        posterior_scale: c > 0, the posterior's variance being c σ²/(T + 1).

    Example:
        >>> float(online_ts_pulls(1e5, 0.5))
        92.1034...
    """
    t = inputs.array(horizon, "horizon", low=1.0)
    delta = inputs.array(gap, "gap", above=0.0)
    sigma = inputs.array(noise, "noise", above=0.0)
    scale = inputs.array(posterior_scale, "posterior_scale", above=0.0)
    inputs.fit(horizon=t, gap=delta, noise=sigma, posterior_scale=scale)
    return inputs.per_squared_gap(2.0 * scale * sigma**2 * np.log(t), delta)


def online_anchor_pulls(
    horizon: npt.ArrayLike,
    gap: npt.ArrayLike,
    *,
    noise: npt.ArrayLike = 1.0,
    posterior_scale: npt.ArrayLike = 1.0,
) -> Floats:
    """Leading term of Anchor-TS's pulls of a sub-optimal arm without logs, c σ² log T/Δ².

    Half of `online_ts_pulls`: the appendix's improvement "by a factor 1/2".

    With the paper's c = 1 it is also half of `lai_robbins` for Gaussian rewards, below what every
    uniformly consistent policy needs. So with Gaussian rewards the rule is not uniformly
    consistent, and the paper's footnote that sub-Gaussian noise leaves the order unchanged is
    false (E13): what squares the tail of a sub-optimal arm squares that of an under-estimated best
    arm too, which then returns after 1/p² rounds, of infinite mean at σ = c = 1. A typical run
    gains, a rare one never recovers. c = 2 meets the bound; c = 4 is, in ratio to σ², what the
    theorem covers, rewards in [0, 1] having σ ≤ 1/2 against a posterior variance of 1/(T + 1).

    Source: appendix "Pure Online Setting" of arXiv 2605.10289.

    Args:
        horizon: T ≥ 1.
        gap: Δ > 0.
        noise: σ > 0.
        posterior_scale: c > 0, the posterior's variance being c σ²/(T + 1).

    Example:
        >>> from driftanchor.theory import lai_robbins
        >>> needed = lai_robbins(0.5) * np.log(1e5)
        >>> (online_anchor_pulls(1e5, 0.5, posterior_scale=[1, 2, 4]) / needed).tolist()
        [0.5, 1.0, 2.0]
    """
    pulls = online_ts_pulls(horizon, gap, noise=noise, posterior_scale=posterior_scale)
    return np.asarray(ANCHOR_FACTOR * pulls)
