"""`replay`: what would these logs have been worth, at a moment of the past?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.evidence import bias_bounds
from driftanchor.core.hooks import LogOptions
from driftanchor.experiments.report import Table
from driftanchor.live import inputs
from driftanchor.plan import words
from driftanchor.plan.assess import USE, Assessment, compare, default_worlds
from driftanchor.plan.contenders import RULE, contenders
from driftanchor.plan.history import History, Past, read_history
from driftanchor.plan.law import COINS
from driftanchor.plan.plan import finite
from driftanchor.plan.scenes import Progress
from driftanchor.plan.statistics import Estimate
from driftanchor.plan.words import Texts

SHIFTS = (0.0, 0.5, 1.0, 1.5, 2.0)  # times the shift that happened
LONGEST = 100_000  # rounds, unless more are asked for


@dataclass(frozen=True, eq=False, kw_only=True)
class Replay(Assessment):
    """What logs were worth for what came after them.

    Attributes:
        history: Before and after.
        declared: Whether the bias bound was given, and not taken from what happened.
    """

    history: History
    declared: bool

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        saved, cold = self.saved(), words.number(self.cold_loss)
        if self.decision == USE:
            return (
                f"The logs would have helped: {RULE} saves about {words.number(saved.value)} of "
                f"{cold} rewards lost {self.history.by.there}, {self._reach()}."
            )
        return (
            f"The logs would not have helped: {self.history.by.there}, {RULE} "
            f"{self.too_little()}{self.if_trusted()}."
        )

    def _reach(self) -> str:
        even, unit = self.break_even.value, self.by_shift.unit
        if even > self.largest_shift:
            return f"and still does with {words.number(self.by_shift.x[-1])} times the shift"
        return f"and would up to {words.number(even / unit)} times the shift that happened"

    def held(self, label: str) -> str:
        """Whether an arm's mean stayed within its bound: `"yes"`, `"no"` or `"unclear"`."""
        bound = float(self.bias_bounds[self.offline.arms.column(label)])
        return within(self.history.shifts[label], bound)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        shifts = {
            label: {**shift.to_json(), "held": self.held(label)}
            for label, shift in self.history.shifts.items()
        }
        told = {"split": self.history.split, "shifts": shifts, "declared": self.declared}
        return {**super().to_json(), **told}

    def texts(self) -> Texts:
        """What its page says."""
        past, largest = self.history, words.number(self.history.largest)
        bound = words.number(float(self.bias_bounds.max()))
        told = f"V = {bound}" if self.declared else f"V = {bound}, the largest shift that happened"
        sizes = past.by.sizes(int(self.offline.n.sum()), int(past.after.n.sum()))
        there = past.by.there[0].upper() + past.by.there[1:]
        return Texts(
            "What would these logs have been worth?",
            ("would have helped", "would not have helped"),
            f"{len(self.offline.arms)} arms, {sizes}; {told}; {self.horizon:,} rounds.",
            f"{there}, as it really was: {self.worlds:,} runs of each policy.",
            f"{past.by.how}: its means are taken for the truth, and runs differ by the rewards "
            "drawn. In each run all policies meet the same rewards.",
            "how far the means move, in multiples of what happened",
            tuple(words.number(float(x)) for x in self.by_shift.x),
            f"Every mean moved 0 to 2 times as far as it really did (the furthest by {largest}).",
            (1.0, "what happened"),
            (float(self.bias_bounds.max()), "declared" if self.declared else "the largest shift"),
            (self.shift_table(),),
        )

    def shift_table(self) -> Table:
        """How far each arm moved, and whether its bound held."""
        past = self.history
        rows = []
        for i, label in enumerate(self.offline.arms):
            n, m = past.before.n[i], words.number(float(past.before.mean[i]))
            later = (f"{past.after.n[i]:,}", words.number(float(past.after.mean[i])))
            told = ("–", "–", "–")
            if label in past.shifts:
                shift = past.shifts[label]
                told = (words.number(shift.value), words.interval(shift), self.held(label))
            rows.append((label, f"{n:,}", m, *later, *told))
        sides = (f"n {past.by.before}", "mean", f"n {past.by.after}", "mean")
        headings = ("arm", *sides, "shift", "95 %", "within V")
        return Table("How far the means moved", headings, tuple(rows))


def replay(
    logs: object,
    *,
    split: object,
    bias_bound: object = None,
    horizon: int | None = None,
    bias_bound_source: str | None = None,
    worlds: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[LogOptions],
) -> Replay:
    """Say what logs would have been worth: a back-test on what really happened.

    The rows before `split` are the offline log, those from it on are the world: policies with and
    without the logs play on rewards drawn anew from those of the world.

    Args:
        logs: Files, a frame or a table, as for `read_logs`.
        split: A date or time; or a filter as for `where`, such as `"channel = 'Web'"`: the rows
            that match are the world, the others the log, and rows in which it compares a missing
            value are on neither side.
        bias_bound: The bound you would have declared: one number, or a mapping from labels; `None`
            for the largest shift that happened, which nobody knows beforehand.
        horizon: Rounds; `None` for as many as there are later rewards, up to 100,000.
        bias_bound_source: Where the bound comes from, as for `Learner`.
        worlds: Runs of each policy; `None` for as many as can be played in a minute or so.
        seed: Of all noise.
        threads: At most this many at once; changes no number.
        progress: Called with (runs done, runs in all) while it goes on.
        **options: The columns, filters and limits: see `LogOptions`. `time` is needed to
            split at a date.
    """
    past = read_history(logs, split, **options)
    many = len(past.before.arms)
    declared = bias_bound is not None
    bounds = finite(
        bias_bounds(bias_bound if declared else past.largest, past.before.arms), past.before
    )
    later = int(past.after.n.sum())
    rounds = min(later, LONGEST) if horizon is None else check.whole(horizon, "horizon", low=1)
    notes = past.notes
    if rounds < later and horizon is None:
        notes += (f"{rounds:,} rounds, not all {later:,}: ask for a longer horizon",)
    ends = (
        COINS if past.law.name == "bernoulli" else inputs.valid_range(options.get("reward_range"))
    )
    if declared:
        notes += (_promise_kept(past, bounds),)
    who, reasons = contenders(past.before, ends, bias_bound_source)
    runs = default_worlds(rounds, many)
    runs = runs if worlds is None else check.whole(worlds, "worlds", low=2, high=10**6)
    unit = past.largest
    found = compare(
        Past(past, runs),
        who,
        bounds=bounds,
        scale=bounds if bounds.any() else np.full(many, unit or past.law.noise / 10),
        shifts=SHIFTS,
        unit=unit,
        horizon=rounds,
        seed=check.whole(seed, "seed"),
        threads=threads,
        progress=progress,
    )
    return Replay(
        offline=past.before,
        bias_bounds=bounds,
        horizon=rounds,
        worlds=runs,
        seed=seed,
        law=past.law,
        contenders=who,
        reasons=reasons,
        notes=notes,
        history=past,
        declared=declared,
        **found,
    )


def within(shift: Estimate, bound: float) -> str:
    """Whether a shift is within a bound, as far as its interval tells.

    Example:
        >>> [within(Estimate(0.2, 0.1, 0.3), bound) for bound in (0.4, 0.25, 0.05)]
        ['yes', 'unclear', 'no']
    """
    if max(abs(shift.low), abs(shift.high)) <= bound:
        return "yes"
    return "no" if shift.low > bound or shift.high < -bound else "unclear"


def _promise_kept(past: History, bounds: Floats) -> str:
    """Whether V held, in words."""
    by_label = dict(zip(past.before.arms, bounds, strict=True))
    found = {label: within(shift, by_label[label]) for label, shift in past.shifts.items()}
    broken = [label for label, answer in found.items() if answer == "no"]
    if broken:
        return f"V did not hold: {words.listed(broken)} moved further"
    if set(found.values()) == {"yes"}:
        return "V held for all arms with logs"
    return "V may have held: no arm moved further for sure"
