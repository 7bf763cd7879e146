"""What is no policy is refused, wherever one is given."""

from collections.abc import Callable

import pytest
from driftanchor.policies.policy_check import valid_policy

from driftanchor import TS, Bandit, InvalidInput, Learner

WAYS: list[Callable[[object], object]] = [
    valid_policy,
    lambda policy: Bandit([0.6, 0.5]).check_policy(policy),  # type: ignore[arg-type]
    lambda policy: Learner(policy, arms=["A", "B"]),  # type: ignore[arg-type]
    lambda policy: Learner.from_json({}, policy),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("value", ["ts", TS, {"A": 1}, 3])
def test_what_is_no_policy_is_refused(way: Callable[[object], object], value: object) -> None:
    with pytest.raises(InvalidInput, match="policy must be a Policy such as AnchorTS") as caught:
        way(value)
    assert caught.value.argument == "policy"


def test_a_policy_is_itself() -> None:
    policy = TS()
    assert valid_policy(policy) is policy
