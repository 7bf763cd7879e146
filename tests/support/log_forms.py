"""The same small table in every form that can be read, for tests that compare the sources."""

from __future__ import annotations

import importlib
import json
import math
import warnings
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from driftanchor import InvalidInput, read_logs

duckdb: Any = importlib.import_module("duckdb")
ibis: Any = importlib.import_module("ibis")
pandas: Any = importlib.import_module("pandas")
parquet: Any = importlib.import_module("pyarrow.parquet")
polars: Any = importlib.import_module("polars")

TEXT_FILES = ("csv", "jsonl")
FRAMES = ("pandas", "pandas on arrow", "polars", "polars, lazy", "pyarrow", "duckdb", "ibis")
FORMS = (*TEXT_FILES, "parquet", *FRAMES)


def forms_of(table: Any, folder: Path) -> dict[str, object]:
    """A pyarrow table as everything that `read_logs` takes."""
    rows = table.to_pylist()
    lines = [",".join(_csv(x) for x in row.values()) for row in rows]
    (folder / "rows.csv").write_text("\n".join([",".join(table.column_names), *lines]))
    objects = (json.dumps({name: _json(x) for name, x in row.items()}) for row in rows)
    (folder / "rows.jsonl").write_text("\n".join(objects))
    parquet.write_table(table, folder / "rows.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # this version of Ibis uses what DuckDB gives up
        database = ibis.duckdb.connect()
        database.con.execute(f"CREATE TABLE logs AS FROM '{folder}/rows.parquet'")
        in_database = database.table("logs")
    frame = polars.from_arrow(table)
    made = (
        folder / "rows.csv",
        folder / "rows.jsonl",
        folder / "rows.parquet",
        table.to_pandas(),
        table.to_pandas(types_mapper=pandas.ArrowDtype),
        frame,
        frame.lazy(),
        table,
        duckdb.connect().from_arrow(table),
        in_database,
    )
    return dict(zip(FORMS, made, strict=True))


def rows_kept(logs: object, where: str) -> int | str:
    """How many rows a filter keeps of columns `arm` and `reward`; or why it is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of one arm, and of equal rewards
            return read_logs(logs, arm="arm", reward="reward", where=where).provenance.rows_used
    except InvalidInput as error:
        return 0 if "the filters keep none of them" in str(error) else str(error)


def _csv(value: object) -> str:
    if value is None:
        return ""
    return value.isoformat() if isinstance(value, date) else str(value)


def _json(value: Any) -> object:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date) or (isinstance(value, float) and not math.isfinite(value)):
        return _csv(value)
    return value
