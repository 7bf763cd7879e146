"""OfflineData: past logs, summarised per arm."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Unpack

import numpy as np

from driftanchor.core import check, record
from driftanchor.core.arms import Arms, valid_arms
from driftanchor.core.check import Floats, Ints
from driftanchor.core.log_options import LogOptions
from driftanchor.core.provenance import Provenance
from driftanchor.core.stats.summary import is_binary
from driftanchor.errors import InvalidInput, shown
from driftanchor.render.numbers import count
from driftanchor.render.tabular import Tabular, known

Summary = Sequence[float | int | None]
MAX_REWARDS = 2**62  # of all arms together, so that sums fit into 64 bits
Z_95 = NormalDist().inv_cdf(0.95)


@dataclass(frozen=True, eq=False, repr=False)
class OfflineData(Tabular):
    """Past logs, summarised per arm: number of rewards, mean, variance and provenance.

    Attributes:
        arms: The labels.
        n: Number of logged rewards of each arm; may be 0.
        mean: Their mean; NaN without rewards.
        variance: Their sample variance; NaN if unknown.
        source: Where the numbers come from, in words.
        provenance: How the logs were read; None if the numbers were not read from logs.
        smallest: Smallest logged reward of each arm; NaN if unknown.
        largest: Largest logged reward of each arm; NaN if unknown.

    Example:
        >>> summary = {"A": (200, 0.51), "B": (300, 0.48, 0.25), "C": (0,)}
        >>> offline = OfflineData.from_summary(summary)
        >>> offline.n.tolist(), offline.mean.tolist()
        ([200, 300, 0], [0.51, 0.48, nan])
        >>> OfflineData.from_json(offline.to_json()) == offline
        True
        >>> offline
        <OfflineData: 3 arms, 500 logged rewards, means from 0.48 to 0.51>
    """

    arms: Arms
    n: Ints
    mean: Floats
    variance: Floats
    source: str
    provenance: Provenance | None
    smallest: Floats
    largest: Floats

    def __init__(
        self,
        arms: Arms,
        n: object,
        mean: object,
        variance: object = None,
        source: str = "summary",
        provenance: Provenance | None = None,
        smallest: object = None,
        largest: object = None,
    ) -> None:
        counts = check.pulls_per_arm(n, "n", valid_arms(arms))
        if sum(counts.tolist()) > MAX_REWARDS:
            raise InvalidInput(
                f"of all arms together is {shown(sum(counts.tolist()))}, and must be at most 2**62",
                argument="n",
            )
        means = _row(mean, "mean", arms, counts)
        for label, rewards, x in zip(arms, counts, means, strict=True):
            if rewards > 0 and math.isnan(x):
                raise InvalidInput(
                    f"of arm {label!r} is missing, with {rewards} rewards: give it, or n = 0",
                    argument="mean",
                )
        if not isinstance(source, str):
            raise InvalidInput(f"must be text, got {shown(source)}", argument="source")
        if provenance is not None and not isinstance(provenance, Provenance):
            raise InvalidInput(
                f"must be a Provenance, got {shown(provenance)}", argument="provenance"
            )
        vars(self).update(
            arms=arms,
            n=check.frozen(counts),
            mean=means,
            variance=_row(variance, "variance", arms, counts, low=0.0),
            source=source,
            provenance=provenance,
            smallest=_row(smallest, "smallest", arms, counts),
            largest=_row(largest, "largest", arms, counts),
        )
        for label, low, high in zip(arms, self.smallest, self.largest, strict=True):
            if low > high:
                raise InvalidInput(
                    f"of arm {label!r} is {low:g} and largest is {high:g}: it must not be larger",
                    argument="smallest",
                )

    @classmethod
    def from_summary(cls, summary: Mapping[str, Summary], source: str = "summary") -> OfflineData:
        """Build offline data from `{label: (n, mean)}` or `{label: (n, mean, variance)}`.

        `(0,)` stands for an arm without logs.
        """
        if not isinstance(summary, Mapping):
            raise InvalidInput(
                f"must map labels to (n, mean), got {shown(summary)}", argument="summary"
            )
        arms = Arms(summary)
        rows = [
            check.ordered(row, "summary", of=f"arm {label!r}") for label, row in summary.items()
        ]
        for label, row in zip(arms, rows, strict=True):
            if not 1 <= len(row) <= 3:
                raise InvalidInput(
                    f"of arm {label!r} must be (n, mean) or (n, mean, variance), got {shown(row)}",
                    argument="summary",
                )
        n, mean, variance = zip(*([*row, None, None][:3] for row in rows), strict=True)
        return cls(arms, n, mean, variance, source)

    @classmethod
    def from_logs(
        cls, logs: object, *, by: str | None = None, **options: Unpack[LogOptions]
    ) -> OfflineData:
        """Read logs: files, a data frame, or a table in a warehouse.

        If the arms' shares of the rows differ between files or between periods of `time`, arms are
        compared within files or periods, and n is the effective number of rewards. The attribute
        `provenance.strata` has the details.

        Args:
            logs: Paths or patterns of CSV, Parquet or JSON lines files; a pandas, polars or pyarrow
                frame; a DuckDB relation; or an Ibis table, aggregated by its own database.
            by: Compare arms within the `"day"`, `"week"` or `"month"` of `time`, or within the
                values of a column, such as countries.
            **options: Columns, filters and limits; see `LogOptions`. `arm` is required, plus either
                `reward`, or `count` with one of `total` and `mean`.

        Raises:
            InvalidInput: A file, column or option is unusable.
            RejectedRows: More than 1 % of the rows are unusable.

        Example:
            >>> import pyarrow
            >>> logs = pyarrow.table({"variant": ["A", "B", "A"], "converted": [1, 0, 0]})
            >>> offline = OfflineData.from_logs(logs, arm="variant", reward="converted")
            >>> offline.n.tolist(), offline.mean.tolist()
            ([2, 1], [0.5, 0.0])
        """
        # Imported by name at call time, because the core must not import a higher layer.
        read_logs = importlib.import_module("driftanchor.logs.read").read_logs
        offline: OfflineData = read_logs(logs, by=by, **options).offline
        return offline

    @classmethod
    def empty(cls, arms: Arms) -> OfflineData:
        """Return offline data in which no arm has logs."""
        return cls(arms, 0, None, None, "none")

    def with_arm(self, label: str, row: Summary = (0,)) -> OfflineData:
        """Return a copy of this data with a new arm in the last column.

        `row` is `(n, mean)` or `(n, mean, variance)`. By default, the new arm has no logs.
        """
        arms = self.arms.with_arm(label)
        new = OfflineData.from_summary({label: row})
        return OfflineData(
            arms,
            np.append(self.n, new.n),
            np.append(self.mean, new.mean),
            np.append(self.variance, new.variance),
            self.source,
            self.provenance,
            np.append(self.smallest, new.smallest),
            np.append(self.largest, new.largest),
        )

    def over(self, labels: Iterable[str]) -> OfflineData:
        """Return the data of the given arms, in the given order.

        Arms that are not in this data get no logged rewards.

        Example:
            >>> offline = OfflineData.from_summary({"A": (200, 0.51), "B": (300, 0.48)})
            >>> offline.over(["C", "A"]).n.tolist()
            [0, 200]
        """
        arms = Arms(labels)
        rows = [
            tuple(row[self.arms.column(label)] for row in self._rows())
            if label in self.arms
            else (0, None, None, None, None)
            for label in arms
        ]
        n, mean, variance, low, high = zip(*rows, strict=True)
        return OfflineData(arms, n, mean, variance, self.source, self.provenance, low, high)

    def _rows(self) -> tuple[Ints, Floats, Floats, Floats, Floats]:
        return self.n, self.mean, self.variance, self.smallest, self.largest

    def reward_ends(self) -> tuple[float, float]:
        """Return the smallest and the largest logged reward of all arms.

        If an arm's smallest or largest reward is unknown, the arm's mean is used instead. Both ends
        are NaN if no arm has a known smallest reward, or no arm a known largest reward.
        """
        if np.isnan(self.smallest).all() or np.isnan(self.largest).all():
            return math.nan, math.nan
        low, high = np.fmin(self.smallest, self.mean), np.fmax(self.largest, self.mean)
        return float(np.nanmin(low)), float(np.nanmax(high))

    def all_binary(self) -> bool:
        """Return whether all logged rewards are known to be 0 or 1, and both values occur.

        Rewards between 0 and 1 with mean m are all 0 or 1 if and only if their variance is
        m (1 − m).

        Example:
            >>> logs = OfflineData(Arms(["A"]), 4, [0.5], [1 / 3], smallest=[0], largest=[1])
            >>> logs.all_binary(), OfflineData.from_summary({"A": (4, 0.5, 1 / 3)}).all_binary()
            (True, False)
        """
        logged = self.n > 0
        known = ~np.isnan(self.smallest[logged]) & ~np.isnan(self.largest[logged])
        if not (logged.any() and known.all() and self.reward_ends() == (0.0, 1.0)):
            return False
        n, mean, variance = self.n[logged], self.mean[logged], self.variance[logged]
        return bool(is_binary(n, mean, variance).all())

    def pooled_mean(self) -> float:
        """Return the mean of all logged rewards; NaN without logs."""
        known = self.n > 0
        return (
            float(np.average(self.mean[known], weights=self.n[known])) if known.any() else math.nan
        )

    def pooled_noise(self) -> float:
        """Return the pooled standard deviation of rewards within arms; NaN if unknown."""
        known = (self.n > 1) & ~np.isnan(self.variance)
        if not known.any():
            return math.nan
        return math.sqrt(float(np.average(self.variance[known], weights=self.n[known] - 1)))

    def noise_limit(self) -> float:
        """Return a 95 % upper confidence limit for the standard deviation of rewards within arms.

        The limit is s √(ν/χ²). Here s is the pooled standard deviation, and ν = Σ (n − 1) is the
        number of its degrees of freedom. χ² is the 5 % quantile of the chi-square distribution with
        ν degrees of freedom, in the approximation of Wilson & Hilferty (1931). The limit is NaN if
        ν is below 2. It assumes roughly normal rewards, and is less reliable if a few large rewards
        dominate the variance.

        Example:
            >>> logs = OfflineData.from_summary({"A": (50, 1.0, 4.0), "B": (52, 1.0, 4.0)})
            >>> round(logs.pooled_noise(), 3), round(logs.noise_limit(), 3)
            (2.0, 2.266)
        """
        known = (self.n > 1) & ~np.isnan(self.variance)
        df = float((self.n[known] - 1).sum())
        if df < 2:
            return math.nan
        spread = 2 / (9 * df)
        ratio = (1 - spread - Z_95 * math.sqrt(spread)) ** 3
        return self.pooled_noise() / math.sqrt(ratio)

    def to_json(self) -> record.Record:
        """Return a record, ready for JSON."""
        body = {
            "arms": list(self.arms),
            "n": self.n.tolist(),
            "mean": [record.encode(x) for x in self.mean.tolist()],
            "variance": [record.encode(x) for x in self.variance.tolist()],
            "source": self.source,
        }
        for name in ("smallest", "largest"):
            values = getattr(self, name).tolist()
            if not all(map(math.isnan, values)):
                body[name] = [record.encode(x) for x in values]
        if self.provenance is not None:
            body["provenance"] = self.provenance.to_json()
        return record.seal_with_digest("offline-data", 1, body)

    @classmethod
    def from_json(cls, data: object) -> OfflineData:
        """Read a record that `to_json` wrote."""
        fields = ("arms", "n", "mean", "variance", "source")
        body = record.unseal(data, "offline-data", 1, fields)
        with record.reading("offline-data", body):
            saved = body.get("provenance")  # missing in older records
            provenance = None if saved is None else Provenance.from_json(saved)
            arms, n, mean, variance, source = (body[field] for field in fields)
            ends = body.get("smallest"), body.get("largest")  # missing in older records
            return cls(Arms(arms), n, mean, variance, source, provenance, *ends)

    def _line(self) -> str:
        rewards = count(int(self.n.sum()), "logged reward")
        line = f"{count(len(self.arms), 'arm')}, {rewards}"
        means = self.mean[self.n > 0]
        return (
            line if not means.size else f"{line}, means from {means.min():.4g} to {means.max():.4g}"
        )

    def _columns(self) -> dict[str, list[object]]:
        return {
            "arm": list(self.arms),
            "n": self.n.tolist(),
            "mean": known(self.mean.tolist()),
            "variance": known(self.variance.tolist()),
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OfflineData) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.arms, *self.n.tolist(), *map(record.encode, self.mean.tolist())))


def _row(value: object, name: str, arms: Arms, n: Ints, low: float = -math.inf) -> Floats:
    """Return an array with one number per arm; NaN if unknown or if the arm has no logs."""
    values = [None] * len(arms) if value is None else check.ordered(value, name)
    if len(values) != len(arms):
        raise InvalidInput(
            f"has {len(values)} values for {len(arms)} arms: give one for each", argument=name
        )
    row = np.full(len(arms), np.nan)
    for i, (label, x) in enumerate(zip(arms, values, strict=True)):
        absent = x is None or (isinstance(x, float) and math.isnan(x))
        if n[i] > 0 and not absent:
            row[i] = check.number(x, name, of=f"arm {label!r}", low=low)
    return check.frozen(row)
