"""Compare arms within strata, such as files or weeks, instead of over all rows.

Pooled means mislead if both the level of rewards and the arms' shares of rows differ between strata
(Simpson's paradox). So arms are compared within strata. Let arm k have n_ks rewards with mean y_ks
in stratum s. The model has an effect α_k for each arm and an effect β_s for each stratum::

    y_ks = α_k + β_s + noise,   noise with mean 0 and variance σ²/n_ks

The fit is by least squares with weights n_ks. Let n_k be the number of rewards of arm k, N_s the
number of rewards in stratum s, and N the total. The share of stratum s is q_ks = n_ks/n_k among arm
k's rewards, and p_s = N_s/N among all rewards. To make the arms comparable, each arm's mean is
reported as if its rewards were distributed over the strata with the shares p_s::

    m_k = α̂_k + Σ_s p_s β̂_s = ȳ_k + Σ_s (p_s − q_ks) β̂_s

ȳ_k is the arm's pooled mean. If all arms have the same shares, m_k = ȳ_k. The covariance matrix of
the estimates is σ² [diag(1/n_k) + M], where M = X G⁻ Xᵀ, X has the entries p_s − q_ks, and G⁻ is a
generalised inverse of G = diag(N_s) − nᵀ q. Callers treat arms as independent, each with variance
σ² divided by its number of rewards. To make that safe, each arm reports an effective number of
rewards n'_k::

    1/n'_k = 1/n_k + 2 M_kk

n'_k never exceeds n_k. Since 2 |M_kj| ≤ M_kk + M_jj, the variance of a difference between arms is
never understated. If there are only two arms and both have the same number of rewards, that
variance is exact.

Two arms can be compared only if a chain of shared strata links them. So each connected component of
the arm–stratum table is fitted separately, with its own shares p_s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftanchor.core.check import Bools, Floats, Ints

ALPHA = 0.01  # level of the test whether the arms' shares differ between strata


@dataclass(frozen=True, eq=False)
class Stratified:
    """The result of comparing arms within strata.

    Attributes:
        mean: Each arm's mean, as if its rewards were distributed over the strata like all rewards.
        n: Effective number of rewards of each arm; at most the actual number.
        component: Number of the connected component of each arm. Only arms in the same component
            can be compared.
        shares_differ: Whether the arms' shares of rows differ significantly between strata.
    """

    mean: Floats
    n: Floats
    component: Ints
    shares_differ: bool


def stratified(n: Floats, mean: Floats) -> Stratified:
    """Estimate each arm's mean from comparisons within strata.

    A chi-square test of independence at the 1 % level decides whether the arms' shares of rows
    differ between strata. The test uses only counts, never rewards. So it causes no bias to choose
    between pooled and stratified means by the outcome of the test.

    Args:
        n: Array of shape (arms, strata): the number of rewards. No row or column is all zero.
        mean: Array of shape (arms, strata): the mean reward; ignored if n is 0.

    Example:
        >>> n = np.array([[900.0, 100.0], [100.0, 900.0]])  # both arms: 0.1 here, 0.5 there
        >>> fit = stratified(n, np.array([[0.1, 0.5], [0.1, 0.5]]))
        >>> fit.mean.round(6).tolist(), fit.n.round(1).tolist(), fit.shares_differ
        ([0.3, 0.3], [360.0, 360.0], True)
    """
    seen = n > 0
    arm_component, stratum_component = components(seen)
    arm_n, stratum_n = n.sum(axis=1), n.sum(axis=0)
    component_n = np.bincount(arm_component, weights=arm_n)
    centre = float((n * np.where(seen, mean, 0.0)).sum() / n.sum())
    centred = np.where(seen, mean - centre, 0.0)
    linked = arm_component[:, None] == stratum_component
    expected = linked * np.outer(arm_n, stratum_n) / component_n[arm_component][:, None]
    solve = _solve_by_arm if len(arm_n) <= len(stratum_n) else _solve_by_stratum
    level, variance = solve(n, centred, expected, arm_component, stratum_component)
    added = np.maximum(variance - 1 / arm_n, 0.0)
    return Stratified(
        mean=centre + level,
        n=1 / (1 / arm_n + 2 * added),
        component=arm_component,
        shares_differ=_shares_differ(n, expected, arm_component, stratum_component),
    )


def _solve_by_arm(
    n: Floats, mean: Floats, _: Floats, arm_component: Ints, stratum_component: Ints
) -> tuple[Floats, Floats]:
    """Return each arm's mean and its variance divided by σ², using one equation per arm.

    σ² is the variance of a reward. Let n_ks be the number of rewards of arm k in stratum s, n_k the
    total for arm k, and N_s the total for stratum s. The covariance matrix of the means is
    σ² (A + J)⁻¹. Here A = diag(n_k) − n diag(1/N_s) nᵀ, where n is the matrix of all n_ks. If arms
    k and j are in the same connected component, J_kj is n_k n_j/N, where N is the number of rewards
    in the component. Otherwise J_kj is 0.
    """
    arm_n, stratum_n = n.sum(axis=1), n.sum(axis=0)
    component_n = np.bincount(arm_component, weights=arm_n)
    total = np.bincount(arm_component, weights=(n * mean).sum(axis=1))
    stratum_mean = (n * mean).sum(axis=0) / stratum_n
    normal = np.diag(arm_n) - (n / stratum_n) @ n.T
    linked = arm_component[:, None] == arm_component
    normal += linked * np.outer(arm_n, arm_n) / component_n[arm_component]
    inverse = np.linalg.inv(normal)
    effect = inverse @ (n * (mean - stratum_mean)).sum(axis=1)
    return (total / component_n)[arm_component] + effect, inverse.diagonal()


def _solve_by_stratum(
    n: Floats, mean: Floats, expected: Floats, arm_component: Ints, stratum_component: Ints
) -> tuple[Floats, Floats]:
    """Return each arm's mean and its variance divided by σ², using one equation per stratum.

    σ² is the variance of a reward. The matrix of the equations is singular. To make it invertible,
    we add N_s N_t/N to the entry of strata s and t if both are in the same connected component.
    Here N_s is the number of rewards in stratum s, and N the number in the component. In each
    component, this also makes the weighted average of the stratum effects 0.
    """
    arm_n, stratum_n = n.sum(axis=1), n.sum(axis=0)
    component_n = np.bincount(arm_component, weights=arm_n)
    mix = n / arm_n[:, None]
    pooled = (mix * mean).sum(axis=1)
    normal = np.diag(stratum_n) - n.T @ mix
    linked = stratum_component[:, None] == stratum_component
    normal += linked * np.outer(stratum_n, stratum_n) / component_n[stratum_component]
    effect = np.linalg.solve(normal, (n * (mean - pooled[:, None])).sum(axis=0))
    x = (expected - n) / arm_n[:, None]
    added = (x * np.linalg.solve(normal, x.T).T).sum(axis=1)
    return pooled - mix @ effect, 1 / arm_n + added


def components(seen: Bools) -> tuple[Ints, Ints]:
    """Return the number of the connected component of each arm, and that of each stratum.

    `seen` is a boolean array indexed by (arm, stratum): True if the arm has rewards in the stratum.
    """
    arms = len(seen)
    label = np.arange(arms)
    while True:
        by_stratum = np.where(seen, label[:, None], arms).min(axis=0)
        new = np.where(seen, by_stratum, arms).min(axis=1)
        if (new == label).all():
            labels = np.unique(label)
            return np.searchsorted(labels, label), np.searchsorted(labels, by_stratum)
        label = new


def _shares_differ(
    n: Floats, expected: Floats, arm_component: Ints, stratum_component: Ints
) -> bool:
    from scipy.special import chdtrc

    arms, strata = np.bincount(arm_component), np.bincount(stratum_component)
    df = float(((arms - 1) * (strata - 1)).sum())
    if df == 0:
        return False
    linked = expected > 0
    statistic = float(((n - expected)[linked] ** 2 / expected[linked]).sum())
    return bool(chdtrc(df, statistic) < ALPHA)
