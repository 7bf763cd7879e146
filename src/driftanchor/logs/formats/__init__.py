"""The formats of log files: one file each, listed here by the name that options use."""

from driftanchor.logs.formats.csv import Csv
from driftanchor.logs.formats.jsonl import Jsonl
from driftanchor.logs.formats.log_format import Column, Format, Lines, Scan, Survey
from driftanchor.logs.formats.parquet import Parquet

__all__ = ["FORMATS", "SUFFIXES", "Column", "Format", "Lines", "Scan", "Survey"]

FORMATS: dict[str, Format] = {
    "csv": Csv(),
    "parquet": Parquet(),
    "jsonl": Jsonl(),
}
SUFFIXES = {suffix: name for name, format in FORMATS.items() for suffix in format.suffixes}
