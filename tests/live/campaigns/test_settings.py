"""What a campaign may be told about windows, units and floors."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from driftanchor import InvalidInput, Settings
from driftanchor.core.arms import Arms
from driftanchor.errors import UnreadableState

ARMS = Arms(["A", "B"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reward": "coin"}, "unknown reward 'coin'"),
        ({"late": "keep"}, "unknown late"),
        ({"exposure": "never"}, "unknown exposure"),
        ({"on_alarm": "stop"}, "unknown on_alarm"),
        ({"sticky": "unit"}, "unknown sticky"),
        ({"sticky": True}, "sticky must be one of"),
        ({"reward_window": 0}, "reward_window must be greater than 0"),
        ({"reward_window": math.inf}, "reward_window must be finite"),
        ({"default_reward": 0}, "default_reward is 0 and reward_window is missing"),
        ({"default_reward": 2, "reward_window": 60}, "default_reward must be"),
        ({"default_reward": True, "reward_window": 60}, "default_reward must be a number"),
        ({"floor": -0.1}, "floor must be"),
        ({"floor": 0.6}, "add up to 1.2, and may be at most 1"),
        ({"control": ["A"]}, "control must map arms to shares"),
        ({"control": {"Z": 0.1}}, "unknown arm 'Z'"),
        ({"control": {"A": 0.0}}, "control of arm 'A' must be greater than 0"),
        ({"control": {"A": 0.8, "B": 0.3}}, "leaves nothing to decide"),
        ({"matters": 0}, "matters must be greater than 0"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Settings(**options).checked(ARMS, (0.0, 1.0))


def test_settings_come_back_from_json() -> None:
    settings = Settings("binary", 60, 0, "replace", None, "report", 0.1, {"A": 0.2}, "distrust", 1)
    settings = settings.checked(ARMS, (0.0, 1.0))
    text = json.dumps(settings.to_json())
    assert Settings.from_json(json.loads(text)) == settings
    assert settings.reward_window == 60.0
    with pytest.raises(UnreadableState, match="not what its digest says"):
        Settings.from_json(json.loads(text.replace('"late": "replace"', '"late": "ignore"')))


def test_a_reward_is_a_finite_number_in_its_range() -> None:
    assert Settings().reward_of(1, (0.0, 1.0)) == 1.0
    assert Settings().reward_of(-5e9, (-math.inf, math.inf)) == -5e9
    with pytest.raises(InvalidInput, match="reward must be"):
        Settings().reward_of(1e300, (-math.inf, math.inf))
