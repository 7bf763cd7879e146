"""The JSON records: each names its kind and version, and refuses what it cannot read."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import UnreadableState
from driftanchor.core import record


def test_a_sealed_record_opens() -> None:
    sealed = record.seal("thing", 2, {"a": 1})
    assert sealed == {"kind": "driftanchor/thing", "version": 2, "a": 1}
    assert record.unseal(sealed, "thing", 2, ("a",))["a"] == 1
    assert record.unseal(sealed, "thing", 3, ("a",))["a"] == 1  # an older file still opens


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "not a driftanchor thing record: its kind is 'NoneType'"),
        ([], "not a driftanchor thing record: its kind is 'list'"),
        ({}, "not a driftanchor thing record: its kind is None"),
        ({"kind": "driftanchor/other", "version": 1}, "its kind is 'driftanchor/other'"),
        ({"kind": "driftanchor/thing"}, "no usable version, got None"),
        ({"kind": "driftanchor/thing", "version": 0}, "no usable version, got 0"),
        ({"kind": "driftanchor/thing", "version": True}, "no usable version, got True"),
        ({"kind": "driftanchor/thing", "version": "1"}, "no usable version, got '1'"),
        (
            {"kind": "driftanchor/thing", "version": 2},
            "is of version 2, this driftanchor reads up to 1: upgrade driftanchor",
        ),
        ({"kind": "driftanchor/thing", "version": 1}, "lacks 'a': the file is damaged"),
    ],
)
def test_what_cannot_be_read_is_named(data: object, message: str) -> None:
    with pytest.raises(UnreadableState, match=message):
        record.unseal(data, "thing", 1, ("a",))


@given(st.floats())
def test_every_float_survives_json(x: float) -> None:
    back = record.decode(record.encode(x))
    assert isinstance(back, float)
    assert back == x or (math.isnan(back) and math.isnan(x))


@pytest.mark.parametrize("text", ["", "{", "[1,]", "1" * 5000, "[" * 100_000])
def test_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(UnreadableState, match="not valid JSON"):
        record.parse(text)


def test_a_key_that_stands_twice_is_refused() -> None:
    with pytest.raises(UnreadableState, match="key 'seed' stands twice in one object"):
        record.parse('{"a": {"seed": 1, "b": 0, "seed": 2}}')
