"""Rows of logs, from files, frames or warehouses, as offline data.

`read.py` is the entry. Files go through DuckDB, everything else through narwhals; from there on one
set of narwhals expressions judges and aggregates the rows, wherever they live.
"""
