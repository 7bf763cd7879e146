from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
import pytest

from driftanchor.errors import MissingExtra
from driftanchor.frames import MOST_ROWS, html_table, to_frame

if TYPE_CHECKING:
    from conftest import RunPython

COLUMNS = {"arm": ["A", "B"], "mean": [0.5, float("nan")], "last": [None, "x"]}


def test_pandas_comes_first() -> None:
    frame = to_frame(COLUMNS)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["arm", "mean", "last"]
    assert frame["arm"].tolist() == ["A", "B"]
    assert frame["mean"].isna().tolist() == [False, True]


def test_without_pandas_it_is_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    frame = to_frame(COLUMNS)
    assert isinstance(frame, pl.DataFrame)
    assert frame["last"].to_list() == [None, "x"]


def test_a_program_that_uses_polars_gets_polars(run_python: RunPython) -> None:
    program = (
        "import polars\nfrom driftanchor.frames import to_frame\nprint(type(to_frame({'n': [1]})))"
    )
    assert "polars" in run_python(program)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (("pandas", "polars"), "to_frame needs pandas or polars: pip install pandas"),
        (("narwhals",), r'to_frame needs narwhals: pip install "driftanchor\[logs\]"'),
    ],
)
def test_what_is_missing_is_named(
    missing: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=message):
        to_frame(COLUMNS)


def test_html_is_escaped_and_missing_values_are_dashes() -> None:
    shown = html_table({"<arm>": ["<b>", None], "n": [1200, float("nan")]}, caption="a & b")
    assert shown == (
        "<table><caption>a &amp; b</caption><thead><tr><th>&lt;arm&gt;</th><th>n</th></tr></thead>"
        "<tbody><tr><td>&lt;b&gt;</td><td>1,200</td></tr><tr><td>–</td><td>–</td></tr></tbody>"
        "</table>"
    )


def test_a_long_table_is_cut() -> None:
    shown = html_table({"n": list(range(MOST_ROWS + 5))})
    assert shown.count("<tr>") == MOST_ROWS + 2
    assert "… and 5 more" in shown
