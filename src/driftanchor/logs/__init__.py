"""Read logs from files, frames or warehouses into offline data.

How a row travels through the modules:

1. `read.py` takes the options, which `query.py` checks, and opens the source (`sources.py`).
2. Files are found (`log_files.py`) and read by a DuckDB that sees nothing else (`sandbox.py`), each
   as its format says (`formats/`). Frames and tables of databases stay where they are.
3. The columns get the names of their roles: `file_columns.py` in SQL, `frame_columns.py` in
   narwhals. From here on there is one set of narwhals expressions, wherever the rows live.
4. `row_rules.py` filters and validates rows; `aggregate.py` groups them by arm.
5. `account.py` accounts for every row. Unusable rows are counted and shown by
   `rejects.py`; counts that only grow are refused by `running_totals.py`.
6. `strata.py` compares arms within files, periods or a column if their shares differ there.
7. `summary.py` defines the result of `read_logs`, and `periods.py` that of `read_periods`.
"""

from driftanchor.logs.periods import Periods, read_periods
from driftanchor.logs.read import read_logs

__all__ = ["Periods", "read_logs", "read_periods"]
