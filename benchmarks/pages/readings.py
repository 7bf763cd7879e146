"""The paper's pseudo-code read to the letter, as policies, for `docs/evidence/errata.md`.

Nothing in the package uses these. Each differs from `AnchorTS` in one point, named by its number
in the errata, and keeps that policy's name: its noise is then keyed alike, so a run of a reading
and the same run of `AnchorTS` are the same until the point first matters. They have the paper's
prior mean of 0 built in, as the letter has.
"""

import math

from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.noise import Draws, Stream
from driftanchor.core.posterior import (
    Posterior,
    bias_shift,
    hybrid_posterior,
    median,
    online_posterior,
)
from driftanchor.policies.base import Best, Policy, challenge, draw, index


class Reading(Policy):
    """Anchor-TS as `AnchorTS` reads it, in one function that the others change in one place."""

    name = "anchor-ts"
    formula = "median(anchor, θ_on, θ_hyb + Z)"
    source = "Li, Fu, Chen & Kong 2026, arXiv 2605.10289, Algorithm 1"
    normals = 2

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """The median of the anchor and the two samples."""
        online = online_posterior(arm, 0.0, self.noise)
        hybrid = hybrid_posterior(arm, 0.0, self.noise)
        return middle(online.mean, online, hybrid, bias_shift(arm), z)


class RecursiveMean(Reading):
    """E1: line 12 as printed, mean ← (T mean + R)/(T + 2), and (T + 1) mean wherever S stands."""

    memory = 3  # pulls and total when last looked, and the mean

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """Bring each mean up to date, then the largest index, ties at random."""
        best = Best(-math.inf, -1, 0)
        for column in range(evidence.pulls.size):
            arm = recursive_arm(evidence, column)
            value = index(self, arm, now, draw(self, stream))
            if evidence.playable[column]:
                best = challenge(best, value, column, stream)
        return best.column


class DampedSum(Reading):
    """E2: line 14 as printed, (T mean + N m)/(T + N + 1), which holds T/(T + 1) of the sum."""

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """The median, with the hybrid sample around the printed mean."""
        online = online_posterior(arm, 0.0, self.noise)
        hybrid = Posterior(damped_mean(arm), hybrid_posterior(arm, 0.0, self.noise).sd)
        return middle(online.mean, online, hybrid, bias_shift(arm), z)


class LogsAlone(Reading):
    """E3: line 2 as printed, the hybrid mean before the first pull is m and not N m/(N + 1)."""

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """The median, with the hybrid sample around the offline mean at first."""
        online = online_posterior(arm, 0.0, self.noise)
        hybrid = hybrid_posterior(arm, 0.0, self.noise)
        if arm.pulls == 0:
            hybrid = Posterior(arm.offline_mean, hybrid.sd)
        return middle(online.mean, online, hybrid, bias_shift(arm), z)


class ShiftWithoutLogs(Reading):
    """E4: line 2 as printed, Z = V before the first pull even of an arm without logs."""

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """The median, with the hybrid sample shifted by V at first."""
        online = online_posterior(arm, 0.0, self.noise)
        hybrid = hybrid_posterior(arm, 0.0, self.noise)
        shift = bias_shift(arm) if arm.pulls > 0 else arm.bias_bound
        return middle(online.mean, online, hybrid, shift, z)


class AsPrinted(RecursiveMean):
    """E1 to E4 together: Algorithm 1 with nothing mended but the swapped indices of E5."""

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """Lines 5 to 7, from totals that are (T + 1) times the recursive mean."""
        online = online_posterior(arm, 0.0, self.noise)
        sd = hybrid_posterior(arm, 0.0, self.noise).sd
        if arm.pulls == 0:
            return middle(online.mean, online, Posterior(arm.offline_mean, sd), arm.bias_bound, z)
        return middle(online.mean, online, Posterior(damped_mean(arm), sd), bias_shift(arm), z)


class PlainMean(Reading):
    """E7: the anchor is the sample mean S/T that the text speaks of, 0 before the first pull."""

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """The median around the sample mean."""
        online = online_posterior(arm, 0.0, self.noise)
        hybrid = hybrid_posterior(arm, 0.0, self.noise)
        anchor = arm.total / arm.pulls if arm.pulls > 0 else 0.0
        return middle(anchor, online, hybrid, bias_shift(arm), z)


class FirstOfTies(Reading):
    """E15: of equal indices the first arm's wins, as with NumPy's argmax."""

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """The first arm with the largest index."""
        best = -math.inf
        chosen = -1
        for column in range(evidence.pulls.size):
            value = index(self, arm_at(evidence, column), now, draw(self, stream))
            if value > best:
                best = value
                chosen = column
        return chosen


class SharedDraw(Reading):
    """E18: one standard normal for both samples."""

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """The median of samples that rise and fall together."""
        online = online_posterior(arm, 0.0, self.noise)
        hybrid = hybrid_posterior(arm, 0.0, self.noise)
        return middle(online.mean, online, hybrid, bias_shift(arm), Draws(z.on, z.on, 0.0))


def middle(anchor: float, online: Posterior, hybrid: Posterior, shift: float, z: Draws) -> float:
    """The median of the anchor, an online sample and a shifted hybrid sample."""
    online_sample = online.mean + online.sd * z.on
    hybrid_sample = hybrid.mean + shift + hybrid.sd * z.hyb
    return median(anchor, online_sample, hybrid_sample)


def damped_mean(arm: ArmEvidence) -> float:
    """Line 14 as printed, with the online mean S/(T + 1) and not the sum."""
    kept = arm.pulls * (arm.total / (arm.pulls + 1))
    logged = arm.offline_pulls * arm.offline_mean
    return (kept + logged) / (arm.pulls + arm.offline_pulls + 1)


def recursive_arm(evidence: Evidence, column: int) -> ArmEvidence:
    """The arm with (T + 1) times the printed recursion's mean in place of its sum.

    The recursion depends on the order of the rewards, which sums do not keep; an arm's last
    reward is what its total has grown by since the round before.
    """
    arm = arm_at(evidence, column)
    before = evidence.memory[column, 0]
    if arm.pulls > before:
        reward = arm.total - evidence.memory[column, 1]
        mean = (before * evidence.memory[column, 2] + reward) / (arm.pulls + 1)
        evidence.memory[column, 0] = arm.pulls
        evidence.memory[column, 1] = arm.total
        evidence.memory[column, 2] = mean
    total = evidence.memory[column, 2] * (arm.pulls + 1)
    return ArmEvidence(arm.pulls, total, arm.offline_pulls, arm.offline_mean, arm.bias_bound)
