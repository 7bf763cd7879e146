"""Histories split by a filter: the same from everywhere, and honest about what is left out."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftanchor import replay
from driftanchor.errors import InvalidInput
from driftanchor.planning.read_split import read_split
from driftanchor.planning.replay_prose import shift_table
from driftanchor.planning.split import DateSplit, Filter, split_of

duckdb: Any = importlib.import_module("duckdb")
polars: Any = importlib.import_module("polars")
pyarrow: Any = importlib.import_module("pyarrow")
WEB = "channel = 'Web'"
NAMES: dict[str, Any] = {"arm": "ad", "reward": "won"}


def made(n: int = 900) -> Any:
    """Money of two arms on the web, in the shop, and where nobody noted it."""
    rng = np.random.default_rng(2)
    channel = [("Web", "shop", None)[i] for i in rng.choice(3, n, p=[0.4, 0.5, 0.1])]
    return pyarrow.table(
        {
            "ad": ["AB"[i] for i in rng.integers(0, 2, n)],
            "won": rng.gamma(2.0, 5.0, n).round(2),
            "channel": channel,
            "age": rng.integers(10, 60, n),
        }
    )


TABLE = made()
ROWS = TABLE.to_pylist()


def rewards(channel: str, ad: str, low: int = 0) -> list[float]:
    return [
        row["won"]
        for row in ROWS
        if (row["channel"], row["ad"]) == (channel, ad) and row["age"] >= low
    ]


FORMS = ["csv", "parquet", "jsonl", "pandas", "polars", "polars, lazy", "pyarrow", "duckdb", "ibis"]


@pytest.mark.parametrize("form", FORMS)
def test_the_rows_that_match_are_the_world(
    form: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    def in_postgres() -> object:
        ibis: Any = importlib.import_module("ibis")
        socket = request.getfixturevalue("postgres")
        server = ibis.postgres.connect(host=socket, user="postgres", database="postgres")
        request.addfinalizer(server.disconnect)
        return server.create_table("history", TABLE)

    def written(name: str) -> str:
        frame = TABLE.to_pandas()
        if name == "csv":
            frame.to_csv(tmp_path / "h.csv", index=False)
        elif name == "parquet":
            frame.to_parquet(tmp_path / "h.parquet")
        else:
            frame.to_json(tmp_path / "h.jsonl", orient="records", lines=True)
        return str(tmp_path / f"h.{name}")

    connection = duckdb.connect()
    request.addfinalizer(connection.close)
    forms: dict[str, Callable[[], object]] = {
        "pandas": TABLE.to_pandas,
        "polars": lambda: polars.from_arrow(TABLE),
        "polars, lazy": lambda: polars.from_arrow(TABLE).lazy(),
        "pyarrow": lambda: TABLE,
        "duckdb": lambda: connection.from_arrow(TABLE),
        "ibis": in_postgres,
    }
    logs = forms[form]() if form in forms else written(form)
    past = read_split(logs, WEB, where="age >= 18", **NAMES)
    for i, ad in enumerate("AB"):
        for part, channel in ((past.after, "Web"), (past.before, "shop")):
            assert part.n[i] == len(rewards(channel, ad, 18))
            assert part.mean[i] == pytest.approx(np.mean(rewards(channel, ad, 18)))
    lost = sum(row["channel"] is None and row["age"] >= 18 for row in ROWS)
    kept = sum(row["age"] >= 18 for row in ROWS)
    assert past.notes[0] == (
        f"on neither side, and left out: {lost} of {kept} rewards, in whose rows the split "
        "compares a missing value"
    )
    if form in ("polars, lazy", "duckdb", "ibis"):
        assert past.rewards is None
    else:  # the rewards drawn from are those of the world
        assert past.rewards is not None
        assert np.sort(past.rewards[0]) == pytest.approx(np.sort(rewards("Web", "A", 18)))


def test_missing_rows_can_be_given_a_side() -> None:
    past = read_split(TABLE, f"{WEB} or channel is null", **NAMES)
    assert past.after.n.sum() == sum(row["channel"] != "shop" for row in ROWS)
    assert not any("neither" in note for note in past.notes)


@pytest.mark.parametrize("library", ["polars", "pyarrow", "duckdb", "pandas"])
def test_not_a_number_is_missing_too(library: str) -> None:
    table = pyarrow.table(
        {
            "ad": ["A", "B"] * 6,
            "won": [0.0, 1.0, 1.0, 0.0] * 3,
            "price": [1.0] * 4 + [2.0] * 4 + [float("nan")] * 3 + [None],
        }
    )
    with duckdb.connect() as connection:
        logs = {
            "polars": lambda: polars.from_arrow(table),
            "pyarrow": lambda: table,
            "duckdb": lambda: connection.from_arrow(table),
            "pandas": table.to_pandas,
        }[library]()
        past = read_split(logs, "price > 1.5", **NAMES)
        assert (past.after.n.sum(), past.before.n.sum()) == (4, 4)
        assert past.notes[0].startswith("on neither side, and left out: 4 of 12 rewards")
        both = read_split(logs, "price is null", **NAMES)
        assert (both.after.n.sum(), both.before.n.sum()) == (4, 8)


def test_texts_of_a_filter_read_well() -> None:
    found = replay(TABLE, split=WEB, worlds=4, horizon=50, **NAMES)
    world, logged = int(found.history.after.n.sum()), int(found.offline.n.sum())
    texts = found.texts()
    assert "where channel = 'Web'" in found.verdict
    assert texts.lead.startswith(
        f"2 arms, {world} rewards where channel = 'Web' and {logged} logged rewards elsewhere; "
    )
    assert texts.expected == "Where channel = 'Web', as it really was: 4 runs of each policy."
    assert texts.how.startswith("The rows that do not match the filter are the offline log, as it")
    assert shift_table(found).headings[1:5] == ("n in logs", "mean", "n in world", "mean")
    assert f"rewards are drawn anew from {world} of the {world} in the world" in found.notes
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert told["split"] == WEB
    assert told["provenance"]["filters"]["where"] == f"not ({WEB})"


def test_texts_of_a_date_are_as_they_were() -> None:
    at = DateSplit(datetime(2026, 2, 1))
    assert at.there == "after 2026-02-01"
    assert at.sizes(1500, 20) == "1,500 logged rewards before 2026-02-01 and 20 after it"
    assert DateSplit(datetime(2026, 2, 1, 12)).there == "after 2026-02-01T12:00:00Z"


def test_arms_of_one_side_alone_are_told() -> None:
    logs = pyarrow.table(
        {
            "ad": ["old", "A", "B", "A", "B", "new"] * 2,
            "won": [1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1],
            "os": ["x", "x", "x", "y", "y", "y"] * 2,
        }
    )
    past = read_split(logs, "os = 'y'", **NAMES)
    assert past.notes[:2] == (
        "only in the logs, and left out: old",
        "only in the world, and without logs: new",
    )
    assert read_split(logs, "os = 'y'", arms=["B", "A"], **NAMES).after.n.tolist() == [2, 2]
    with pytest.raises(InvalidInput, match="in the world there is one arm only, 'A'"):
        read_split(logs, "os = 'y' and ad = 'A'", **NAMES)
    with pytest.raises(InvalidInput, match="no arm is on both sides of the split: in the logs"):
        read_split(logs, "ad in ('A', 'B')", **NAMES)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (
            "channel = 'Wbe'",
            "split \"channel = 'Wbe'\" matches none of the 900 rewards; in {null} it compares a "
            "missing value: it must match those of the world, and leave others for the logs",
        ),
        ("age > 90", "split 'age > 90' matches none of the 900 rewards: it must match"),
        ("age < 90", "split 'age < 90' matches all 900 rewards: none are left for the logs"),
        (
            "channel in ('Web', 'shop')",
            "split \"channel in ('Web', 'shop')\" matches {there} of the 900 rewards; in {null} it "
            "compares a missing value: none are left for the logs",
        ),
        ("chanel = 'Web'", "unknown column 'chanel'; did you mean 'channel'?"),
        ("age = 'x'", "split compares column 'age' with 'x', but it holds Int64"),
        (
            "channel = Web",
            'split must be a date or time such as 2026-01-31T12:00, or a filter such as "channel '
            "= 'Web'\", got 'channel = Web'; read as a filter: expected a number, 'text' in single",
        ),
        ("age > 1) or (age < 2", "split must be a date or time"),
        (
            "1; drop",
            'split must be a date or time such as 2026-01-31T12:00, or a filter such as "channel '
            "= 'Web'\", got '1; drop'; read as a filter: expected a column at '1; drop'",
        ),
        (7, "split must be a date or time such as 2026-01-31T12:00, or a filter such as"),
        ("", "split must be a date or time such as 2026-01-31T12:00, or a filter such as"),
        ("2026-02-01", "time is missing: name the column of the times, to split at a date; or"),
        ("20260201", "time is missing"),
    ],
)
def test_splits_that_are_refused(split: object, message: str) -> None:
    null = sum(row["channel"] is None for row in ROWS)
    with pytest.raises(InvalidInput) as error:
        replay(TABLE, split=split, worlds=2, **NAMES)
    assert str(error.value).startswith(message.format(null=null, there=900 - null))


def test_lines_that_cannot_be_read_do_not_hide_an_empty_side(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    rows = [f"{'AB'[i % 2]},{i % 3},{'xy'[i // 300]}" for i in range(600)]
    path.write_text("\n".join(["ad,won,os", *rows, "A,1,x,too,many"]))
    assert read_split(path, "os = 'y'", **NAMES).after.n.sum() == 300
    with pytest.raises(InvalidInput, match="matches none of the 600 rewards"):
        read_split(path, "os = 'z'", **NAMES)


def test_what_reads_as_a_time_is_one() -> None:
    options: Any = {"arm": "ad", "time": "at"}
    for given in ("2026-02-01", " 2026-02-01T10:00+01:00 ", "2026-W05", datetime(2026, 2, 1)):
        assert isinstance(split_of(given, options), DateSplit)
    assert split_of("at >= '2026-02-01'", options) == Filter("at >= '2026-02-01'")


def test_running_totals_are_no_history() -> None:
    days = [datetime(2026, 1, day) for day in range(1, 9)] * 2
    n = [100, 210, 290, 400, 520, 610, 700, 810] * 2
    k = [10, 23, 29, 38, 52, 60, 73, 80, 15, 27, 41, 58, 77, 90, 99, 117]
    logs = pyarrow.table({"ad": ["A"] * 8 + ["B"] * 8, "n": n, "k": k, "at": days})
    names: dict[str, Any] = {"arm": "ad", "count": "n", "total": "k", "time": "at"}
    with pytest.raises(InvalidInput, match="looks like running totals"):
        read_split(logs, "2026-01-05", **names)
    assert read_split(logs, "2026-01-05", allow_growth=True, **names).before.n[0] == 1000
