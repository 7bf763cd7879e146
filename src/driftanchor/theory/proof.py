"""The constants in the proof of Theorem 1, arXiv 2605.10289, for rewards in [0, 1].

Lemmas go by their labels in the paper; E8, E9, … are its errata (docs/evidence/errata.md). T is the
horizon, Δ the gap, N₁ the logs of the best arm, and y = μ₁ − Δ/3 the level that its index must
pass.
"""

import math

SUBOPTIMAL = 36.0
"""Lemma "goodEvent:sub-optimalArm": 2√(L_T/n) ≥ Δ/3 until n = 36 L_T/Δ² rewards. At that point the
proof replaces L_T = 2 log(2T³Δ²) by log(TΔ²), which is more than six times smaller: L_T is kept
here (E10). The lemma uses ω one-sided, as E11 asks."""

OPTIMAL = 288.0
"""Lemma "hybrid bound-optimal": from n = 288 log(TΔ² + e⁶)/Δ² rewards on, the best arm's hybrid
sample comes back above y with 5/(TΔ²) rounds lost. Lemma "optimal-good-part" drops the 288 beside
N₁ (and has e³² for e⁶): that would save 288 times as much and does not follow. Theorem 1 is right
in this."""

OPTIMAL_FLOOR = math.e**6
"""Same lemma."""

RETURN_LOG = 11.0
"""Same lemma: the largest of r normals passes √(log r) with probability 1 − 1/r² once log r ≥ 11.
The step through exp(−√r/(4πr log r)) is false; the statement holds, from 10.45 on (E9)."""

RETURN_LOG_NO_LOGS = 28.0 + 16.0 * math.sqrt(3.0)
"""Same lemma: the prior's pull asks for log r ≥ (28 + 16√3)/(N₁ + 1); right as printed (E9)."""

RETURN_EXTRA = 5.0
"""Same lemma: the sums of 1/r² and 1/r^1.5; and the 5 of 5/(TΔ²)."""

BAD_ONLINE_MEAN = 9.0 / 2.0 + 1.0
"""Lemma "vanilla-bad-event-mu", with the event μ̂ > x and d(x, μ) ≥ 2Δ²/9 (E8): 9/(2Δ²) + 1."""

BAD_HYBRID_MEAN = math.pi**2 / 6.0
"""Lemma "term2-bound": Σ δ_t with δ_t = 1/(t²Δ²), behind O(1/Δ²). Early rounds with δ_t > 1, where
L_t may be negative (E10), count as bad altogether, and the same sum pays for them."""

BAD_HYBRID_SAMPLE = 1.2020569031595942
"""Lemma "term3-bound": Σ δ_t/t = ζ(3)/Δ², behind O(1/Δ²)."""

BAD_BEST_MEAN = math.e**64
"""Lemma "optim-bad-term": the bound on E[p^(−a)]^(1/a), p being the probability that both samples
of the best arm pass y. The statement stands for rewards in [0, 1]; the printed proof does not, and
not only because "On E₁" must be "on not E₁" (E8). It takes "no draw of r has both above y" for "no
online sample of r or no hybrid sample of r is above y", but the two may pass y in different draws:
at p_on = p_hyb = 0.1, r = 50 the first has probability 0.61, the second at most 0.01. In truth
p = p_on p_hyb, so E[p_on^(−2a)] and E[p_hyb^(−2a)] must be finite. Hoeffding's inequality gives
less than e¹² for a = 3/2 in [0, 1]. For Gaussian rewards with σ = 1 and N₁ = 0 the moment is
infinite: that is E13."""

HOLDER = 3.0
"""Same lemma: b = a/(a − 1) for a = 3/2. The paper leaves a open in (1, 3/2)."""

BAD_BEST_MEAN_ROUNDS = 1.0 + 18.0 * HOLDER
"""Same lemma: Σ exp(−kΔ²/(18b)) ≤ 1 + 18b/Δ² over k ≥ 0; the paper sums from k = 1. That the mean
is S/(k + 1) and not S/k (E7) costs a factor below e^(1/9), for which e⁶⁴ has room."""

CONSTANT = (
    BAD_ONLINE_MEAN
    + BAD_HYBRID_MEAN
    + BAD_HYBRID_SAMPLE
    + 2.0  # Lemma "goodEvent:sub-optimalArm": its 1/Δ², and T_i ≤ x allows ⌊x⌋ + 1 pulls
    + RETURN_EXTRA  # Lemma "hybrid bound-optimal": T times 5/(TΔ²)
    + (BAD_BEST_MEAN + RETURN_EXTRA)  # Lemma "vanilla optim-term": again ⌊x⌋ + 1 pulls
    + BAD_BEST_MEAN * BAD_BEST_MEAN_ROUNDS
)
"""C₃ of Theorem 1, using 1 ≤ 1/Δ²."""
