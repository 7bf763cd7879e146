"""Running totals are refused, wherever they come from, and new events are not."""

from __future__ import annotations

import functools
import importlib
import itertools
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from daily_rows import NAMES, START, daily, running

from driftanchor import InvalidInput, read_logs, read_periods

duckdb: Any = importlib.import_module("duckdb")
pandas: Any = importlib.import_module("pandas")
polars: Any = importlib.import_module("polars")
pyarrow: Any = importlib.import_module("pyarrow")

FORMS = ["csv", "parquet", "jsonl", "pandas", "pandas on arrow", "polars", "polars, lazy"]
FORMS += ["pyarrow", "duckdb", "postgres"]


@pytest.fixture(scope="module")
def forms(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Callable[[Any, str], object]]:
    """A pandas frame in another form."""
    folder = tmp_path_factory.mktemp("growth")
    numbers = itertools.count()
    with duckdb.connect() as connection:

        @functools.cache
        def server() -> Any:
            ibis: Any = importlib.import_module("ibis")
            socket = request.getfixturevalue("postgres")
            return ibis.postgres.connect(host=socket, user="postgres", database="postgres")

        def form(frame: Any, name: str) -> object:
            table = pyarrow.Table.from_pandas(frame, preserve_index=False)
            if name == "csv":
                frame.to_csv(folder / "rows.csv", index=False)
                return folder / "rows.csv"
            if name == "parquet":
                frame.to_parquet(folder / "rows.parquet")
                return folder / "rows.parquet"
            if name == "jsonl":
                frame.assign(at=frame["at"].astype(str)).to_json(
                    folder / "rows.jsonl", orient="records", lines=True
                )
                return folder / "rows.jsonl"
            if name == "postgres":
                return server().create_table(f"growth_{next(numbers)}", table)
            made: dict[str, Callable[[], object]] = {
                "pandas": lambda: frame,
                "pandas on arrow": lambda: table.to_pandas(types_mapper=pandas.ArrowDtype),
                "polars": lambda: polars.from_arrow(table),
                "polars, lazy": lambda: polars.from_arrow(table).lazy(),
                "pyarrow": lambda: table,
                "duckdb": lambda: connection.from_arrow(table),
            }
            return made[name]()

        yield form
        if server.cache_info().currsize:
            server().disconnect()


@pytest.mark.parametrize("form", FORMS)
def test_running_totals_are_refused_in_every_form(
    forms: Callable[[Any, str], object], form: str
) -> None:
    new = daily()
    totals = new.groupby("ad")["n"].sum().tolist()
    assert read_logs(forms(new, form), **NAMES).offline.n.tolist() == totals
    logs = forms(running(new), form)
    with pytest.raises(InvalidInput) as error:
        read_logs(logs, **NAMES)
    told = str(error.value)
    assert "looks like running totals: it only grows with 'at' (of 'A' from " in told
    assert f"to {totals[0]:,} at 2026-01-08T00:00:00Z)" in told
    assert "say allow_growth (--allow-growth)" in told
    # what the message says to do
    assert "(here since='2026-01-08T00:00:00Z')" in told
    last = read_logs(logs, since="2026-01-08T00:00:00Z", **NAMES)
    assert last.offline.n.tolist() == totals
    assert read_logs(logs, allow_growth=True, **NAMES).offline.n.sum() > sum(totals)
    assert read_logs(logs, **{**NAMES, "time": None}).offline.n.sum() > sum(totals)


def test_the_differences_that_the_message_shows_are_the_new_events() -> None:
    new = daily()
    logs = running(new)
    with pytest.raises(InvalidInput) as error:
        read_logs(logs, **NAMES)
    sql = '"n" - lag("n", 1, 0) OVER (PARTITION BY "ad" ORDER BY "at")'
    assert f"in SQL {sql}." in str(error.value)
    with duckdb.connect() as connection:
        connection.register("logs", logs)
        apart = connection.sql(
            f'SELECT ad, "at", {sql} AS n, {sql.replace("n", "k", 2)} AS k FROM logs'
        )
        found = read_logs(apart, **NAMES)
    assert found.offline.mean == pytest.approx(read_logs(new, **NAMES).offline.mean)
    assert found.offline.n.tolist() == read_logs(new, **NAMES).offline.n.tolist()


@pytest.mark.parametrize("by", ["day", "week", "month"])
def test_periods_of_the_calendar_do_not_hide_running_totals(by: str) -> None:
    new = daily(20)
    assert len(read_periods(new, by=by, **NAMES)) == {"day": 20, "week": 4, "month": 1}[by]
    with pytest.raises(InvalidInput, match="looks like running totals"):
        read_periods(running(new), by=by, **NAMES)


def test_totals_that_run_in_each_test_are_seen_by_test() -> None:
    parts = [daily(6, seed=seed).assign(test=f"t{seed}") for seed in (1, 2)]
    # The second test starts when the first has ended.
    parts[1]["at"] += timedelta(days=6)
    read_periods(pandas.concat(parts), by="test", **NAMES)
    both = pandas.concat([running(part) for part in parts])
    with pytest.raises(
        InvalidInput, match=r"of 'A, t1' from .* \(PARTITION BY \"ad\", \"test\" ORDER"
    ):
        read_periods(both, by="test", **NAMES)


@pytest.mark.parametrize("form", ["%Y-%m-%d", None])
def test_periods_that_are_dates_tell_the_order_without_times(form: str | None) -> None:
    names: dict[str, Any] = {"arm": "ad", "count": "n", "total": "k", "by": "at"}
    new = daily()
    if form is not None:
        new["at"] = new["at"].dt.strftime(form)
    assert len(read_periods(new, **names)) == 8
    with pytest.raises(
        InvalidInput, match="looks like running totals: it only grows with 'at'"
    ) as no:
        read_periods(running(new), **names)
    assert 'ORDER BY "at"' in str(no.value)
    assert "since=" not in str(no.value)
    assert len(read_periods(running(new), allow_growth=True, **names)) == 8
    places = running(new).assign(at=lambda x: [f"place {i % 8}" for i in range(len(x))])
    assert len(read_periods(places, **names)) == 8


def test_segments_are_summed_first() -> None:
    new = pandas.concat([daily(seed=seed).assign(os=seed) for seed in (1, 2, 3)])
    total = new.groupby(["os", "ad"])[["n", "k"]].cumsum()
    with pytest.raises(InvalidInput, match="looks like running totals"):
        read_logs(new.assign(n=total["n"].to_numpy(), k=total["k"].to_numpy()), **NAMES)
    # Within every time the rows grow, and from time to time they do not.
    size = pandas.DataFrame(
        [(ad, n, n // 10, START + timedelta(days=day)) for ad in "AB" for day in range(4)
         for n in (100, 200, 300)], columns=["ad", "n", "k", "at"])  # fmt: skip
    assert read_logs(size, **NAMES).offline.n.tolist() == [2400, 2400]


def test_means_of_running_totals() -> None:
    rng = np.random.default_rng(5)
    rows = []
    for ad in "AB":
        rewards = rng.normal(5, 2, 900)
        for day in range(1, 10):
            seen = rewards[: 100 * day]
            at = START + timedelta(days=day)
            rows.append((ad, len(seen), seen.mean(), seen.var(ddof=1), at))
    logs = pandas.DataFrame(rows, columns=["ad", "n", "m", "v", "at"])
    names: dict[str, Any] = {"arm": "ad", "count": "n", "mean": "m", "variance": "v", "time": "at"}
    with pytest.raises(InvalidInput, match="column 'n' of pandas DataFrame looks like running"):
        read_logs(logs, **names)
    assert read_logs(logs, since="2026-01-10", **names).offline.n.tolist() == [900, 900]


@pytest.mark.parametrize(
    ("counts", "totals"),
    [
        ([[100, 200, 300, 400], [100, 300, 200, 400]], [[10, 20, 30, 40]] * 2),  # one arm falls
        ([[100, 200, 300, 400]] * 2, [[10, 20, 30, 40], [10, 30, 20, 40]]),  # a total falls
        ([[100, 110, 120, 130]] * 2, [[10, 21, 22, 23]] * 2),  # 11 successes in 10 events
        ([[100, 100, 100, 100]] * 2, [[10, 20, 30, 40]] * 2),  # nothing grows
        ([[100, 200], [100, 200]], [[10, 20]] * 2),  # too few
        ([[100, 100, 100, 200]] * 2, [[10, 10, 10, 20]] * 2),  # grows but once
    ],
)
def test_rows_that_cannot_be_running_totals(
    counts: list[list[int]], totals: list[list[int]]
) -> None:
    rows = [
        (ad, n, k, START + timedelta(days=day))
        for ad, ns, ks in zip("AB", counts, totals, strict=True)
        for day, (n, k) in enumerate(zip(ns, ks, strict=True))
    ]
    logs = pandas.DataFrame(rows, columns=["ad", "n", "k", "at"])
    found = read_logs(logs, **NAMES).provenance
    assert found.strata is not None
    assert [n for _, n, _ in found.strata.pooled] == [sum(ns) for ns in counts]


def test_arms_with_few_rows_and_arms_not_wanted_do_not_decide() -> None:
    logs = running(daily())
    few = daily(2, arms=3).query("ad == 'C'").assign(n=[50, 20], k=[5, 2])
    with pytest.raises(InvalidInput, match="looks like running totals"):
        read_logs(pandas.concat([logs, few]), **NAMES)
    other = daily(arms=3).query("ad == 'C'")  # as it was, so new events
    mixed = pandas.concat([logs, other])
    assert read_logs(mixed, **NAMES).provenance.rows_used == 24
    with pytest.raises(InvalidInput, match="looks like running totals"):
        read_logs(mixed, arms=["A", "B"], **NAMES)
    with pytest.raises(InvalidInput, match="looks like running totals"):
        read_logs(mixed, where="ad != 'C'", **NAMES)


def test_numbers_since_1970_and_zero_counts(tmp_path: Path) -> None:
    logs = running(daily())
    logs["at"] = (logs["at"] - datetime(1970, 1, 1)).dt.total_seconds()
    with pytest.raises(InvalidInput, match="looks like running totals"):
        read_logs(logs, **NAMES)
    empty = logs.groupby("ad").head(1).assign(n=0, k=0)
    empty["at"] -= 86_400.0
    path = tmp_path / "rows.csv"
    pandas.concat([logs, empty]).to_csv(path, index=False)
    with pytest.raises(InvalidInput, match="looks like running totals"):
        read_logs(path, **NAMES)
