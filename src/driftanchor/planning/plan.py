"""`plan`: what are these logs worth, before going live?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.offline import OfflineData
from driftanchor.core.promises import valid_range
from driftanchor.core.record import encode
from driftanchor.errors import InvalidInput, shown
from driftanchor.planning import words
from driftanchor.planning.assess import USE, Assessment, default_worlds
from driftanchor.planning.auto import declared
from driftanchor.planning.compare import compare
from driftanchor.planning.contenders import contenders
from driftanchor.planning.law import COINS, Law, law_of
from driftanchor.planning.promise import Promise, promised
from driftanchor.planning.scenes import Progress
from driftanchor.planning.words import Texts
from driftanchor.planning.worlds import Worlds, shifts_of, spread
from driftanchor.render.table import Table
from driftanchor.theory.terms import arm_terms

THEORY = ("gap", "anchor saves", "min-ucb saves", "lai-robbins")
MISSING = "give periods, as read_periods reads them (--by week on the command line), or a number"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Plan(Assessment):
    """What logs are worth where the promise holds.

    Attributes:
        theory: For each arm below the best of the logs, terms of `driftanchor.theory.TERMS`.
    """

    theory: dict[str, dict[str, float]]

    @property
    def answer(self) -> str:
        """The answer in one sentence."""
        cold = words.number(self.cold_loss)
        if self.decision == USE:
            saved = words.number(self.saved(self.best_policy).value)
            return (
                f"Use the logs: {self.best_policy} saves about {saved} of {cold} rewards lost "
                f"without them, {self._reach()}."
            )
        return (
            f"Go without: with {self._moves()}, no safe rule saves enough to matter of the {cold} "
            f"rewards lost without the logs{self.if_trusted()}."
        )

    def _moves(self) -> str:
        """How far means may have moved, in words."""
        size = words.number(self.promise.size)
        if not self.promise.is_relative:
            return f"means that may have moved by {size}"
        return f"arms that may have moved apart by {size} each"

    def _reach(self) -> str:
        """Up to which shift."""
        even = self.break_even.value
        if even > self.largest_shift:
            most = words.number(self.largest_shift)
            return f"and still helps with means moved against the logs by {most}, the most tried"
        if even == 0:
            return "but not in the worst case, where means move against the logs"
        most = words.number(even)
        if even < self.promise.reach.max():
            return (
                f"but only while no mean has moved against the logs by more than {most}, less than "
                f"the {words.number(self.promise.size)} that is declared"
            )
        return f"and still helps while no mean has moved against the logs by more than {most}"

    def texts(self) -> Texts:
        """What its page says."""
        arms, n = len(self.offline.arms), int(self.offline.n.sum())
        letter, size = self.promise.letter, words.number(self.promise.size)
        law = "coins" if self.law.name == "bernoulli" else "Gaussian"
        return Texts(
            title="What are these logs worth?",
            answers=("use the logs", "go without"),
            lead=f"{arms} arms, {n:,} logged rewards; {self._moves()}; {self.horizon:,} rounds.",
            expected=f"In {self.worlds:,} worlds that the logs and the promise leave possible: "
            f"{self._worlds()}.",
            how="The logs are taken as they are. In each world the means behind them are drawn "
            "from what the logs leave open, then moved, and every policy plays once. Rewards are "
            f"{law}: {self.law.why}. Savings are paired world by world. Own moves are uniform "
            f"within ±{letter}, because nothing else is known of them.{self._common()} The "
            f"break-even is for a bad case. {AGAINST}",
            shift_axis="how far means have moved against the logs",
            shift_ticks=tuple(words.number(float(x)) for x in self.by_shift.x),
            shift_says=AGAINST,
            shift_mark=(float(self.promise.reach.max()), f"{letter} = {size}"),
            bound_mark=(self.promise.axis[1], "declared"),
            tables=(self.arm_table(),),
        )

    def _worlds(self) -> str:
        letter = self.promise.letter
        if not self.promise.is_relative:
            return f"each mean has moved by something within ±{letter}, independent of the others"
        return (
            f"all means have moved together, and each by something of its own within ±{letter}, "
            "independent of the others"
        )

    def _common(self) -> str:
        """How arms move together, in a sentence."""
        if not self.promise.is_relative:
            return ""
        if self.promise.has_levels:
            return " The common move is uniform within what V leaves."
        return (
            " The common move is normal and wide, because nothing is promised of it: its standard "
            "deviation is the noise of a reward (for a rate p it is p (1 − p), and all rates stay "
            "between 0 and 1), or the distance between the best and the worst logged mean if that "
            "is larger."
        )

    def arm_table(self) -> Table:
        """The logs, and what theory says they save."""
        bounds = {"V": self.promise.levels, "W": self.promise.apart}
        bounds = {letter: x for letter, x in bounds.items() if np.isfinite(x).any()}
        rows = []
        for i, label in enumerate(self.offline.arms):
            logged = f"{self.offline.n[i]:,}", words.number(float(self.offline.mean[i]))
            limits = (words.number(float(x[i])) for x in bounds.values())
            told = [words.number(float(x)) for x in self.theory.get(label, {}).values()]
            rows.append((label, *logged, *limits, *(told or ["–"] * len(THEORY))))
        return Table(
            "The logs, the pulls that theory says they save if no mean has moved, and the pulls "
            "that an arm needs without logs",
            ("arm", "n", "mean", *bounds, "gap", "Anchor-TS saves", "MIN-UCB saves", "needed"),
            tuple(rows),
        )

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        rows = {
            label: {name: encode(x) for name, x in row.items()}
            for label, row in self.theory.items()
        }
        return {**super().to_json(), "theory": rows}


AGAINST = (
    "The arm that leads in the logs is worse by the shift. Of the arms that can then overtake it, "
    "the one furthest behind in the logs is better by the shift."
)


def plan(
    offline: OfflineData,
    *,
    bias_bound: object = None,
    relative_bound: object = None,
    horizon: int,
    periods: Mapping[str, OfflineData] | None = None,
    bias_bound_source: str | None = None,
    law: str = "auto",
    reward_range: object = None,
    worlds: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Say what logs are worth before going live.

    Worlds are drawn that the logs and the promise leave possible. In each of them policies with
    and without the logs play once, and what they lose is compared. The promise is `bias_bound`,
    `relative_bound`, or both.

    Args:
        offline: The logs.
        bias_bound: V, how far an arm's online mean may be from its offline mean: one number, a list
            or mapping, a `driftanchor.shift.Suggestion`, or `"auto"` for what the periods suggest.
        relative_bound: W, how far it may be from there after a move that all arms share: the same.
        horizon: How many decisions there will be.
        periods: The logs by period, as `read_periods` gives them, for `"auto"`.
        bias_bound_source: Where the promise comes from, as for `Learner`.
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
        raise InvalidInput(f"must be OfflineData, got {shown(offline)}", argument="offline")
    if len(offline.arms) < 2:
        raise InvalidInput(
            f"the logs have one arm only, {offline.arms[0]!r}: there is nothing to choose"
        )
    if not offline.n.any():
        raise InvalidInput("the logs have no rewards: there is nothing to plan with")
    given = declared(bias_bound, relative_bound, periods, MISSING, offline.arms)
    promise = promised(given.bias_bound, given.relative_bound, offline)
    rounds = check.whole(horizon, "horizon", low=1)
    ends = valid_range(reward_range)
    rewards = law_of(offline, law, ends)
    if rewards.name == "bernoulli":
        ends = COINS
    who, reasons = contenders(offline, ends, bias_bound_source)
    many = default_worlds(rounds, len(offline.arms))
    many = many if worlds is None else check.whole(worlds, "worlds", low=2, high=10**6)
    truth = Worlds.draw(offline, rewards, promise, many, check.whole(seed, "seed"))
    compared = compare(
        truth,
        who,
        promise=promise,
        spread=spread(offline) or rewards.noise / 10,
        shifts=shifts_of(offline, rewards),
        unit=1.0,
        horizon=rounds,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    return Plan(
        offline=offline,
        promise=promise,
        horizon=rounds,
        worlds=many,
        seed=seed,
        law=rewards,
        contenders=who,
        reasons=reasons,
        notes=(*given.notes, *_notes(offline)),
        compared=compared,
        theory=theory_of(offline, promise, rounds, rewards),
    )


def theory_of(
    offline: OfflineData, promise: Promise, horizon: int, law: Law
) -> dict[str, dict[str, float]]:
    """What theory says the logs save if no mean has moved; empty if all means are equal.

    W takes the place of V where it is smaller.
    """
    logged = np.flatnonzero(offline.n > 0)
    means: Floats = offline.mean[logged]
    if np.ptp(means) == 0:
        return {}
    noise = offline.pooled_noise()
    if not noise > 0:  # unknown, or of coins that always fell the same way
        noise = law.noise
    columns, terms = arm_terms(
        means, means, offline.n[logged], promise.reach[logged], max(horizon, 2), noise
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
