from __future__ import annotations

import copy
import pickle

import pytest

from driftanchor.errors import InvalidInput, UnknownName

ERRORS = [
    InvalidInput("the logs have no rewards"),
    InvalidInput("must be at least 1, got 0", argument="horizon"),
    UnknownName("policy", "tss", ["ts", "ucb"]),
    UnknownName("engine", 3, [], argument="engine"),
    UnknownName("column", "adv", ["ad"], argument="arm", place="last_quarter.csv"),
]


def test_the_message_starts_with_the_argument() -> None:
    error = InvalidInput("of arm 'A' must be at least 0, got -1", argument="bias_bound")
    assert str(error) == "bias_bound of arm 'A' must be at least 0, got -1"
    assert error.naming("--bias-bound") == "--bias-bound of arm 'A' must be at least 0, got -1"


def test_an_error_of_no_argument_is_its_problem() -> None:
    assert str(InvalidInput("the logs have no rewards")) == "the logs have no rewards"


def test_an_unknown_name_suggests_the_nearest() -> None:
    error = UnknownName("engine", "evnts", ["auto", "events"], argument="engine")
    assert str(error) == "unknown engine 'evnts'; did you mean 'events'?"
    assert error.naming("--engine") == f"--engine: {error}"
    assert str(UnknownName("arm", "Z", [])) == "unknown arm 'Z'; known: none"


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_errors_are_the_same_in_another_process(error: InvalidInput) -> None:
    for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (type(same), str(same), same.argument) == (type(error), str(error), error.argument)
        assert same.naming("--x") == error.naming("--x")
