"""An alarm as a record, and the events that follow from it."""

import pytest

from driftanchor.core.stats.intervals import Estimate
from driftanchor.errors import UnreadableState
from driftanchor.live.state_events import Distrusted
from driftanchor.live.watch.alarm import Alarm, Mark, Moved

ALARM = Alarm(
    "relative_bound",
    (Moved(1, 0.05, Estimate(0.1, 0.06, 0.2), 40), Moved(3, 0.0, Estimate(-0.1, -0.2, -0.06), 9)),
    Mark(77, "Tuesday"),
    Mark(5),
)


def test_it_comes_back() -> None:
    assert Alarm.from_json(ALARM.to_json()) == ALARM


def test_all_named_arms_are_distrusted() -> None:
    assert ALARM.distrust() == (Distrusted(1), Distrusted(3))


@pytest.mark.parametrize(
    "change", [{"promise": "x"}, {"arms": [{}]}, {"seen": None}, {"arms": [{"column": -1}]}]
)
def test_damage_is_noticed(change: dict[str, object]) -> None:
    with pytest.raises(UnreadableState, match="damaged"):
        Alarm.from_json({**ALARM.to_json(), **change})
