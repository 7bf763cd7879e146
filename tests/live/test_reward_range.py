"""The declared range of rewards."""

import math

import pytest

from driftanchor import InvalidInput
from driftanchor.live.reward_range import valid_range


def test_either_end_may_be_open() -> None:
    assert valid_range((0, math.inf)) == (0.0, math.inf)
    assert valid_range(None) == (-math.inf, math.inf)


@pytest.mark.parametrize("value", [3, "01", (0,), (1, 0), (0, math.nan), (0, "1")])
def test_what_is_no_range_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="reward_range must"):
        valid_range(value)
