"""The Beta distribution, vectorised: cdf, density, standard deviation and range."""

from __future__ import annotations

import numpy as np

from driftanchor.core.check import Floats

FAR = 26.0  # a sample leaves the range of `beta_ends` with probability at most 2 exp(−26) = 1e-11


def beta_below(a: Floats, b: Floats, x: Floats) -> Floats:
    """Return P(θ ≤ x) for θ ~ Beta(a, b).

    Example:
        >>> beta_below(np.array(2.0), np.array(1.0), np.array([0.5])).round(12)
        array([0.25])
    """
    from scipy.special import betainc

    below: Floats = betainc(a, b, np.clip(x, 0.0, 1.0))
    return below


def beta_density(a: Floats, b: Floats, x: Floats) -> Floats:
    """Return the density of Beta(a, b) at x.

    The formula is centred at the mean, so that no digits cancel if a and b are large.
    """
    mean, inside = a / (a + b), (x > 0.0) & (x < 1.0)
    x = np.where(inside, x, 0.5)
    away = x - mean
    log = a * np.log1p(away / mean) + b * np.log1p(-away / (1.0 - mean))
    log += beyond_stirling(a + b) - beyond_stirling(a) - beyond_stirling(b)
    density = np.exp(log) * np.sqrt(a * (1.0 - mean) / (2.0 * np.pi)) / (x * (1.0 - x))
    return np.where(inside, density, 0.0)


def beta_sd(a: Floats, b: Floats) -> Floats:
    """Return the standard deviation of Beta(a, b)."""
    sd: Floats = np.sqrt(a * b / (a + b + 1.0)) / (a + b)
    return sd


def beta_ends(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the ends of a range that misses a Beta(a, b) sample with probability about 1e-11.

    The probability that a sample is more than ε above the mean is at most
    exp(−ε²/(2 (v + c ε/3))), where v is the variance and
    c = max(2 (b − a)/((a + b) (a + b + 2)), 0). For samples below the mean, swap a and b
    (Skorski 2023, Bernstein-type bounds for Beta distribution).
    """
    mean, sd, n = a / (a + b), beta_sd(a, b), a + b
    skew = FAR / 3.0 * 2.0 * (b - a) / (n * (n + 2.0))
    right, left = np.maximum(skew, 0.0), np.maximum(-skew, 0.0)
    wide = 2.0 * FAR * sd * sd
    low = mean - left - np.sqrt(left * left + wide)
    high = mean + right + np.sqrt(right * right + wide)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def beyond_stirling(z: Floats) -> Floats:
    """Return the error of Stirling's formula: log Γ(z) − [(z − ½) log z − z + ½ log 2π]."""
    from scipy.special import gammaln

    w = 1.0 / (z * z)
    large = (1.0 / 12.0 - w * (1.0 / 360.0 - w * (1.0 / 1260.0 - w * (1.0 / 1680.0)))) / z
    small = gammaln(z) - (z - 0.5) * np.log(z) + z - 0.5 * np.log(2.0 * np.pi)
    found: Floats = np.where(z < 16.0, small, large)
    return found
