"""Read logs in two parts, and the rewards to resample."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Unpack

from driftanchor.core.check import Floats
from driftanchor.core.log_options import LogOptions
from driftanchor.core.offline import OfflineData
from driftanchor.core.stats.intervals import Estimate, difference, mean_interval
from driftanchor.errors import InvalidInput, RejectedRows, require, shown
from driftanchor.logs.query import NothingKept
from driftanchor.logs.read import read_logs
from driftanchor.logs.times import shown_time
from driftanchor.planning.reward_law import RewardLaw, law_of
from driftanchor.planning.split import DateSplit, Filter, split_of
from driftanchor.planning.words import listed

if TYPE_CHECKING:
    from driftanchor.logs.log_summary import LogSummary


from driftanchor.planning.split_logs import SplitLogs


def read_split(
    logs: object, split: object, *, by: str | None = None, **options: Unpack[LogOptions]
) -> SplitLogs:
    """Read all logs once to validate them, then each side of the split.

    Args:
        logs: Files, a frame or a table.
        split: A date or a filter.
        by: The periods or column to compare arms within, as for `OfflineData.from_logs`.
        **options: As for `read_logs`.
    """
    sides = split_of(split, options)
    whole = read_logs(logs, by=by, **options)
    if isinstance(sides, DateSplit):
        _within(sides, whole)
    # The first pass has already issued the warnings.
    part: LogOptions = {**options, "arms": None, "allow_rejects": True, "allow_growth": True}
    later = sides.world(part)
    before, after = _read(logs, by, sides.log(part)), _read(logs, by, later)
    notes = []
    if isinstance(sides, Filter):
        notes += _divided(sides, whole, before, after)
    if before is None or after is None:
        raise InvalidInput(
            f"{sides.text} leaves no row that can be used on one side", argument="split"
        )
    wanted = [label for label in whole.arms if label in after.arms]
    if len(wanted) < 2:
        raise InvalidInput(
            f"{sides.only_world} there is one arm only, {wanted[0]!r}: there is nothing to choose"
            if wanted
            else f"{sides.only_world} there is no arm of those wanted"
        )
    gone = [label for label in whole.arms if label not in after.arms]
    new = [label for label in wanted if label not in before.arms]
    if len(new) == len(wanted):
        raise InvalidInput(
            f"no arm is on both sides of the split: {sides.only_log} {listed(list(before.arms))}, "
            f"{sides.only_world} {listed(wanted)}"
        )
    if gone:
        notes.append(f"only {sides.only_log}, and left out: {listed(gone)}")
    if new:
        notes.append(f"only {sides.only_world}, and without logs: {listed(new)}")
    counts = {label: n for label, n in rewards_of(after).items() if label in wanted}
    law, rewards, how = _rewards(logs, after.over(wanted), counts, later, sides.only_world)
    return SplitLogs(
        sides,
        before.over(wanted),
        after.over(wanted),
        {label: move_of(before, after, label) for label in wanted if label in before.arms},
        law,
        rewards,
        (*notes, how),
        sum(counts.values()),
        whole.provenance,
    )


def rewards_of(data: OfflineData) -> dict[str, int]:
    """Return each arm's number of rewards; `n` is smaller if arms are compared within strata."""
    strata = data.provenance.strata if data.provenance else None
    counts = dict(zip(data.arms, data.n.tolist(), strict=True))
    return counts if strata is None else counts | {label: n for label, n, _ in strata.pooled}


def _read(logs: object, by: str | None, options: LogOptions) -> OfflineData | None:
    """Read one side of a split; return `None` if it has no usable row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read_logs(logs, by=by, **options).offline
        except (NothingKept, RejectedRows):
            return None
        except InvalidInput as error:
            if error.argument == "where":  # the first pass used the caller's own filter
                error.argument = "split"
            raise


def _within(split: DateSplit, whole: LogSummary) -> None:
    """Refuse a moment that is not between the first row and the last."""
    first = min(arm.first for arm in whole.arms.values() if arm.first)
    last = max(arm.last for arm in whole.arms.values() if arm.last)
    if not first < split.at <= last:
        raise InvalidInput(
            f"{split.text} leaves nothing on one side: the rows go from "
            f"{shown_time(first)} to {shown_time(last)}",
            argument="split",
        )


def _divided(
    split: Filter, whole: LogSummary, before: OfflineData | None, after: OfflineData | None
) -> list[str]:
    """Refuse a filter that leaves one side empty; return a note on rewards on neither side."""
    rewards = sum(rewards_of(whole.offline).values())
    logged, world = (
        0 if part is None else sum(n for x, n in rewards_of(part).items() if x in whole.arms)
        for part in (before, after)
    )
    neither = rewards - logged - world
    missing = f"; in {neither:,} it compares a missing value" if neither else ""
    if world == 0:
        raise InvalidInput(
            f"{shown(split.text)} matches none of the {rewards:,} rewards{missing}: it must "
            "match those of the world, and leave others for the logs",
            argument="split",
        )
    if logged == 0:
        found = f"{world:,} of the" if neither else "all"
        raise InvalidInput(
            f"{shown(split.text)} matches {found} {rewards:,} rewards{missing}: none are left "
            "for the logs",
            argument="split",
        )
    if not neither:
        return []
    return [
        f"on neither side, and left out: {neither:,} of {rewards:,} rewards, in whose rows the "
        "split compares a missing value"
    ]


def _rewards(
    logs: object, after: OfflineData, counts: dict[str, int], options: LogOptions, where: str
) -> tuple[RewardLaw, tuple[Floats, ...] | None, str]:
    """Return the reward law of the later rows, the rewards to resample if any, and a note."""
    ends = options.get("reward_range") or (-math.inf, math.inf)
    law = law_of(after, "auto", ends)
    if law.name == "bernoulli":
        return law, None, f"rewards are drawn as coins with the rates seen {where}"
    gaussian = f"rewards are Gaussian with the means and the noise seen {where}"
    if options.get("reward") is None:
        return law, None, gaussian
    require("narwhals", extra="logs", why="reading logs")
    from driftanchor.logs.sample import sample_rewards

    found = sample_rewards(logs, counts, **options)
    if found is None:
        return law, None, f"{gaussian}: rows of a database are not sampled"
    taken = sum(map(len, found.values()))
    how = f"rewards are drawn anew from {taken:,} of the {sum(counts.values()):,} {where}"
    # Shift the sample so that its mean matches all rewards.
    rewards = tuple(
        found[x] - found[x].mean() + m for x, m in zip(after.arms, after.mean, strict=True)
    )
    return RewardLaw("resampled", law.noise, "as they were seen"), rewards, how


def move_of(before: OfflineData, after: OfflineData, label: str) -> Estimate:
    """How far the mean of an arm moved; its interval is infinite where a variance is not known."""
    means, ends = [], []
    for data in (before, after):
        i = data.arms.column(label)
        means.append(float(data.mean[i]))
        ends.append(mean_interval(int(data.n[i]), means[-1], float(data.variance[i])))
    return difference(means[0], ends[0], means[1], ends[1])
