import pytest

from driftanchor.cli import store_options as at
from driftanchor.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90", 90.0), ("90s", 90.0), ("1.5m", 90.0), ("12H", 43_200.0), ("7d", 604_800.0)],
)
def test_lengths_of_time(text: str, expected: float) -> None:
    assert at.seconds(text, "--reward-window") == expected


@pytest.mark.parametrize("text", ["", "d", "7 days", "1y", "x"])
def test_what_is_no_length_of_time(text: str) -> None:
    with pytest.raises(InvalidInput, match="--reward-window must be seconds, or a number with s"):
        at.seconds(text, "--reward-window")


def test_none_is_a_word_of_options() -> None:
    assert at.choice(" None ") is None
    assert at.choice("decision") == "decision"


@pytest.mark.parametrize("address", ["", ":memory:", "sqlite:a.db", "mysql://x", "postgres:x"])
def test_what_is_neither_a_file_nor_an_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match=r"such as 'bandit\.db'"):
        at.file_of(address)


def test_only_sqlite_has_a_file() -> None:
    assert at.file_of("postgresql://u@h/d") is None
    assert str(at.file_of("sqlite:///a.db")) == "a.db"
    assert str(at.file_of("./b:c?d.db")) == "b:c?d.db"
    assert at.is_missing("sqlite:///a/b/c.db")
    assert at.is_missing("a/b/c.db")
    assert not at.is_missing("postgresql://u@h/d")
