"""The JSON records: each names its kind and version, and refuses what it cannot read."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import UnreadableState
from driftanchor.core import record


def test_a_sealed_record_opens() -> None:
    sealed = record.seal("thing", 2, {"a": 1})
    assert sealed == {"kind": "driftanchor/thing", "version": 2, "a": 1}
    signed = record.seal_with_digest("thing", 2, {"a": 1})
    assert signed == sealed | {"digest": record.digest_of(sealed)}
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


def opened(data: record.Record) -> record.Record:
    with record.reading("thing", data):
        return data


def test_content_that_is_not_that_of_its_digest_is_damage() -> None:
    sealed = record.seal_with_digest("thing", 1, {"n": 5, "mean": 0.5, "arms": ["A"]})
    assert opened(sealed) is sealed
    assert opened(json.loads(json.dumps(sealed))) == sealed
    changes: list[record.Record] = [
        {"n": 6},
        {"mean": math.nan},
        {"arms": ("A", object())},
        {"other": 1},
        {"digest": None},
    ]
    for change in changes:
        with pytest.raises(UnreadableState, match="not what its digest says: the file is damaged"):
            opened(sealed | change)
    bare = {key: value for key, value in sealed.items() if key != "digest"}
    assert opened(bare | {"n": 6})["n"] == 6  # written before there were digests, or by hand


def test_a_digest_is_of_values_and_not_of_how_they_are_written() -> None:
    digest = record.digest_of({"a": 1.0, "b": (2, 1e22), "c": 1e-7})
    assert record.digest_of({"c": 0.0000001, "b": [2.0, 10**22], "a": 1}) == digest
    assert record.digest_of({"c": 0.0000001, "b": [2.0, 10**22], "a": True}) != digest


@given(st.floats())
def test_every_float_survives_json(x: float) -> None:
    back = record.decode(record.encode(x))
    assert isinstance(back, float)
    assert back == x or (math.isnan(back) and math.isnan(x))


@pytest.mark.parametrize("text", ["", "{", "[1,]", "1" * 5000, "[" * 100_000, "[NaN]", "-Infinity"])
def test_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(UnreadableState, match="not valid JSON"):
        record.parse(text)


def test_a_key_that_stands_twice_is_refused() -> None:
    with pytest.raises(UnreadableState, match="key 'seed' appears twice in one object"):
        record.parse('{"a": {"seed": 1, "b": 0, "seed": 2}}')
