"""`replay`: back-test what logs would have been worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from driftanchor.core import check
from driftanchor.core.log_options import LogOptions
from driftanchor.core.promises import valid_range
from driftanchor.planning import replay_prose
from driftanchor.planning.assess import Assessment
from driftanchor.planning.auto import declared, is_auto, periods_of
from driftanchor.planning.compare import compare
from driftanchor.planning.contenders import contenders
from driftanchor.planning.early import Early
from driftanchor.planning.effort import worlds_to_play
from driftanchor.planning.promise import promised
from driftanchor.planning.promises_kept import held_together, promises_kept, within
from driftanchor.planning.read_split import read_split
from driftanchor.planning.reward_law import COINS
from driftanchor.planning.scenes import Progress, fit_to_horizon
from driftanchor.planning.split_logs import PastWorlds, SplitLogs
from driftanchor.planning.words import Texts

SHIFTS = (0.0, 0.5, 1.0, 1.5, 2.0)  # times the shift that happened
LONGEST = 100_000  # rounds, unless more are asked for
MISSING = "give by, such as 'week' (--by week on the command line), or a number"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Replay(Assessment):
    """A back-test of what logs were worth.

    Attributes:
        history: The logs before and after the split.
        declared: Whether the caller gave a bound; otherwise it is the shift that happened.
    """

    each: ClassVar[str] = "runs"

    history: SplitLogs
    declared: bool

    @property
    def answer(self) -> str:
        """The answer in one sentence."""
        return replay_prose.answer(self)

    @property
    def limit(self) -> str:
        """The break-even in one sentence."""
        return replay_prose.limit(self)

    def held(self, label: str) -> str:
        """Say whether an arm's mean stayed within V: `"yes"`, `"no"` or `"unclear"`."""
        bound = float(self.bias_bounds[self.offline.arms.column(label)])
        return within(self.history.shifts[label], bound)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        shifts = {
            label: {**shift.to_json(), "held": self.held(label)}
            for label, shift in self.history.shifts.items()
        }
        also = {
            "split": self.history.split,
            "shifts": shifts,
            "held": held_together(self.history, self.promise),
            "declared": self.declared,
            "rows_read": self.history.provenance.rows_read,
            "rows_rejected": dict(self.history.provenance.rows_rejected),
        }
        return {**super().to_json(), **also}

    def texts(self) -> Texts:
        """Return the texts of the page."""
        return replay_prose.page_texts(self)


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
    early: Early | None = None,
    **options: Unpack[LogOptions],
) -> Replay:
    """Back-test what logs would have been worth, on rewards that were really seen.

    The rows before `split` are the offline log, and the rows from it on are the world. Policies
    play in that world with and without the log, on rewards drawn from those seen there.

    Args:
        logs: Files, a frame or a table, as for `read_logs`.
        split: A date or time; or a filter as for `where`, such as `"channel = 'Web'"`. The rows
            that match a filter are the world, and the others are the log. A row in which the filter
            compares a missing value is on neither side.
        bias_bound: The V you would have declared, as for `plan`; `"auto"` for the V that periods
            of the log suggest. Without any bound, V is the largest shift that happened, which you
            could not have known.
        relative_bound: The W you would have declared, as for `plan`.
        horizon: Rounds; `None` for the number of later rewards, up to 100,000.
        by: Periods or a column to compare arms within, as for `OfflineData.from_logs`.
            With `"auto"`, the bounds are estimated between these periods.
        bias_bound_source: Where the bounds come from, as for `Learner`.
        worlds: Runs of each policy; `None` for 100, or 40 beyond 20,000 rounds.
        seed: The seed of all noise.
        threads: The maximum number of threads; results do not depend on it.
        progress: Called with (runs done, total runs) as runs end.
        early: Called with one line of text for each result as soon as it is known.
        **options: The columns, filters and limits: see `LogOptions`. `time` is needed to
            split at a date.
    """
    check.optional_function(progress, "progress")
    check.optional_function(early, "early")
    past = read_split(logs, split, by=by, **options)
    many = len(past.before.arms)
    is_declared = bias_bound is not None or relative_bound is not None
    periods = None
    if is_auto(bias_bound) or is_auto(relative_bound):
        periods = periods_of(logs, past.by, by, options)
    given = declared(bias_bound, relative_bound, periods, MISSING, past.before.arms)
    promise, before, left_out = promised(
        given.bias_bound if is_declared else past.largest, given.relative_bound, past.before
    )
    past = past.with_logs(before)
    later = past.later
    rounds = min(later, LONGEST) if horizon is None else check.whole(horizon, "horizon", low=1)
    notes = (*given.notes, *left_out, *past.notes)
    if rounds < later and horizon is None:
        notes += (f"{rounds:,} rounds, not all {later:,}: ask for a longer horizon",)
    ends = COINS if past.law.name == "bernoulli" else valid_range(options.get("reward_range"))
    if is_declared:
        notes += promises_kept(past, promise)
    who, reasons = contenders(past.before, ends, bias_bound_source)
    runs = worlds_to_play(worlds, rounds, many, threads)
    truth = PastWorlds(past, promise, rounds, runs)
    who, how_played = fit_to_horizon(who, rounds)
    notes += how_played
    compared = compare(
        truth,
        who,
        promise=promise,
        shifts=SHIFTS,
        unit=past.largest,
        horizon=rounds,
        seed=check.whole(seed, "seed"),
        threads=threads,
        progress=progress,
        early=early,
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
