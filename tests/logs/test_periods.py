"""Rows by arm and period: the same from everywhere, and every row accounted for."""

from __future__ import annotations

import functools
import importlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftanchor import read_periods
from driftanchor.errors import InvalidInput, RejectedRows, UnknownName

N = 2_000
BY: dict[str, Callable[[datetime], str]] = {
    "day": lambda at: at.date().isoformat(),
    "week": lambda at: "{:04}-W{:02}".format(*at.isocalendar()[:2]),
    "month": lambda at: f"{at:%Y-%m}",
}


def made_rows() -> dict[str, list[Any]]:
    """Events over three years' ends and a leap day, so that a careless week shows."""
    rng = np.random.default_rng(11)
    start = datetime(2023, 12, 20)
    return {
        "arm": [f"arm {i}" for i in rng.integers(0, 3, N)],
        "reward": rng.normal(10, 1, N).tolist(),
        "views": rng.integers(1, 50, N).tolist(),
        "spread": rng.uniform(0.5, 2, N).tolist(),
        "country": [("DE", "FR", "ÖS")[i] for i in rng.integers(0, 3, N)],
        "at": [start + timedelta(minutes=int(m)) for m in rng.integers(0, 60 * 24 * 500, N)],
    }


COLUMNS = made_rows()


@pytest.fixture(scope="module")
def forms(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[str, Callable[[], object]]]:
    """The rows in every form."""
    pyarrow: Any = importlib.import_module("pyarrow")
    pandas: Any = importlib.import_module("pandas")
    polars: Any = importlib.import_module("polars")
    duckdb: Any = importlib.import_module("duckdb")
    ibis: Any = importlib.import_module("ibis")
    folder = tmp_path_factory.mktemp("periods")
    table = pyarrow.table(COLUMNS)
    importlib.import_module("pyarrow.parquet").write_table(table, folder / "rows.parquet")
    pandas.DataFrame(COLUMNS).to_csv(folder / "rows.csv", index=False)
    zone = timezone(timedelta(hours=-7))
    zoned = COLUMNS | {"at": [x.replace(tzinfo=UTC).astimezone(zone) for x in COLUMNS["at"]]}
    connection = duckdb.connect()
    servers = []

    @functools.cache
    def in_postgres() -> object:
        socket = request.getfixturevalue("postgres")
        servers.append(ibis.postgres.connect(host=socket, user="postgres", database="postgres"))
        return servers[0].create_table("periods", table)

    yield {
        "csv": lambda: folder / "rows.csv",
        "parquet": lambda: folder / "rows.parquet",
        "pandas": lambda: pandas.DataFrame(COLUMNS),
        "pandas, zoned": lambda: pandas.DataFrame(zoned),
        "pandas on arrow": lambda: table.to_pandas(types_mapper=pandas.ArrowDtype),
        "polars": lambda: polars.DataFrame(COLUMNS),
        "polars, lazy": lambda: polars.LazyFrame(COLUMNS),
        "pyarrow": lambda: table,
        "duckdb": lambda: connection.from_arrow(table),
        "postgres": in_postgres,
    }
    connection.close()
    for server in servers:
        server.disconnect()


FORMS = ["csv", "parquet", "pandas", "pandas, zoned", "pandas on arrow", "polars", "polars, lazy"]
FORMS += ["pyarrow", "duckdb", "postgres"]


def test_every_form_is_tried(forms: dict[str, Callable[[], object]]) -> None:
    assert list(forms) == FORMS


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("by", ["week", "month", "day", "country"])
def test_periods_are_the_same_from_everywhere(
    forms: dict[str, Callable[[], object]], form: str, by: str
) -> None:
    found = read_periods(forms[form](), by=by, arm="arm", reward="reward", time="at")
    expected: dict[tuple[str, str], list[float]] = defaultdict(list)
    for arm, reward, country, at in zip(
        *(COLUMNS[name] for name in ("arm", "reward", "country", "at")), strict=True
    ):
        expected[BY[by](at) if by in BY else country, arm].append(reward)
    assert list(found) == sorted({period for period, _ in expected})
    for period, offline in found.items():
        assert list(offline.arms) == ["arm 0", "arm 1", "arm 2"]
        for k, arm in enumerate(offline.arms):
            rewards = expected.get((period, arm), [])
            assert offline.n[k] == len(rewards)
            if rewards:
                assert offline.mean[k] == pytest.approx(np.mean(rewards), rel=1e-9)
            if len(rewards) > 1:
                assert offline.variance[k] == pytest.approx(np.var(rewards, ddof=1), rel=1e-9)
    assert found.provenance.rows_used == N


@pytest.mark.parametrize("form", ["csv", "pandas", "polars", "duckdb", "postgres"])
def test_counted_rows_of_means_merge_within_a_period(
    forms: dict[str, Callable[[], object]], form: str
) -> None:
    columns: Any = {"count": "views", "mean": "reward", "variance": "spread"}
    found = read_periods(forms[form](), by="country", arm="arm", **columns)
    rows = [i for i in range(N) if (COLUMNS["country"][i], COLUMNS["arm"][i]) == ("FR", "arm 1")]
    n, mean, spread = (
        np.array([COLUMNS[name][i] for i in rows]) for name in ("views", "reward", "spread")
    )
    whole = (n * mean).sum() / n.sum()
    squares = ((n - 1) * spread + n * (mean - whole) ** 2).sum()
    assert (found["FR"].n[1], found["FR"].mean[1]) == (n.sum(), pytest.approx(whole))
    assert found["FR"].variance[1] == pytest.approx(squares / (n.sum() - 1))


def test_seconds_since_1970_have_days_and_weeks_but_in_frames_no_months(tmp_path: Path) -> None:
    pandas: Any = importlib.import_module("pandas")
    seconds = [at.replace(tzinfo=UTC).timestamp() for at in COLUMNS["at"]]
    frame = pandas.DataFrame(COLUMNS | {"at": seconds})
    dated = pandas.DataFrame(COLUMNS)
    options: Any = {"arm": "arm", "reward": "reward", "time": "at"}
    for by in ("day", "week"):
        same = read_periods(dated, by=by, **options)
        assert dict(read_periods(frame, by=by, **options)) == dict(same)
    with pytest.raises(InvalidInput, match="column 'at', which holds numbers, so it has no months"):
        read_periods(frame, by="month", **options)
    frame.to_csv(tmp_path / "seconds.csv")
    months = read_periods(tmp_path / "seconds.csv", by="month", **options)
    assert list(months) == list(read_periods(dated, by="month", **options))


CSV = "arm,reward,land,at\na,1,DE,2026-01-01\na,0,,2026-01-02\nb,x,FR,2026-01-03\nb,1,FR,\n"


def test_rows_without_a_period_are_rejected_and_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(CSV)
    with pytest.raises(RejectedRows, match=r"2 of 4 rows .* by_missing 1 .*rows\.csv:3"):
        read_periods(path, by="land", arm="arm", reward="reward")
    found = read_periods(path, by="land", arm="arm", reward="reward", allow_rejects=True)
    assert dict(found.provenance.rows_rejected) == {"by_missing": 1, "reward_not_number": 1}
    assert {label: offline.n.tolist() for label, offline in found.items()} == {
        "DE": [1, 0],
        "FR": [0, 1],
    }
    days: Any = {"by": "day", "arm": "arm", "reward": "reward", "time": "at"}
    with pytest.warns(UserWarning, match="'b' is not an arm|one arm only"):
        found = read_periods(path, allow_rejects=True, **days)
    assert dict(found.provenance.rows_rejected) == {"time_missing": 1, "reward_not_number": 1}
    assert list(found) == ["2026-01-01", "2026-01-02"]


def test_filters_and_chosen_arms_hold_for_periods_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("arm,reward,land\na,1,DE\nb,0,DE\nc,1,FR\nb,1,FR\nb,1,IT\n")
    found = read_periods(
        path, by="land", arm="arm", reward="reward", arms=["c", "b"], where="land != 'IT'"
    )
    assert {label: offline.n.tolist() for label, offline in found.items()} == {
        "DE": [0, 1],
        "FR": [1, 1],
    }
    assert len(found) == 2
    assert found.provenance.filters[0] == ("where", "land != 'IT'")
    with pytest.raises(UnknownName, match="unknown arm in the logs 'x'"):
        read_periods(path, by="land", arm="arm", reward="reward", arms=["x"])


def test_one_arm_is_told() -> None:
    pyarrow: Any = importlib.import_module("pyarrow")
    table = pyarrow.table({"arm": ["a", "a"], "reward": [1, 0], "test": [7, 10]})
    with pytest.warns(UserWarning, match="one arm only, 'a'"):
        found = read_periods(table, by="test", arm="arm", reward="reward")
    assert list(found) == ["7", "10"]


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ("", "by must name a column, got ''"),
        (3, "by must name a column, got 3"),
        ("land", "did you mean 'lands'"),
        ("week", "by is 'week', and there is neither time nor a column of that name"),
        ("strange", r"by is column 'strange', in which '\\x00' cannot be the label of a"),
        ("nested", "holds List.*, not labels"),
    ],
)
def test_bad_periods_are_refused(by: Any, told: str) -> None:
    pyarrow: Any = importlib.import_module("pyarrow")
    columns = {"arm": ["a", "b"], "reward": [1, 0], "lands": ["x", "y"]}
    table = pyarrow.table(columns | {"strange": ["\0", "x"], "nested": [[1], [2]]})
    with pytest.raises(InvalidInput, match=told):
        read_periods(table, by=by, arm="arm", reward="reward")


def test_periods_are_in_utc_whatever_zone_the_session_has() -> None:
    duckdb: Any = importlib.import_module("duckdb")
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'America/New_York'")
        rows = connection.sql(
            "SELECT unnest(['a', 'b']) AS arm, unnest([1, 0]) AS reward, "
            "TIMESTAMPTZ '2026-01-01 22:00:00' AS at"  # in New York, which is the next day in UTC
        )
        found = read_periods(rows, by="day", arm="arm", reward="reward", time="at")
    assert list(found) == ["2026-01-02"]
