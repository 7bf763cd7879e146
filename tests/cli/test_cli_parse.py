from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import InvalidInput
from driftanchor.cli import parse
from driftanchor.cli.options import Coverage, Engine, Policies, Reward
from driftanchor.cli.world_options import shown
from driftanchor.policies import POLICIES, MinUCB

few_digits = st.integers(-1000, 1000).map(lambda n: n / 100)


@given(st.lists(few_digits, min_size=1, max_size=6))
def test_what_is_shown_can_be_typed(values: list[float]) -> None:
    assert parse.numbers(shown(values), "--online") == values


@given(st.lists(few_digits, min_size=1, max_size=6))
def test_a_plain_list_is_read_as_it_is_written(values: list[float]) -> None:
    assert parse.numbers(",".join(map(str, values)), "--online") == values


def test_spaces_are_no_matter() -> None:
    assert parse.numbers(" 1 , 2 * 2 ", "--online") == [1, 2, 2]


@pytest.mark.parametrize("text", ["1_0", "1_000.5", "1e1_0"])
def test_an_underscore_is_no_part_of_a_number(text: str) -> None:
    assert parse.word(text) == text
    with pytest.raises(InvalidInput, match=f"--horizon must be a number, got '{text}'"):
        parse.number(text, "--horizon")


def test_a_long_list_shows_its_start() -> None:
    assert shown(range(20)) == "0,1,2,3,4,5,…"
    assert shown([10**6, 0.3 - 0.2]) == "1000000,0.1"


def test_one_number_is_for_all_arms() -> None:
    assert parse.number_or_list("0.5", "--offline") == 0.5
    assert parse.number_or_list("0.5*2", "--offline") == [0.5, 0.5]


def test_one_checkpoint_is_a_count_and_several_are_rounds() -> None:
    assert parse.checkpoints("1e2") == 100
    assert parse.checkpoints("10,20") == [10, 20]


def test_no_policy_means_every_policy_that_takes_the_rewards() -> None:
    assert [policy.name for policy in parse.policies([], (0.0, 1.0)).values()] == list(POLICIES)
    assert set(POLICIES) - set(parse.policies([])) == {"beta-ts", "kl-ucb"}


def test_a_policy_with_parameters() -> None:
    assert parse.policies(["min-ucb: c = 3 , radius = cheung-lyu"]) == {
        "min-ucb": MinUCB(c=3.0, radius="cheung-lyu")
    }


@pytest.mark.parametrize(
    ("option", "typed", "completed"),
    [
        (Policies, "hy", ["hybrid-ts", "hybrid-ucb"]),
        (Engine, "i", ["interpreted"]),
        (Reward, "", ["gaussian", "bernoulli", "student"]),
        (Coverage, "s", ["suboptimal"]),
    ],
)
def test_shells_can_complete(option: object, typed: str, completed: list[str]) -> None:
    _, settings = get_args(option)
    assert settings.autocompletion(typed) == completed
