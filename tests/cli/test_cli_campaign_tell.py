from __future__ import annotations

import json
from pathlib import Path

import pytest
from campaign_commands import asked, new, refused, run, said

pytestmark = pytest.mark.usefixtures("in_own_folder")


def test_one_reward_counts_once() -> None:
    new()
    made = asked()
    assert said("campaign", "tell", "c", made["id"], "1")["status"] == "recorded"
    assert said("campaign", "tell", "c", made["id"], "1")["status"] == "replayed"
    done = run("campaign", "tell", "c", made["id"], "1")
    assert done.stderr == f"replayed: 1 counts for arm {made['arm']!r}\n"
    message = "already has the reward 1.0; got 0.0: a decision has one reward"
    refused(4, message, "campaign", "tell", "c", made["id"], "0")
    assert said("campaign", "show", "c")["rewards"] == 1


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        ("nan", "reward must be a number, got nan"),
        ("inf", "reward must be"),
        ("2", "reward must be between 0 and 1, got 2"),
        ("yes", "the reward must be a number, got 'yes'"),
        ("true", "the reward must be a number, got 'true'"),
        ("", "REWARD"),
    ],
)
def test_bad_rewards(reward: str, message: str) -> None:
    new()
    refused(2, message, "campaign", "tell", "c", asked()["id"], reward)
    assert said("campaign", "show", "c")["rewards"] == 0


def test_one_or_a_file_must_be_given() -> None:
    new()
    refused(2, "give a decision and its reward, or a --file", "campaign", "tell", "c")
    refused(2, "give a decision and its reward, or a --file", "campaign", "tell", "c", "a")
    refused(2, "give either --file or a decision", "campaign", "tell", "c", "a", "1", "--file", "-")
    refused(2, "--file cannot read 'no.csv': No such", "campaign", "tell", "c", "--file", "no.csv")


def test_a_file_of_rewards_counts_line_by_line() -> None:
    new()
    ids = [x["id"] for x in said("campaign", "ask", "c", "-n", "4")["decisions"]]
    lines = [
        "decision,reward",
        f"{ids[0]},1",
        "",
        f'"{ids[1]}", 0.5',
        f"{ids[0]},1",
        f"{ids[0]},0",
        f"{ids[2]},nan",
        f"{ids[2]},high",
        f"{ids[2]}",
        "0123,1",
        f"{ids[3]},2",
    ]
    Path("rewards.csv").write_text("\n".join(lines) + "\n")
    done = run("campaign", "tell", "c", "--file", "rewards.csv", "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1] == "error: 6 of 9 lines refused"
    assert found["counts"] == {"recorded": 2, "replayed": 1, "refused": 6}
    assert [x["line"] for x in found["results"]] == [2, 4, 5, 6, 7, 8, 9, 10, 11]
    assert [x.get("code") for x in found["results"]] == [None, None, None, 4, 2, 2, 2, 3, 2]
    status = said("campaign", "show", "c")
    assert (status["rewards"], status["pending"]) == (2, 2)
    done = run("campaign", "tell", "c", "--file", "rewards.csv")
    assert "line 7: reward must be a number, got nan" in done.stdout
    assert "9 lines: 6 refused, 3 replayed" in done.stderr


def test_stdin_may_have_thousands_of_lines_and_no_text_at_all() -> None:
    new()
    ids = [x["id"] for x in said("campaign", "ask", "c", "-n", "1000")["decisions"]]
    text = "".join(f"{each},1\n" for each in ids)
    found = said("campaign", "tell", "c", "--file", "-", text="id,reward\n" + text)
    assert found["counts"] == {"recorded": 1_000}
    Path("junk").write_bytes(b"\xff\xfe,1\n\x00\x00,1\n" + b"x" * 5_000 + b",1\n")
    done = run("campaign", "tell", "c", "--file", "junk")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1] == "error: 3 of 3 lines refused"
    assert said("campaign", "tell", "c", "--file", "-", text="")["counts"] == {}


def test_a_late_reward_is_said() -> None:
    new("c", "--reward-window", "0.000001", "--default-reward", "0")
    made = asked()
    found = said("campaign", "tell", "c", made["id"], "1")
    assert (found["status"], found["reward"]) == ("late", 0.0)
    status = said("campaign", "show", "c")
    assert (status["rewards"], status["late"]) == (1, 1)


def test_a_reward_is_corrected_by_naming_the_old_one() -> None:
    new()
    made = asked()
    run("campaign", "tell", "c", made["id"], "1")
    words = ("campaign", "correct", "c", made["id"])
    refused(4, "has the reward 1.0, not 0.5", *words, "--from", "0.5", "--to", "0")
    done = said(*words, "--from", "1", "--to", "0", "--reason", "refund")
    assert (done["status"], done["reward"]) == ("corrected", 0.0)
    assert said(*words, "--from", "1", "--to", "0")["status"] == "replayed"
    assert "replayed: 0 counts for arm" in run(*words, "--from", "1", "--to", "0").stderr
    refused(3, "has no decision", "campaign", "correct", "c", "nobody", "--from", "1", "--to", "0")
    refused(2, "--to must be a number", *words, "--from", "1", "--to", "zero")
    assert said("campaign", "show", "c")["arms"][made["arm"]]["live_mean"] == 0.0
    assert run("campaign", "verify", "c").exit_code == 0


def test_a_reward_far_outside_the_logs_needs_an_option() -> None:
    rows = [f"{'AB'[i % 2]},{i % 30}" for i in range(1_000)]
    Path("paid.csv").write_text("\n".join(["ad,paid", *rows]) + "\n")
    logs = ("paid.csv", "--arm", "ad", "--reward", "paid", "--bias-bound", "1")
    assert run("campaign", "create", "c", *logs).exit_code == 0
    made = asked()
    words = ("campaign", "tell", "c", made["id"], "51200000000.30")
    refused(2, "far outside the logged rewards, which are from 0 to 29", *words)
    refused(2, "report it with --allow-outside if it is right", *words)
    lines = run("campaign", "tell", "c", "--file", "-", text=f"{made['id']},1e9\n")
    assert (lines.exit_code, "far outside the logged rewards" in lines.stdout) == (1, True)
    assert said(*words, "--allow-outside")["status"] == "recorded"
    assert run("campaign", "create", "d", *logs, "--allow-outside").exit_code == 0
    assert said("campaign", "tell", "d", asked("d")["id"], "1e9")["status"] == "recorded"
