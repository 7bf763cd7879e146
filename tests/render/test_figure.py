from __future__ import annotations

import pytest

from driftanchor.errors import InvalidInput
from driftanchor.render import figure


def test_one_mean_many_times_another_asks_for_a_log_axis() -> None:
    assert figure.wide_apart([10.0, 200.0], 12)
    assert not figure.wide_apart([10.0, 100.0], 12)
    assert not figure.wide_apart([0.0, 0.0], 12)


def test_only_files_that_can_be_drawn_are_taken() -> None:
    assert figure.check_suffix("a/b.PNG") == ".png"
    with pytest.raises(InvalidInput, match="plot file must end in"):
        figure.check_suffix("a/b.gif")
