"""`plan`: what are these logs worth, before going live?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.evidence import bias_bounds
from driftanchor.core.offline import OfflineData
from driftanchor.core.record import encode
from driftanchor.errors import InvalidInput, shown
from driftanchor.experiments.report import Table
from driftanchor.live import inputs
from driftanchor.plan import words
from driftanchor.plan.assess import USE, Assessment, compare, default_worlds
from driftanchor.plan.contenders import RULE, contenders
from driftanchor.plan.law import COINS, Law, law_of
from driftanchor.plan.scenes import Progress
from driftanchor.plan.words import Texts
from driftanchor.plan.worlds import Worlds
from driftanchor.theory.terms import arm_terms

MOST_BOUND = 1e90  # means are moved by multiples of it, and their sums must stay finite

SHIFTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)  # times the bias bound
THEORY = ("gap", "anchor saves", "min-ucb saves", "lai-robbins")


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan(Assessment):
    """What logs are worth where every mean is within its bias bound.

    Attributes:
        theory: For each arm below the best of the logs, terms of `driftanchor.theory.TERMS`.
    """

    theory: dict[str, dict[str, float]]

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        saved, cold = self.saved(), self.cold_loss
        if self.decision == USE:
            return (
                f"Use the logs: {RULE} saves about {words.number(saved.value)} of "
                f"{words.number(cold)} rewards lost, {self._reach()}."
            )
        bound = words.number(float(self.bias_bounds.max()))
        return (
            f"Go without: with means that may have moved by {bound}, {RULE} {self.too_little()}"
            f"{self.if_trusted()}."
        )

    def _reach(self) -> str:
        """Up to which shift."""
        even, bound = self.break_even.value, float(self.bias_bounds.max())
        if even > self.largest_shift:
            most = words.number(self.largest_shift)
            return f"and still helps with means moved against the logs by {most}, the most tried"
        if even == 0:
            return "but not in the worst case, where means move against the logs"
        if even < bound:
            return (
                "but only while no mean has moved against the logs by more than "
                f"{words.number(even)}, less than V"
            )
        most = words.number(even)
        return f"and still helps while no mean has moved against the logs by more than {most}"

    def texts(self) -> Texts:
        """What its page says."""
        bound = words.number(float(self.bias_bounds.max()))
        arms, n = len(self.offline.arms), int(self.offline.n.sum())
        unit = self.by_shift.unit
        law = "coins" if self.law.name == "bernoulli" else "Gaussian"
        return Texts(
            "What are these logs worth?",
            ("use the logs", "go without"),
            f"{arms} arms, {n:,} logged rewards; means that may have moved by V = {bound}; "
            f"{self.horizon:,} rounds.",
            f"In {self.worlds:,} worlds that the logs and V leave possible: each mean has moved by "
            "something within ±V, independent of the others.",
            "The logs are taken as they are. In each world the means behind them are drawn from "
            "what the logs leave open, then moved, and every policy plays once. Rewards are "
            f"{law}: {self.law.why}. Savings are paired world by world. In the table the moves are "
            "uniform within ±V, for nothing else is known of them. The break-even asks for a "
            "bad case: the arm that leads in the logs is worse by the shift, and the arm furthest "
            "behind that can overtake it so is better by it.",
            "true shift",
            tuple(words.number(float(x * unit)) for x in self.by_shift.x),
            "The arm that leads in the logs is worse by the shift, and the arm furthest behind "
            "that can overtake it so is better by it.",
            (float(self.bias_bounds.max()) / unit, f"V = {bound}"),
            (float(self.bias_bounds.max()), "declared"),
            (self.arm_table(),),
        )

    def arm_table(self) -> Table:
        """The logs, and what theory says they save."""
        rows = []
        for label, n, mean, bound in zip(
            self.offline.arms, self.offline.n, self.offline.mean, self.bias_bounds, strict=True
        ):
            told = [words.number(float(x)) for x in self.theory.get(label, {}).values()]
            told = told or ["–"] * len(THEORY)
            rows.append((label, f"{n:,}", words.number(mean), words.number(bound), *told))
        title = (
            "The logs, the pulls that theory says they save, were they unbiased (ω = V), and the "
            "pulls needed without them (2σ² log T/Δ²)"
        )
        headings = (
            "arm",
            "n",
            "mean",
            "V",
            "gap",
            "Anchor-TS saves",
            "MIN-UCB saves",
            "without logs",
        )
        return Table(title, headings, tuple(rows))

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        rows = {
            label: {name: encode(x) for name, x in row.items()}
            for label, row in self.theory.items()
        }
        return {**super().to_json(), "theory": rows}


def plan(
    offline: OfflineData,
    *,
    bias_bound: object,
    horizon: int,
    bias_bound_source: str | None = None,
    law: str = "auto",
    reward_range: object = None,
    worlds: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Say what logs are worth before going live.

    Worlds are drawn that the logs and the bias bound leave possible. In each of them policies with
    and without the logs play once, and what they lose is compared.

    Args:
        offline: The logs.
        bias_bound: How far an arm's online mean may be from its offline mean: one number, or a
            mapping from labels.
        horizon: How many decisions there will be.
        bias_bound_source: Where that number comes from, as for `Learner`.
        law: Of rewards: `"gaussian"`, `"bernoulli"`, or `"auto"` to look at the logs.
        reward_range: Lowest and highest reward possible.
        worlds: How many to draw; `None` for as many as can be played in a minute or so.
        seed: Of all noise.
        threads: At most this many at once; changes no number.
        progress: Called with (runs done, runs in all) while it goes on.

    Example:
        >>> logs = OfflineData.from_summary({"A": (900, 0.5, 0.25), "B": (900, 0.2, 0.16)})
        >>> found = plan(logs, bias_bound=0.05, horizon=500, worlds=50)
        >>> found.decision
        'use'
    """
    if not isinstance(offline, OfflineData):
        raise InvalidInput(f"offline must be OfflineData, got {shown(offline)}")
    if len(offline.arms) < 2:
        raise InvalidInput(
            f"the logs have one arm only, {offline.arms[0]!r}: there is nothing to choose"
        )
    if not offline.n.any():
        raise InvalidInput("the logs have no rewards: there is nothing to plan with")
    bounds = finite(bias_bounds(bias_bound, offline.arms), offline)
    rounds = check.whole(horizon, "horizon", low=1)
    ends = inputs.valid_range(reward_range)
    rewards = law_of(offline, law, ends)
    if rewards.name == "bernoulli":
        ends = COINS
    who, reasons = contenders(offline, ends, bias_bound_source)
    many = default_worlds(rounds, len(bounds))
    many = many if worlds is None else check.whole(worlds, "worlds", low=2, high=10**6)
    truth = Worlds.draw(offline, rewards, bounds, many, check.whole(seed, "seed"))
    found = compare(
        truth,
        who,
        bounds=bounds,
        scale=truth.scale,
        shifts=SHIFTS,
        unit=float(truth.scale.max()),
        horizon=rounds,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    return Plan(
        offline=offline,
        bias_bounds=bounds,
        horizon=rounds,
        worlds=many,
        seed=seed,
        law=rewards,
        contenders=who,
        reasons=reasons,
        notes=_notes(offline),
        theory=theory_of(offline, bounds, rounds, rewards),
        **found,
    )


def finite(bounds: Floats, offline: OfflineData) -> Floats:
    """The bias bounds, which must say something."""
    for label, bound in zip(offline.arms, bounds, strict=True):
        if np.isfinite(bound):
            check.number(float(bound), f"bias_bound of arm {label!r}", high=MOST_BOUND)
        else:
            raise InvalidInput(
                f"bias_bound of arm {label!r} must be finite here, got {bound}: without a bound "
                "anything may have happened, and logs save nothing"
            )
    return bounds


def theory_of(
    offline: OfflineData, bounds: Floats, horizon: int, law: Law
) -> dict[str, dict[str, float]]:
    """What theory says the logs save, were they unbiased: ω = V; empty if all means are equal."""
    logged = np.flatnonzero(offline.n > 0)
    means = offline.mean[logged]
    if np.ptp(means) == 0:
        return {}
    noise = offline.pooled_noise()
    if not noise > 0:  # unknown, or of coins that always fell the same way
        noise = law.noise
    columns, terms = arm_terms(
        means, means, offline.n[logged], bounds[logged], max(horizon, 2), noise
    )
    return {
        offline.arms[int(logged[column])]: {name: float(terms[name][i]) for name in THEORY}
        for i, column in enumerate(columns)
    }


def _notes(offline: OfflineData) -> tuple[str, ...]:
    bare = [label for label, n in zip(offline.arms, offline.n, strict=True) if n == 0]
    if not bare:
        return ()
    return (
        f"no logs of {words.listed(bare)}: in each world such an arm is like one of the others",
    )
