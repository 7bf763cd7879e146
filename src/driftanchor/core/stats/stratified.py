"""Means of arms compared within strata, such as files or weeks, instead of over all rows.

Pooled means mislead where two things come together: strata have other levels, and arms have other
shares of the rows in them (Simpson's paradox). So arms are compared within strata. The mean of arm
k in stratum s, of n_ks rewards, is modelled as::

    y_ks = α_k + β_s + noise,   noise ~ (0, σ²/n_ks)

and fitted by least squares with the weights n_ks. With n_k and N_s the sums of the rows and the
columns, q_ks = n_ks/n_k the mix of an arm and p_s = N_s/N the mix of all arms, an arm's mean is
reported at the mix of all arms, so that levels stay comparable::

    m_k = α̂_k + Σ_s p_s β̂_s = ȳ_k + Σ_s (p_s − q_ks) β̂_s

ȳ_k is the pooled mean of the arm: where all arms have the same mix, m_k = ȳ_k. The covariance of
these estimates is σ² [diag(1/n) + X G⁻ Xᵀ], with X = p − q and G = diag(N) − nᵀ q. Users of the
means take arms for independent, with the variance σ²/n_k each. The effective number of rewards::

    1/n'_k = 1/n_k + 2 (X G⁻ Xᵀ)_kk

makes that safe. It is never above n_k. With M = X G⁻ Xᵀ, 2 |M_kj| ≤ M_kk + M_jj, so the difference
of two arms never looks surer than it is. For two arms with as many rewards each it is exact.

Arms that are linked by no chain of strata cannot be compared within strata. Each such part of the
table is fitted by itself, at its own mix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.core.stats.chi_square import chi_square_ratio

CHANCE = 0.01  # of finding different shares where they are equal


@dataclass(frozen=True, eq=False)
class Stratified:
    """Arms compared within strata.

    Attributes:
        mean: Of each arm, at the mix of all arms of its part.
        n: The effective number of rewards; at most the number there is.
        part: The part of the table that each arm is in; only arms of one part can be compared.
        differ: Whether the arms' shares of the rows differ between strata by more than chance.
    """

    mean: Floats
    n: Floats
    part: Ints
    differ: bool


def stratified(n: Floats, mean: Floats) -> Stratified:
    """Compare arms within strata.

    Whether shares differ is a chi-square test of independence at 1 %. It looks at counts alone and
    never at rewards, so choosing an estimate by it biases none.

    Args:
        n: Number of rewards by (arm, stratum); every arm and every stratum has some.
        mean: Their means; anything where there are none.

    Example:
        >>> n = np.array([[900.0, 100.0], [100.0, 900.0]])  # both arms: 0.1 here, 0.5 there
        >>> found = stratified(n, np.array([[0.1, 0.5], [0.1, 0.5]]))
        >>> found.mean.round(6).tolist(), found.n.round(1).tolist(), found.differ
        ([0.3, 0.3], [360.0, 360.0], True)
    """
    seen = n > 0
    part, part_of_stratum = parts_of(seen)
    of_arm, of_stratum = n.sum(axis=1), n.sum(axis=0)
    in_part = np.bincount(part, weights=of_arm)
    centre = float((n * np.where(seen, mean, 0.0)).sum() / n.sum())
    away = np.where(seen, mean - centre, 0.0)
    together = part[:, None] == part_of_stratum
    expected = together * np.outer(of_arm, of_stratum) / in_part[part][:, None]
    solve = _by_arms if len(of_arm) <= len(of_stratum) else _by_strata
    level, noise = solve(n, away, expected, part, part_of_stratum)
    added = np.maximum(noise - 1 / of_arm, 0.0)
    differ = _shares_differ(n, expected, part, part_of_stratum)
    return Stratified(centre + level, 1 / (1 / of_arm + 2 * added), part, differ)


def _by_arms(
    n: Floats, mean: Floats, _: Floats, part: Ints, part_of_stratum: Ints
) -> tuple[Floats, Floats]:
    """The means and their variances over σ², from one equation for each arm.

    With A = diag(n_k) − n diag(1/N_s) nᵀ and J = n_k n_j/N within parts, the covariance of the
    means is σ² (A + J)⁻¹.
    """
    of_arm, of_stratum = n.sum(axis=1), n.sum(axis=0)
    in_part = np.bincount(part, weights=of_arm)
    total = np.bincount(part, weights=(n * mean).sum(axis=1))
    of_level = (n * mean).sum(axis=0) / of_stratum
    normal = np.diag(of_arm) - (n / of_stratum) @ n.T
    normal += (part[:, None] == part) * np.outer(of_arm, of_arm) / in_part[part]
    inverse = np.linalg.inv(normal)
    effect = inverse @ (n * (mean - of_level)).sum(axis=1)
    return (total / in_part)[part] + effect, inverse.diagonal()


def _by_strata(
    n: Floats, mean: Floats, expected: Floats, part: Ints, part_of_stratum: Ints
) -> tuple[Floats, Floats]:
    """The same from one equation for each stratum, as in the formulas above.

    A second term makes G invertible, and lets the effects of a part sum to 0 at its mix.
    """
    of_arm, of_stratum = n.sum(axis=1), n.sum(axis=0)
    in_part = np.bincount(part, weights=of_arm)
    mix = n / of_arm[:, None]
    pooled = (mix * mean).sum(axis=1)
    normal = np.diag(of_stratum) - n.T @ mix
    together = part_of_stratum[:, None] == part_of_stratum
    normal += together * np.outer(of_stratum, of_stratum) / in_part[part_of_stratum]
    effect = np.linalg.solve(normal, (n * (mean - pooled[:, None])).sum(axis=0))
    apart = (expected - n) / of_arm[:, None]
    added = (apart * np.linalg.solve(normal, apart.T).T).sum(axis=1)
    return pooled - mix @ effect, 1 / of_arm + added


def parts_of(seen: Bools) -> tuple[Ints, Ints]:
    """The part of each arm and of each stratum: parts share neither an arm nor a stratum."""
    arms = len(seen)
    label = np.arange(arms)
    while True:
        by_stratum = np.where(seen, label[:, None], arms).min(axis=0)
        new = np.where(seen, by_stratum, arms).min(axis=1)
        if (new == label).all():
            known = np.unique(label)
            return np.searchsorted(known, label), np.searchsorted(known, by_stratum)
        label = new


def _shares_differ(n: Floats, expected: Floats, part: Ints, part_of_stratum: Ints) -> bool:
    arms, strata = np.bincount(part), np.bincount(part_of_stratum)
    freedom = float(((arms - 1) * (strata - 1)).sum())
    if freedom == 0:
        return False
    there = expected > 0
    statistic = float(((n - expected)[there] ** 2 / expected[there]).sum())
    return statistic > freedom * chi_square_ratio(1 - CHANCE, freedom)
