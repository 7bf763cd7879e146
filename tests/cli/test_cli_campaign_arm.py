from __future__ import annotations

import pytest
from campaign_commands import LOGS, asked, new, refused, run, said, write_logs

pytestmark = pytest.mark.usefixtures("in_own_folder")
ARM = ("campaign", "arm")


def test_arms_come_and_go() -> None:
    new()
    assert said(*ARM, "add", "c", "C") == {"name": "c", "arm": "C", "state": "active"}
    for label in ("A", "B"):
        assert run(*ARM, "pause", "c", label).exit_code == 0
    assert asked()["arm"] == "C"
    assert run(*ARM, "archive", "c", "A").stderr == "c: arm 'A' is archived\n"
    assert run(*ARM, "restore", "c", "B").exit_code == 0
    states = {label: arm["state"] for label, arm in said("campaign", "show", "c")["arms"].items()}
    assert states == {"A": "archived", "B": "active", "C": "active"}
    refused(4, "arm 'A' is archived: restore it before you pause it", *ARM, "pause", "c", "A")


def test_a_new_arm_may_have_logs_and_lose_them() -> None:
    write_logs()
    assert run("campaign", "create", "c", *LOGS).exit_code == 0
    logs = ("--offline", "50,0.4,0.24", "--bias-bound", "0.2")
    assert run(*ARM, "add", "c", "C", *logs).exit_code == 0
    assert said("campaign", "show", "c")["arms"]["C"]["logs_n"] == 50
    assert said(*ARM, "distrust", "c", "C")["state"] == "distrusted"
    assert said("campaign", "show", "c")["arms"]["C"]["logs_count"] is False
    assert "active, without logs" in run("campaign", "show", "c").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("add", "c", "A"), "'A' is already an arm"),
        (("add", "c", "C", "--offline", "50"), "--offline must be N,MEAN or N,MEAN,VARIANCE"),
        (("add", "c", "C", "--offline", "50,x"), "--offline must be a number, got 'x' in '50,x'"),
        (("add", "c", "C", "--offline", "50,0.4"), "--bias-bound"),
        (("pause", "c", "Z"), "unknown arm 'Z'"),
        (("archive", "c", "Z"), "unknown arm 'Z'"),
        (("restore", "c", "Z"), "unknown arm 'Z'"),
        (("distrust", "c", "Z"), "unknown arm 'Z'"),
    ],
)
def test_bad_input(words: tuple[str, ...], message: str) -> None:
    new()
    refused(2, message, *ARM, *words)


def test_the_last_arm_stays() -> None:
    new()
    run(*ARM, "pause", "c", "A")
    done = run(*ARM, "pause", "c", "B")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "'B'" in done.stderr
