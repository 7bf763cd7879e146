from __future__ import annotations

import pytest
from campaign_commands import asked, new, refused, run, said

pytestmark = pytest.mark.usefixtures("in_own_folder")


def test_a_unit_gets_the_same_decision_until_its_reward_came() -> None:
    new()
    first = asked("c", "--unit", "u")
    again = asked("c", "--unit", "u")
    assert first["replayed"] is False
    assert again == {**first, "replayed": True}
    assert first["propensity"] == pytest.approx(0.5)
    assert run("campaign", "tell", "c", first["id"], "1").exit_code == 0
    assert asked("c", "--unit", "u")["id"] != first["id"]


def test_an_excluded_arm_gives_a_new_decision_and_says_so() -> None:
    new()
    first = asked("c", "--unit", "u")
    other = asked("c", "--unit", "u", "--exclude", first["arm"])
    assert other["arm"] != first["arm"]
    assert other["note"] == f"the arm of the decision before, {first['arm']!r}, is excluded"
    assert other["note"] in run(
        "campaign", "ask", "c", "--unit", "u", "--exclude", other["arm"]
    ).stdout.replace(first["arm"], "X").replace(other["arm"], first["arm"]).replace(
        "X", other["arm"]
    )


def test_several_at_once_and_a_look_that_keeps_nothing() -> None:
    new()
    many = said("campaign", "ask", "c", "-n", "3")["decisions"]
    assert [x["number"] for x in many] == [1, 2, 3]
    look = asked("c", "--peek")
    assert (look["id"], look["number"]) == (None, 4)
    assert said("campaign", "show", "c")["decisions"] == 3
    assert look["arm"] == asked("c")["arm"]


def test_a_key_makes_a_request_safe_to_repeat() -> None:
    new()
    first = said("campaign", "ask", "c", "-n", "2", "--key", "k")
    again = said("campaign", "ask", "c", "-n", "2", "--key", "k")
    assert [x["id"] for x in again["decisions"]] == [x["id"] for x in first["decisions"]]


def test_people_see_a_table() -> None:
    new()
    made = asked("c", "--unit", "u")
    shown = run("campaign", "ask", "c", "--unit", "u").stdout
    assert made["id"] in shown
    assert "replayed" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--exclude", "Z"), "unknown arm 'Z'"),
        (("--exclude", "A", "--exclude", "B"), "no arm"),
        (("-n", "0"), "n must be between 1 and 1000, got 0"),
        (("-n", "x"), "--number must be a number, got 'x'"),
        (("-n", "2", "--unit", "u"), "a unit has one decision at a time"),
        (("-n", "2", "--peek"), "peek"),
        (("--unit", "a\nb"), "--unit must be printable text of 1 to 256 characters"),
        (("--unit", "x" * 257), "--unit must be printable text of 1 to 256 characters"),
        (("--unit", ""), "--unit is empty"),
    ],
)
def test_bad_input(words: tuple[str, ...], message: str) -> None:
    new()
    refused(2, message, "campaign", "ask", "c", *words)
    assert said("campaign", "show", "c")["decisions"] == 0


def test_a_paused_campaign_is_a_conflict() -> None:
    new()
    made = asked("c", "--unit", "u")
    run("campaign", "pause", "c")
    refused(4, "campaign 'c' is paused and makes no new decisions", "campaign", "ask", "c")
    assert asked("c", "--unit", "u")["id"] == made["id"]


def test_exposure_is_reported() -> None:
    new("c", "--exposure", "report")
    made = asked()
    assert said("campaign", "show", "c")["pending"] == 0
    assert said("campaign", "expose", "c", made["id"])["status"] == "recorded"
    assert said("campaign", "expose", "c", made["id"])["status"] == "replayed"
    assert said("campaign", "show", "c")["pending"] == 1
    done = run("campaign", "expose", "c", made["id"])
    assert done.stderr == f"replayed: {made['arm']} was shown\n"
