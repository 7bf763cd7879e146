"""Arms: labels outside, columns inside."""

import pickle
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import Arms, InvalidInput, UnknownName

LABELS = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=5)


@given(st.lists(LABELS, min_size=1, max_size=8, unique=True))
def test_labels_and_columns_are_inverse(labels: list[str]) -> None:
    arms = Arms(labels)
    assert list(arms) == labels
    assert len(arms) == len(labels)
    assert [arms.column(label) for label in labels] == list(range(len(labels)))
    assert [arms[column] for column in range(len(labels))] == labels
    assert arms[1:] == tuple(labels[1:])


def test_labels_may_come_from_any_ordered_iterable() -> None:
    assert Arms(iter(["A", "B"])) == Arms(("A", "B")) == Arms({"A": 1, "B": 2})


def test_equal_arms_hash_alike_and_survive_pickling() -> None:
    arms = Arms(["A", "B"])
    assert hash(arms) == hash(Arms(["A", "B"]))
    assert arms != Arms(["B", "A"])
    assert pickle.loads(pickle.dumps(arms)).column("B") == 1


def test_a_label_has_an_end() -> None:
    assert len(Arms(["x" * 1_000])[0]) == 1_000
    with pytest.raises(InvalidInput, match=r"a label of 1,001 characters, 'xxx.*use at most 1,000"):
        Arms(["A", "x" * 1_001])


def test_numbered_arms_start_at_one() -> None:
    assert list(Arms.numbered(3)) == ["1", "2", "3"]


def test_a_new_arm_takes_the_last_column_and_leaves_the_old_arms_alone() -> None:
    arms = Arms(["A"])
    assert list(arms.with_arm("B")) == ["A", "B"]
    assert list(arms) == ["A"]


def test_arms_cannot_be_changed() -> None:
    arms: Any = Arms(["A"])
    with pytest.raises(AttributeError):
        arms.labels = ("B",)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "arms is empty: name at least one arm"),
        (["A", "B", "A"], "arms has the label 'A' twice (positions 1 and 3): labels must differ"),
        (["A", 2], "arms must be text, got the label 2: use str(label)"),
        (["A", None], "arms must be text, got the label None"),
        (["A", " "], "arms must be printable text, got the label ' '"),
        (["A", ""], "arms must be printable text, got the label ''"),
        (["A\n"], r"arms must be printable text, got the label 'A\n'"),
        ("AB", "arms must be a list of values, got 'AB'"),
        (3, "arms must be a list of values, got 3"),
        ({"A"}, "arms must be in order, got the set {'A'}: use a list"),
    ],
)
def test_unusable_labels_are_refused_by_name(labels: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Arms(labels)


@pytest.mark.parametrize("count", [0, -1, 2.5, None, "3", 10**7])
def test_an_unusable_number_of_arms_is_refused(count: Any) -> None:
    with pytest.raises(InvalidInput, match="arms must be"):
        Arms.numbered(count)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("chekout", "unknown arm 'chekout'; did you mean 'checkout'?"),
        ("zzz", "unknown arm 'zzz'; known: checkout, banner"),
    ],
)
def test_an_unknown_label_gets_the_nearest_or_all(label: str, message: str) -> None:
    with pytest.raises(UnknownName, match=re.escape(message)):
        Arms(["checkout", "banner"]).column(label)


@pytest.mark.parametrize("label", [0, None, [], b"A"])
def test_a_label_that_is_no_text_is_told_the_labels(label: object) -> None:
    message = f"arm must be the text of a label, got {label!r}: use one of ('A', 'B')"
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Arms(["A", "B"]).column(label)


def test_labels_are_looked_up() -> None:
    arms = Arms(["A", "B"])
    assert "B" in arms
    assert "C" not in arms
    junk: object = ["B", 3][1]
    assert junk not in arms
