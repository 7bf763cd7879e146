"""Whatever a policy of one's own answers or raises, the error names the policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from driftanchor import (
    ArmEvidence,
    Bandit,
    Draws,
    Evidence,
    InvalidInput,
    Learner,
    OfflineData,
    Policy,
    Round,
    simulate,
)
from driftanchor.core.noise import Stream


@dataclass(frozen=True, kw_only=True)
class Odd(Policy):
    """Answers as it is made to."""

    name = "odd"
    formula = "?"
    source = "this test"

    answer: Any = None

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        value: float = self.answer() if callable(self.answer) else self.answer
        return value


class OddColumn(Odd):
    """Answers with a column."""

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        column: int = self.answer() if callable(self.answer) else self.answer
        return column


def ways(rule: Policy) -> list[Callable[[], object]]:
    """The ways to ask a policy, interpreted."""
    pupil = Learner(rule, arms=["A", "B"], seed=1)
    bandits = (Bandit([0.5, 0.4]), Bandit([0.5, 0.4], delay=2))
    return [
        pupil.pull,
        pupil.probabilities,
        *(
            lambda bandit=bandit: simulate(rule, bandit, horizon=3, runs=1, engine="interpreted")
            for bandit in bandits
        ),
    ]


@pytest.mark.parametrize("answer", [None, "1", 1j, [1.0], np.array([0.5, 0.5]), np.array([0.5])])
def test_an_index_that_is_no_number_is_refused(answer: Any) -> None:
    for ask in ways(Odd(answer=answer)):
        with pytest.raises(InvalidInput, match=r"policy 'odd' gave an arm the index .*a number"):
            ask()


@pytest.mark.parametrize("answer", [1, True, np.float32(1), np.array(1.0), Decimal(1), np.int8(1)])
def test_an_index_of_any_kind_of_number_is_taken(answer: Any) -> None:
    assert ways(Odd(answer=answer))[0]() in ("A", "B")
    played: Any = ways(Odd(answer=answer))[2]()
    assert played.pulls.sum() == 3


@pytest.mark.parametrize("answer", [None, "A", 0.5, 1.0, True, np.True_, np.array([1]), 1j])
def test_a_column_that_is_no_whole_number_is_refused(answer: Any) -> None:
    for ask in ways(OddColumn(answer=answer)):
        with pytest.raises(InvalidInput, match=r"policy 'odd' chose .*must return the column of"):
            ask()


@pytest.mark.parametrize("answer", [-1, 2, 10**9, -(10**18), np.int64(7), 10**30])
def test_a_column_that_is_not_there_is_refused(answer: int) -> None:
    for ask in ways(OddColumn(answer=answer)):
        with pytest.raises(
            InvalidInput, match=r"policy 'odd' chose (no arm|.*not an arm that can)"
        ):
            ask()


class OwnError(Exception):
    """With a long text of many lines."""

    def __init__(self) -> None:
        super().__init__("line\n" * 100)


@pytest.mark.parametrize("cls", [Odd, OddColumn])
def test_what_a_policy_raises_is_the_cause_of_an_error_with_its_name(cls: type[Odd]) -> None:
    def fail() -> None:
        raise OwnError

    for ask in ways(cls(answer=fail)):
        with pytest.raises(InvalidInput, match="policy 'odd' raised OwnError: line line") as caught:
            ask()
        assert isinstance(caught.value.__cause__, OwnError)
        assert len(str(caught.value)) < 300
    with pytest.raises(InvalidInput, match="'odd' raised ZeroDivisionError"):
        ways(cls(answer=lambda: 1 // 0))[0]()


def test_errors_of_ours_and_of_the_machine_stay_as_they_are() -> None:
    def refuse() -> None:
        raise InvalidInput("x is wrong")

    def fill() -> None:
        raise MemoryError

    for ask in ways(Odd(answer=refuse)):
        with pytest.raises(InvalidInput, match=r"^x is wrong$"):
            ask()
    for ask in ways(Odd(answer=fill)):
        with pytest.raises(MemoryError):
            ask()


def test_a_policy_that_fails_before_the_first_pull_fails_at_the_pull() -> None:
    """The logs are far from the prior: whether that matters is asked of the policy itself."""

    def fail() -> None:
        raise OwnError

    logs = OfflineData.from_summary({"A": (9, 50.0, 1.0), "B": (9, 51.0, 1.0)})
    pupil = Learner(Odd(answer=fail), offline=logs, bias_bound=1.0, seed=1)
    with pytest.raises(InvalidInput, match="'odd' raised OwnError"):
        pupil.pull()
