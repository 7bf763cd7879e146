from __future__ import annotations

import json
from pathlib import Path

import pytest
from campaign_commands import LOGS, new, refused, run, said, write_logs

from driftanchor import Campaign

pytestmark = pytest.mark.usefixtures("in_own_folder")
NEW = ("campaign", "create", "c")


def test_from_logs() -> None:
    write_logs()
    done = run(*NEW, *LOGS, "--json", "--seed", "5")
    assert (done.exit_code, done.stderr) == (0, "created the store 'driftanchor.db'\n")
    status = json.loads(done.stdout)
    assert {label: arm["logs_n"] for label, arm in status["arms"].items()} == {"A": 60, "B": 60}
    campaign = Campaign.load("c")
    assert campaign.terms.bias_bounds.tolist() == [0.1, 0.1]
    assert campaign.terms.seed == 5
    campaign.close()


def test_people_see_what_was_agreed() -> None:
    write_logs()
    options = ("--reward-kind", "binary", "--reward-window", "7d", "--default-reward", "0")
    done = run(*NEW, *LOGS, *options, "--floor", "0.05", "--control", "A=0.2")
    assert "a reward may come within 7 days after its decision was made" in done.stdout
    assert "a decision without a reward counts as 0; a later reward does not count" in done.stdout
    assert "smallest shares of decisions: A 20 %, B 5 %; so at least 5 % go to arms" in done.stdout
    assert "policy: noise 0.5: half of the range of rewards" in done.stdout


def test_bounds_from_the_periods_of_the_logs() -> None:
    write_logs()
    weeks = ("--time", "at", "--by", "week")
    suggested = said("shift", *LOGS[:5], *weeks)["suggested_relative_bound"]
    done = run(*NEW, *LOGS[:5], *weeks, "--relative-bound", "auto")
    assert done.exit_code == 0
    assert "note: W = " in done.stderr
    campaign = Campaign.load("c")
    assert campaign.terms.relative_bounds.tolist() == [suggested] * 2
    campaign.close()


def test_from_saved_offline_data_and_a_plan() -> None:
    write_logs()
    assert run("logs", *LOGS[:5], "--save", "offline.json").exit_code == 0
    effort = ("--horizon", "30", "--worlds", "2", "--bias-bound-source", "guessed")
    plan = run("plan", "offline.json", "--relative-bound", "0.03", *effort, "--json")
    Path("plan.json").write_text(plan.stdout)
    assert run(*NEW, "offline.json", "--plan", "plan.json").exit_code == 0
    terms = Campaign.load("c").terms
    assert terms.relative_bounds.tolist() == [0.03, 0.03]
    assert (terms.policy.name, terms.policy.parameters()["budget"]) == ("guarded-anchor-ts", 8.0)
    refused(2, "--plan has the bounds", *NEW, *LOGS, "--plan", "plan.json")
    Path("plan.json").write_text('{"bias_bound": 1}')
    message = "'plan.json' is not what 'driftanchor plan --json' printed"
    refused(1, message, *NEW, "offline.json", "--plan", "plan.json")
    refused(2, "cannot read 'no.json'", *NEW, "offline.json", "--plan", "no.json")


def test_a_plan_against_the_logs_is_said() -> None:
    write_logs()
    plan = run("plan", *LOGS, "--horizon", "30", "--worlds", "2", "--json")
    told = json.loads(plan.stdout)
    Path("plan.json").write_text(json.dumps({**told, "decision": "go without"}))
    done = run(*NEW, *LOGS[:5], "--plan", "plan.json")
    assert done.exit_code == 0
    assert "warning: the plan advises not to use the logs" in done.stderr


def test_a_policy_with_parameters() -> None:
    assert run(*NEW, "--arms", "A,B", "--policy", "ucb:c=1.5").exit_code == 0
    assert Campaign.load("c").terms.policy.parameters()["c"] == 1.5
    Path("mine.py").write_text("from driftanchor import TS\nclass Mine(TS):\n    name = 'mine'\n")
    message = "is not one of this package: create a campaign with a policy of your own in Python"
    refused(2, message, "campaign", "create", "d", "--arms", "A", "--policy", "./mine.py:Mine")


def test_a_name_is_given_once_unless_the_same_is_loaded() -> None:
    new("c")
    same = ("--arms", "A,B", "--range", "0", "1")
    refused(4, "there is a campaign 'c' already", *NEW, *same)
    assert said(*NEW, *same, "--if-exists", "load")["name"] == "c"
    refused(4, "with another floor", *NEW, *same, "--if-exists", "load", "--floor", "0.1")


@pytest.mark.parametrize(
    ("code", "words", "message"),
    [
        (2, (), "give logs, or --arms with the labels"),
        (2, ("--arms", "A,A"), "'A'"),
        (2, ("--arms", "A,B", "--bias-bound", "1"), "--bias-bound is for logs, and no FILE"),
        (2, ("--arms", "A,B", "--reward", "won"), "--reward is for logs, and no FILE is given"),
        (2, LOGS[:5], "say how far its online mean may be from its offline mean"),
        (2, ("no.csv", *LOGS[1:]), "cannot read 'no.csv'"),
        (2, (*LOGS[:5], "--bias-bound", "auto"), "--bias-bound auto needs --by"),
        (2, (*LOGS, "--floor", "0.6"), "--floor is 0.6 and leaves nothing to decide"),
        (2, (*LOGS, "--floor", "x"), "--floor must be a number, got 'x'"),
        (2, (*LOGS, "--control", "Z=0.1"), "unknown arm 'Z'"),
        (2, (*LOGS, "--control", "0.1"), "--control must be arm=share, such as A=0.1"),
        (
            2,
            (*LOGS, "--default-reward", "0"),
            "--default-reward is 0 and --reward-window is missing",
        ),
        (
            2,
            (*LOGS, "--reward-window", "soon"),
            "--reward-window must be seconds, or a number with",
        ),
        (2, (*LOGS, "--reward-window", "0"), "--reward-window must be greater than 0, got 0"),
        (2, (*LOGS, "--reward-kind", "coin"), "unknown reward 'coin'"),
        (2, (*LOGS, "--late", "maybe"), "--late: unknown late 'maybe'"),
        (2, (*LOGS, "--sticky", "gum"), "--sticky: unknown sticky 'gum'"),
        (2, (*LOGS, "--exposure", "sun"), "--exposure: unknown exposure 'sun'"),
        (2, (*LOGS, "--on-alarm", "run"), "--on-alarm: unknown on_alarm 'run'"),
        (2, (*LOGS, "--if-exists", "no"), "--if-exists: unknown if_exists 'no'"),
        (2, (*LOGS, "--matters", "-1"), "--matters must be greater than 0, got -1"),
        (2, (*LOGS, "--seed", "-1"), "--seed must be at least 0, got -1"),
        (2, (*LOGS, "--policy", "tss"), "unknown policy 'tss'"),
        (
            2,
            (*LOGS, "--store", "mysql://x"),
            "must be a file such as 'bandit.db', or an address such as",
        ),
        (2, (*LOGS, "--store", "sqlite://"), "--store must name a file"),
        (5, (*LOGS, "--store", "sqlite:///no/such/a.db"), "no/such' does not exist: make it"),
        (5, (*LOGS, "--store", "sqlite:////proc/a.db"), "check that the folder can be written"),
        (5, (*LOGS, "--store", "sqlite:///logs.csv"), "the file is no SQLite database"),
    ],
)
def test_bad_input(code: int, words: tuple[str, ...], message: str) -> None:
    write_logs()
    refused(code, message, *NEW, *words)
    assert {file.name for file in Path().iterdir()} <= {"logs.csv", "logs.csv-lock"}


def test_the_store_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTANCHOR_STORE", "sqlite:///mine.db")
    new("c")
    assert Path("mine.db").exists()
    assert said("campaign", "list")["campaigns"][0]["name"] == "c"
    assert not Path("driftanchor.db").exists()


@pytest.mark.filterwarnings("default")
def test_equal_arms_of_two_files_with_other_splits_are_no_winners() -> None:
    """Both ads have rates of 10 % in one file and 50 % in the other."""
    for name, rate, shares in (("one", 1, (900, 100)), ("two", 5, (100, 900))):
        rows = [
            f"{ad},{int(i % 10 < rate)}"
            for ad, n in zip("AB", shares, strict=True)
            for i in range(n)
        ]
        Path(f"{name}.csv").write_text("\n".join(["ad,won", *rows]) + "\n")
    logs = ("one.csv", "two.csv", "--arm", "ad", "--reward", "won")
    done = run(*NEW, *logs, "--relative-bound", "0.01", "--json")
    assert done.exit_code == 0, done.stderr
    assert "warning: pooled over all rows, 'B' has the mean 0.46 and 'A' 0.14; " in done.stderr
    assert "note: arms are compared within files (2 in all), because" in done.stderr
    status = json.loads(done.stdout)
    assert status["p_best"]["B"] == pytest.approx(0.5, abs=0.01)
    assert [arm["logs_mean"] for arm in status["arms"].values()] == pytest.approx([0.3, 0.3])
    shown = run("campaign", "show", "c").stdout
    assert "logs: arms are compared within files (2 in all), because the arms' shares" in shown
    plan = said("plan", *logs, "--relative-bound", "0.01", "--horizon", "30", "--worlds", "2")
    assert plan["provenance"]["strata"]["used"] == "stratified"


@pytest.mark.filterwarnings("ignore:pooled over all rows")
def test_arms_are_compared_within_a_column() -> None:
    rows = [
        f"{ad},{land},{int(i % 10 < rate)}"
        for land, rate, shares in (("DE", 1, (900, 100)), ("FR", 5, (100, 900)))
        for ad, n in zip("AB", shares, strict=True)
        for i in range(n)
    ]
    Path("logs.csv").write_text("\n".join(["ad,land,won", *rows]) + "\n")
    done = run(*NEW, *LOGS, "--by", "land", "--json", "--quiet")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["p_best"]["B"] == pytest.approx(0.5, abs=0.01)
    plan = run("plan", *LOGS, "--horizon", "30", "--worlds", "2", "--by", "land", "--json")
    Path("plan.json").write_text(plan.stdout)
    assert (
        run("campaign", "create", "d", *LOGS[:5], "--by", "land", "--plan", "plan.json").exit_code
        == 0
    )
    assert Campaign.load("d").terms.offline.mean.tolist() == pytest.approx([0.3, 0.3])
    run("logs", *LOGS[:5], "--save", "offline.json")
    refused(2, "--by is for logs", *NEW, "offline.json", "--bias-bound", "0.1", "--by", "land")
