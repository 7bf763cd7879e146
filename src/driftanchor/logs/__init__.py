"""Rows of logs, from files, frames or warehouses, as offline data.

`read.py` is the entry. Files go through DuckDB, everything else through narwhals; from there on one
set of narwhals expressions judges and aggregates the rows, wherever they live.
"""

from driftanchor.logs.periods import Periods, read_periods
from driftanchor.logs.read import read_logs

__all__ = ["Periods", "read_logs", "read_periods"]
