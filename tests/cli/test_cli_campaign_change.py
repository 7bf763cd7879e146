from __future__ import annotations

import pytest
from campaign_commands import LOGS, asked, new, refused, run, said, write_logs

pytestmark = pytest.mark.usefixtures("in_own_folder")
CHANGE = ("campaign", "change", "c", "--reason", "orders take 3 days")


def test_the_window_and_the_default_change_for_new_decisions() -> None:
    new("c", "--reward-window", "2d", "--default-reward", "0")
    before = asked()
    done = said(*CHANGE, "--reward-window", "7d", "--default-reward", "0.5")
    assert done["settings"]["reward_window"] == 7 * 86_400
    assert done["changes"][0]["reason"] == "orders take 3 days"
    after = asked()
    assert after["due"] - before["due"] > 4 * 86_400
    shown = run("campaign", "show", "c").stdout
    assert "reward window from 2 days to 7 days, default reward from 0 to 0.5" in shown
    assert "because: orders take 3 days" in shown
    assert (
        said(*CHANGE, "--reward-window", "none", "--default-reward", "none")["settings"][
            "reward_window"
        ]
        is None
    )
    assert run("campaign", "verify", "c").exit_code == 0


def test_floors_bounds_and_limits_change() -> None:
    write_logs()
    assert run("campaign", "create", "c", *LOGS, "--control", "A=0.2").exit_code == 0
    words = ("--floor", "0.05", "--control", "none", "--bias-bound", "A=0.2,B=inf")
    settings = said(*CHANGE, *words, "--allow-outside")["settings"]
    assert (settings["floor"], settings["control"], settings["allow_outside"]) == (0.05, {}, True)
    assert not said(*CHANGE, "--refuse-outside")["settings"]["allow_outside"]
    assert "V = 0.2 (A), inf (B)" in run("campaign", "show", "c").stdout


def test_a_change_that_changes_nothing_says_so() -> None:
    new("c", "--reward-window", "2d", "--default-reward", "0")
    assert "reward window from 2 days to 7 days" in run(*CHANGE, "--reward-window", "7d").stderr
    for words in (("--reward-window", "7d"), ("--default-reward", "0")):
        assert "nothing changed" in run(*CHANGE, *words).stderr
    assert len(said(*CHANGE, "--reward-window", "7d")["changes"]) == 1


def test_wrong_changes_are_refused() -> None:
    new()
    refused(2, "nothing to change: give an option such as --reward-window", *CHANGE)
    refused(2, "reason must be printable text", *CHANGE[:-1], " ", "--floor", "0.1")
    refused(2, "--reward-window must be seconds", *CHANGE, "--reward-window", "soon")
    refused(2, "--floor is 0.9 and leaves nothing", *CHANGE, "--floor", "0.9")
    refused(2, "--control must be arm=share", *CHANGE, "--control", "0.1")
    refused(2, "--bias-bound must be a number here", *CHANGE, "--bias-bound", "auto")
    refused(
        3, "there is no campaign 'd'", "campaign", "change", "d", "--reason", "x", "--floor", "0"
    )
    assert run("campaign", "change", "c", "--floor", "0.1").exit_code == 2
    assert said("campaign", "show", "c")["changes"] == []


def test_check_has_exit_code_10_where_rewards_come_too_late() -> None:
    new("c", "--reward-window", "0.001s", "--default-reward", "0")
    made = said("campaign", "ask", "c", "-n", "20")["decisions"]
    lines = "".join(f"{x['id']},1\n" for x in made)
    assert said("campaign", "tell", "c", "--file", "-", text=lines)["counts"] == {"late": 20}
    done = run("campaign", "show", "c", "--check")
    assert (done.exit_code, "20 of the last 20 reported rewards came after" in done.stdout) == (
        10,
        True,
    )


def test_create_says_that_rewards_are_binary() -> None:
    write_logs()
    done = run("campaign", "create", "c", *LOGS)
    assert "agreed: a reward is 0 or 1" in done.stdout
    assert "because all logged rewards are" in done.stdout
    refused(2, "reward must be", "campaign", "tell", "c", asked()["id"], "7")
    assert run("campaign", "create", "d", *LOGS, "--reward-kind", "number").exit_code == 0
    assert said("campaign", "tell", "d", asked("d")["id"], "7")["status"] == "recorded"
