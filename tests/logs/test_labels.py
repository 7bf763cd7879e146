"""Labels of arms: what values are called, and which names people would confuse."""

from __future__ import annotations

import importlib
import math
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from driftanchor import read_logs, read_periods
from driftanchor.logs.labels import in_order, label_of, label_problem, look_alikes

pandas: Any = importlib.import_module("pandas")
polars: Any = importlib.import_module("polars")
pyarrow: Any = importlib.import_module("pyarrow")


def test_labels() -> None:
    values = ["A", 3, 3.0, 2.5, True, datetime(2026, 1, 2), -0.0, -math.inf, Decimal("2.0")]
    labels = ["A", "3", "3", "2.5", "true", "2026-01-02T00:00:00", "0", "-inf", "2"]
    assert [label_of(value) for value in values] == labels
    assert label_problem(math.nan) == label_problem(None) == label_problem(" ") == "arm_missing"
    assert label_problem("x" * 1000) is None
    assert in_order(["2", "10", "x"]) == ["10", "2", "x"]


@pytest.mark.parametrize("library", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_an_infinite_arm_has_a_label(library: Any) -> None:
    frame = library({"arm": [1.0, math.inf, 1.0], "reward": [1, 0, 0]})
    assert list(read_logs(frame, arm="arm", reward="reward").arms) == ["1", "inf"]


def test_labels_that_look_alike_are_told() -> None:
    columns = {"arm": ["A", "a ", "B", "A"], "reward": [1, 0, 1, 0], "week": ["1"] * 4}
    for read in (read_logs, lambda *x, **y: read_periods(*x, by="week", **y)):
        with pytest.warns(UserWarning, match="arms 'A' and 'a ' differ in blanks or case alone"):
            read(pyarrow.table(columns), arm="arm", reward="reward")


def test_labels_of_another_unicode_form_are_told() -> None:
    table = pyarrow.table({"arm": ["caf\u00e9", "cafe\u0301", "B"], "reward": [1, 0, 1]})
    with pytest.warns(
        UserWarning, match=r"arms 'cafe\\u0301' and 'caf\\xe9' differ in Unicode form alone"
    ):
        read_logs(table, arm="arm", reward="reward")


def test_a_few_look_alikes_are_named() -> None:
    told = look_alikes(letter + blank for letter in "ABCDE" for blank in ("", " "))
    assert len(told) == 4
    assert told[-1] == "2 more arms differ from others so little"
