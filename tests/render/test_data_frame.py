from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import pytest

from driftanchor.errors import MissingExtra
from driftanchor.render.data_frame import to_frame

if TYPE_CHECKING:
    from conftest import RunPython

pandas: Any = importlib.import_module("pandas")
polars: Any = importlib.import_module("polars")
COLUMNS: dict[str, list[Any]] = {
    "arm": ["A", "B"],
    "mean": [0.5, float("nan")],
    "last": [None, "x"],
}


def test_pandas_comes_first() -> None:
    frame = to_frame(COLUMNS)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["arm", "mean", "last"]
    assert frame["arm"].tolist() == ["A", "B"]
    assert frame["mean"].isna().tolist() == [False, True]


def test_without_pandas_it_is_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    frame = to_frame(COLUMNS)
    assert isinstance(frame, polars.DataFrame)
    assert frame["last"].to_list() == [None, "x"]


def test_a_program_that_uses_polars_gets_polars(run_python: RunPython) -> None:
    program = (
        "import polars\n"
        "from driftanchor.render.data_frame import to_frame\n"
        "print(type(to_frame({'n': [1]})))"
    )
    assert "polars" in run_python(program)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (("pandas", "polars"), "to_frame needs pandas or polars: pip install pandas"),
        (
            ("narwhals",),
            r'to_frame needs narwhals: in a clone of driftanchor, run pip install "\.\[logs\]"',
        ),
    ],
)
def test_what_is_missing_is_named(
    missing: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=message):
        to_frame(COLUMNS)
