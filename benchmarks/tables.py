"""A table as it is saved: `pages/render.py` turns it into a page, `benchmarks.report` into text."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.clock import Cell

Blocks = dict[str, dict[str, Any]]  # by name, as in the files of pages/measured


def table(
    name: str,
    title: str,
    columns: Sequence[str],
    rows: Mapping[str, Sequence[Cell | str | None]],
    **more: Any,
) -> Blocks:
    """One block; the first of the columns is that of the rows' labels."""
    lines = [{"label": label, "cells": list(cells)} for label, cells in rows.items()]
    block = {"kind": "table", "title": title, "columns": list(columns), "rows": lines, **more}
    return {name: block}
