from __future__ import annotations

import json

import pytest
from campaign_commands import LOGS, asked, new, refused, run, said, write_logs

pytestmark = pytest.mark.usefixtures("in_own_folder")


def test_list_has_all_campaigns() -> None:
    new("b")
    new("a")
    asked("b")
    run("campaign", "pause", "a")
    found = said("campaign", "list")["campaigns"]
    assert [(x["name"], x["decisions"], x["paused"]) for x in found] == [
        ("a", 0, True),
        ("b", 1, False),
    ]
    shown = run("campaign", "list").stdout.splitlines()
    assert [line.split()[0] for line in shown if "guarded-anchor-ts" in line] == ["a", "b"]
    refused(5, "there is no store 'no.db'", "campaign", "list", "--store", "sqlite:///no.db")


def test_show_has_logs_and_live_rewards_of_each_arm() -> None:
    write_logs()
    assert run("campaign", "create", "c", *LOGS).exit_code == 0
    made = asked()
    run("campaign", "tell", "c", made["id"], "1")
    arm = said("campaign", "show", "c")["arms"][made["arm"]]
    assert (arm["logs_n"], arm["logs_mean"]) == (60, pytest.approx(1 / 3))
    assert (arm["live_n"], arm["live_mean"], arm["pending"]) == (1, 1.0, 0)
    shown = run("campaign", "show", "c").stdout
    assert "c: 1 decision, 1 reward, 0 pending" in shown
    assert "promised: the mean of an arm has moved since the logs by at most V = 0.1" in shown
    assert "policy: noise " in shown


def test_check_has_exit_code_10_once_a_promise_is_broken() -> None:
    write_logs()
    words = ("--policy", "ts:noise=0.5", "--reward-kind", "binary", "--floor", "0.4")
    assert run("campaign", "create", "c", *LOGS, *words, "--seed", "1").exit_code == 0
    assert run("campaign", "show", "c", "--check").exit_code == 0
    made = said("campaign", "ask", "c", "-n", "400")["decisions"]
    text = "".join(f"{x['id']},{int(x['arm'] == 'A')}\n" for x in made)
    assert run("campaign", "tell", "c", "--file", "-", text=text).exit_code == 0
    done = run("campaign", "show", "c", "--check")
    assert done.exit_code == 10
    assert "'A'" in done.stdout
    status = json.loads(run("campaign", "show", "c", "--check", "--json").stdout)
    assert status["p_best"]["A"] > 0.99
    assert status["shift"]
    assert run("campaign", "show", "c").exit_code == 0


def test_show_says_what_is_not_plain() -> None:
    new("c", "--exposure", "report", "--sticky", "none", "--floor", "0.1")
    run("campaign", "epoch", "c")
    run("campaign", "pause", "c")
    shown = run("campaign", "show", "c").stdout
    assert "epoch 1, paused" in shown
    assert "only after 'expose' says that it was shown" in shown
    assert "a unit gets a new decision each time" in shown
    assert "smallest shares of decisions: A 10 %, B 10 %" in shown
    new("d", "--sticky", "campaign", "--reward-window", "90", "--late", "replace")
    shown = run("campaign", "show", "d").stdout
    assert "a unit always gets the same decision" in shown
    assert (
        "within 90 seconds after its decision was made; a decision without a reward does not count"
        in shown
    )
    assert "a later reward still counts" in shown
