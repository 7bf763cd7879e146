from __future__ import annotations

import pytest
from campaign_commands import asked, new, run, said

pytestmark = pytest.mark.usefixtures("in_own_folder")


def test_pause_and_resume() -> None:
    new()
    assert said("campaign", "pause", "c") == {"name": "c", "paused": True}
    assert run("campaign", "pause", "c").stderr == "c is paused\n"
    assert said("campaign", "show", "c")["paused"] is True
    assert run("campaign", "resume", "c").stderr == "c is running again\n"
    assert said("campaign", "show", "c")["paused"] is False


def test_an_epoch_draws_units_anew() -> None:
    new("c", "--sticky", "campaign")
    first = asked("c", "--unit", "u")
    assert said("campaign", "epoch", "c") == {"name": "c", "epoch": 1}
    again = asked("c", "--unit", "u")
    assert (again["replayed"], again["epoch"]) == (False, 1)
    assert again["id"] != first["id"]


def test_sweep_says_how_many_windows_were_over() -> None:
    new("c", "--reward-window", "0.000001", "--default-reward", "0")
    asked("c", "-n", "3")
    assert said("campaign", "sweep", "c") == {"name": "c", "swept": 3}
    assert run("campaign", "sweep", "c").stderr == "c: closed 0 decisions\n"
    assert said("campaign", "show", "c")["rewards"] == 3
