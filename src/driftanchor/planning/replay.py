"""`replay`: what would these logs have been worth, at a moment of the past?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from driftanchor.core import check
from driftanchor.core.log_options import LogOptions
from driftanchor.core.promises import valid_range
from driftanchor.core.stats.intervals import Estimate
from driftanchor.planning import words
from driftanchor.planning.assess import USE, Assessment, default_worlds
from driftanchor.planning.auto import declared, is_auto, periods_of
from driftanchor.planning.compare import compare
from driftanchor.planning.contenders import contenders
from driftanchor.planning.history import History, Past, read_history
from driftanchor.planning.law import COINS
from driftanchor.planning.promise import Promise, promised
from driftanchor.planning.scenes import Progress
from driftanchor.planning.words import Texts
from driftanchor.render.table import Table

SHIFTS = (0.0, 0.5, 1.0, 1.5, 2.0)  # times the shift that happened
LONGEST = 100_000  # rounds, unless more are asked for
MISSING = "give by, such as 'week' (--by week on the command line), or a number"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Replay(Assessment):
    """What logs were worth for what came after them.

    Attributes:
        history: Before and after.
        declared: Whether a bound was given, and not taken from what happened.
    """

    history: History
    declared: bool

    @property
    def answer(self) -> str:
        """The answer in one sentence."""
        cold, there = words.number(self.cold_loss), self.history.by.there
        if self.decision == USE:
            saved = words.number(self.saved(self.best_policy).value)
            return (
                f"The logs would have helped: {self.best_policy} saves about {saved} of {cold} "
                f"rewards lost without them {there}, {self._reach()}."
            )
        risky = self.judgement.bolder is not None
        return (
            f"The logs would {'have helped only at a risk' if risky else 'not have helped'}: "
            f"{there}, no safe rule saves enough to matter of the {cold} rewards lost without them"
            f"{self.if_trusted()}."
        )

    def _reach(self) -> str:
        even, unit = self.break_even.value, self.by_shift.unit
        if even > self.largest_shift or unit == 0:
            return f"and still does so with {words.number(self.by_shift.x[-1])} times the shift"
        return f"and would do so up to {words.number(even / unit)} times the shift that happened"

    def held(self, label: str) -> str:
        """Whether an arm's mean stayed within V: `"yes"`, `"no"` or `"unclear"`."""
        bound = float(self.bias_bounds[self.offline.arms.column(label)])
        return within(self.history.shifts[label], bound)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        shifts = {
            label: {**shift.to_json(), "held": self.held(label)}
            for label, shift in self.history.shifts.items()
        }
        told = {
            "split": self.history.split,
            "shifts": shifts,
            "held": held_together(self.history, self.promise),
            "declared": self.declared,
        }
        return {**super().to_json(), **told}

    def texts(self) -> Texts:
        """What its page says."""
        past, largest = self.history, words.number(self.history.largest)
        told = self.promise.told + ("" if self.declared else ", the largest shift that happened")
        sizes = past.by.sizes(int(self.offline.n.sum()), int(past.after.n.sum()))
        there = past.by.there[0].upper() + past.by.there[1:]
        return Texts(
            title="What would these logs have been worth?",
            answers=(
                "would have helped",
                "only at a risk" if self.judgement.bolder else "would not have helped",
            ),
            lead=f"{len(self.offline.arms)} arms, {sizes}; {told}; {self.horizon:,} rounds.",
            expected=f"{there}, as it really was: {self.worlds:,} runs of each policy.",
            how=f"{past.by.how}: its means are taken for the truth, and runs differ by the rewards "
            "drawn. In each run all policies meet the same rewards. The bad case, by which rules "
            "are judged safe or not, is not what happened but what the promise would have allowed: "
            "the arm that leads in the logs is worse than logged, and another one is better and "
            "overtakes it.",
            shift_axis="how far the means move, in multiples of what happened",
            shift_ticks=tuple(words.number(float(x)) for x in self.by_shift.x),
            shift_says=f"Every mean moved 0 to 2 times as far as it really did (the furthest by "
            f"{largest}).",
            shift_mark=(1.0, "what happened"),
            bound_mark=(self.promise.axis[1], "declared" if self.declared else "the largest shift"),
            tables=(self.shift_table(),),
        )

    def shift_table(self) -> Table:
        """How far each arm moved, and whether V held where it is declared."""
        past = self.history
        levels = self.promise.has_levels
        rows = []
        for i, label in enumerate(self.offline.arms):
            n, m = past.before.n[i], words.number(float(past.before.mean[i]))
            later = (f"{past.after.n[i]:,}", words.number(float(past.after.mean[i])))
            told = ["–", "–", "–"]
            if label in past.shifts:
                shift = past.shifts[label]
                told = [words.number(shift.value), words.interval(shift), self.held(label)]
            rows.append((label, f"{n:,}", m, *later, *told[: 3 if levels else 2]))
        sides = f"n {past.by.before}", "mean", f"n {past.by.after}", "mean"
        headings = ["arm", *sides, "shift", "95 %"]
        headings += ["within V"] if levels else []
        return Table("How far the means moved", tuple(headings), tuple(rows))


def replay(
    logs: object,
    *,
    split: object,
    bias_bound: object = None,
    relative_bound: object = None,
    horizon: int | None = None,
    by: str | None = None,
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
        bias_bound: The V you would have declared, as for `plan`; `"auto"` for what the periods
            of the log suggest. Without any bound V is the largest shift that happened, which
            nobody knows beforehand.
        relative_bound: The W you would have declared, as for `plan`.
        horizon: Rounds; `None` for as many as there are later rewards, up to 100,000.
        by: What the periods are for `"auto"`, as for `read_periods`: `"week"`, or a column.
        bias_bound_source: Where the bounds come from, as for `Learner`.
        worlds: Runs of each policy; `None` for as many as can be played in a minute or so.
        seed: Of all noise.
        threads: At most this many at once; changes no number.
        progress: Called with (runs done, runs in all) while it goes on.
        **options: The columns, filters and limits: see `LogOptions`. `time` is needed to
            split at a date.
    """
    past = read_history(logs, split, **options)
    many = len(past.before.arms)
    is_declared = bias_bound is not None or relative_bound is not None
    periods = None
    if is_auto(bias_bound) or is_auto(relative_bound):
        periods = periods_of(logs, past.by, by, options)
    given = declared(bias_bound, relative_bound, periods, MISSING, past.before.arms)
    promise = promised(
        given.bias_bound if is_declared else past.largest, given.relative_bound, past.before
    )
    later = int(past.after.n.sum())
    rounds = min(later, LONGEST) if horizon is None else check.whole(horizon, "horizon", low=1)
    notes = (*given.notes, *past.notes)
    if rounds < later and horizon is None:
        notes += (f"{rounds:,} rounds, not all {later:,}: ask for a longer horizon",)
    ends = COINS if past.law.name == "bernoulli" else valid_range(options.get("reward_range"))
    if is_declared:
        notes += _promises_kept(past, promise)
    who, reasons = contenders(past.before, ends, bias_bound_source)
    runs = default_worlds(rounds, many)
    runs = runs if worlds is None else check.whole(worlds, "worlds", low=2, high=10**6)
    compared = compare(
        Past(past, promise, runs),
        who,
        promise=promise,
        spread=past.largest or past.law.noise / 10,
        shifts=SHIFTS,
        unit=past.largest,
        horizon=rounds,
        seed=check.whole(seed, "seed"),
        threads=threads,
        progress=progress,
    )
    return Replay(
        offline=past.before,
        promise=promise,
        horizon=rounds,
        worlds=runs,
        seed=seed,
        law=past.law,
        contenders=who,
        reasons=reasons,
        notes=notes,
        compared=compared,
        history=past,
        declared=is_declared,
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


def held_together(past: History, promise: Promise) -> dict[str, str]:
    """Whether each promise held for all arms: `"yes"`, `"no"` or `"unclear"`.

    W held if there is a common move from which no arm is further away than W.
    """
    column = past.before.arms.column
    held: dict[str, str] = {}
    if promise.has_levels:
        found = [within(s, promise.levels[column(x)]) for x, s in past.shifts.items()]
        held["bias_bound"] = _worst(found)
    if promise.is_relative:
        rows = [(s, float(promise.apart[column(x)])) for x, s in past.shifts.items()]
        surely = max(s.high - w for s, w in rows) <= min(s.low + w for s, w in rows)
        perhaps = max(s.low - w for s, w in rows) <= min(s.high + w for s, w in rows)
        held["relative_bound"] = "yes" if surely else "unclear" if perhaps else "no"
    return held


def _worst(answers: list[str]) -> str:
    return next(x for x in ("no", "unclear", "yes") if x in answers)


def _promises_kept(past: History, promise: Promise) -> tuple[str, ...]:
    """Whether V and W held, in words."""
    held = held_together(past, promise)
    notes = []
    if "bias_bound" in held:
        levels = dict(zip(past.before.arms, promise.levels, strict=True))
        broken = [x for x, shift in past.shifts.items() if within(shift, levels[x]) == "no"]
        notes.append(
            {
                "yes": "V held for all arms with logs",
                "no": f"V did not hold: {words.listed(broken)} moved further",
                "unclear": "V may have held: no arm moved further for sure",
            }[held["bias_bound"]]
        )
    if "relative_bound" in held:
        notes.append(
            {
                "yes": "W held: arms did not move further apart",
                "no": "W did not hold: arms moved further apart",
                "unclear": "W may have held: arms did not move further apart for sure",
            }[held["relative_bound"]]
        )
    return tuple(notes)
