"""`driftanchor plan` and `driftanchor replay`."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path

import pytest
from command_lines import replacing
from typer.testing import CliRunner, Result

from driftanchor import OfflineData
from driftanchor.cli.main import app
from driftanchor.live.campaigns.campaign import Campaign

EVENTS = ("--arm", "ad", "--reward", "won")
SMALL = ("--horizon", "30", "--worlds", "3")
PLAN = ("logs.csv", *EVENTS, *SMALL, "--bias-bound", "0.1")
REPLAY = ("logs.csv", *EVENTS, *SMALL, "--time", "at", "--split", "2026-01-16")


@pytest.fixture(autouse=True)
def _beside_the_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"2026-01-{1 + i // 4:02},{'AB'[i % 2]},{int(i % 3 == 0)}" for i in range(120)]
    Path("logs.csv").write_text("\n".join(["at,ad,won", *rows]) + "\n")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, replacing(*arguments))


def test_plan_says_the_verdict_first_and_then_the_tables() -> None:
    done = run("plan", *PLAN, "--page", "plan.html")
    *parts, wrote = done.stderr.splitlines()
    assert (done.exit_code, wrote) == (0, f"wrote {Path('plan.html').resolve()}")
    early = [line for line in parts if " runs done after " not in line]
    assert early[0].startswith("ts without the logs: loses ")
    assert early[-1].startswith("guarded-anchor-ts with the logs: loses ")
    verdict, _, rest = done.stdout.partition("\n\n")
    sentences = verdict.splitlines()
    assert sentences[0].startswith(("Use the logs, with ", "Do not use the logs: "))
    assert len(sentences) > 1
    title, *lines = rest.splitlines()
    assert title.startswith("Rewards lost in 30 decisions, and the difference from guarded-")
    heads = [line.split()[0] for line in lines if line.split()]
    rules = {"hybrid-ts", "log-best", "hierarchical-ts", "min-ucb", "anchor-ts"}
    assert {"ts", "guarded-anchor-ts", *rules} <= set(heads)
    page = Path("plan.html").read_text()
    *said, command = sentences
    assert command.startswith("Run instead: ")
    assert all(sentence in page for sentence in said)


def test_do_not_use_the_logs_prints_the_command_to_run_instead() -> None:
    """It creates a campaign with the policy of the baseline: noise and prior mean of the logs."""
    options = ("--bias-bound", "0.9", "--bias-bound-source", "guessed", "--where", "at > '2026'")
    done = run("plan", *PLAN[:-2], *options, "--quiet")
    assert done.stdout.startswith("Do not use the logs: ")
    (line,) = [x for x in done.stdout.splitlines() if x.startswith("Run instead: ")]
    words = shlex.split(line.removeprefix("Run instead: "))
    assert words[:5] == ["driftanchor", "campaign", "create", "logs", "logs.csv"]
    told = json.loads(run("plan", *PLAN[:-2], *options, "--json").stdout)
    assert shlex.split(told["run_instead"]) == words
    created = run(*words[1:], "--store", "new.db", "--json")
    assert created.exit_code == 0, created.output
    with Campaign.load("logs", store="new.db") as campaign:
        terms = campaign.terms
    baseline = {"policy": terms.policy.name, "logs": False, **terms.policy.parameters()}
    assert told["parameters"][told["baseline"]] == baseline
    assert set(terms.bias_bounds) == {math.inf}
    assert terms.offline.n.tolist() == [60, 60]


def test_no_command_is_printed_where_the_logs_are_to_be_used() -> None:
    logs = OfflineData.from_summary({"A": (9000, 0.5, 0.25), "B": (9000, 0.2, 0.16)})
    Path("good.json").write_text(json.dumps(logs.to_json()))
    options = ("good.json", "--bias-bound", "0.01", "--horizon", "500", "--worlds", "10")
    shown = run("plan", *options, "--quiet").stdout
    assert shown.startswith("Use the logs, with ")
    assert "Run instead: " not in shown
    assert "run_instead" not in json.loads(run("plan", *options, "--json").stdout)


def test_plan_json() -> None:
    done = run("plan", *PLAN, "--json", "--seed", "7", "--law", "gaussian")
    told = json.loads(done.stdout)
    assert {"verdict", "policies", "break_even_shift"} <= set(told)
    assert (told["seed"], told["horizon"], told["worlds"]) == (7, 30, 3)
    assert told["law"]["name"] == "gaussian"
    assert told["provenance"]["rows_read"] == 120


def test_a_plan_from_saved_offline_data_is_the_same() -> None:
    assert run("logs", "logs.csv", *EVENTS, "--save", "offline.json").exit_code == 0
    saved = run("plan", "offline.json", "--bias-bound", "0.1", *SMALL, "--json")
    assert saved.exit_code == 0
    direct = json.loads(run("plan", *PLAN, "--json").stdout)
    for told in (direct, again := json.loads(saved.stdout)):
        told["provenance"].pop("read_at")
        assert told.pop("run_instead").endswith(" --bias-bound inf")
    assert again == direct


def test_a_bound_for_each_arm() -> None:
    for text in ("0.1,0.2", "B=0.2, A=0.1"):
        told = json.loads(run("plan", *PLAN[:-1], text, "--json").stdout)
        assert told["bias_bound"] == {"A": 0.1, "B": 0.2}


def test_a_relative_bound_needs_no_bias_bound() -> None:
    told = json.loads(run("plan", *PLAN[:-2], "--relative-bound", "A=0.1,B=0.2", "--json").stdout)
    assert told["bias_bound"] is None
    assert told["relative_bound"] == {"A": 0.1, "B": 0.2}
    assert told["best_policy"] in told["policies"]
    for numbers in told["policies"].values():
        assert {"mean", "median", "q95", "saved"} <= set(numbers)


def test_auto_takes_what_shift_suggests() -> None:
    weeks = ("--time", "at", "--by", "week")
    suggested = json.loads(run("shift", "logs.csv", *EVENTS, *weeks, "--json").stdout)
    for names in (("relative",), ("bias",), ("relative", "bias")):
        options = [x for name in names for x in (f"--{name}-bound", "auto")]
        told = json.loads(run("plan", *PLAN[:-2], *options, *weeks, "--json").stdout)
        for name in names:
            bound = suggested[f"suggested_{name}_bound"]
            assert told[f"{name}_bound"] == {"A": bound, "B": bound}
        assert any("estimated from 5 periods of the logs" in note for note in told["notes"])
        shown = run("plan", *PLAN[:-2], *options, *weeks, "--quiet")
        assert f"note: {told['notes'][0]}" in shown.stdout


def test_replay_takes_auto_from_the_part_before_the_split() -> None:
    weeks = ("--time", "at", "--by", "week")
    part = ("--until", "2026-01-16")
    suggested = json.loads(run("shift", "logs.csv", *EVENTS, *weeks, *part, "--json").stdout)
    options = ("--relative-bound", "auto", "--by", "week")
    told = json.loads(run("replay", *REPLAY, *options, "--json").stdout)
    bound = suggested["suggested_relative_bound"]
    assert told["relative_bound"] == {"A": bound, "B": bound}
    assert told["bias_bound"] is None
    assert told["held"] == {"relative_bound": "yes"}
    assert "W held: arms did not move further apart" in told["notes"]


def test_replay() -> None:
    done = run("replay", *REPLAY, "--page", "replay.html", "--quiet")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("The logs would ")
    assert "note: rewards are drawn as coins with the rates seen after the split" in done.stdout
    assert "How far the means moved" in Path("replay.html").read_text()
    told = json.loads(run("replay", *REPLAY, "--json", "--bias-bound", "0.3").stdout)
    assert told["declared"] is True
    assert set(told["shifts"]) == {"A", "B"}


def test_replay_by_a_filter_needs_no_time() -> None:
    split = ("--split", "at >= '2026-01-16'")
    told = json.loads(run("replay", "logs.csv", *EVENTS, *SMALL, *split, "--json").stdout)
    assert told["split"] == "at >= '2026-01-16'"
    by_date = json.loads(run("replay", *REPLAY, "--json").stdout)
    assert told["shifts"] == by_date["shifts"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", *PLAN[:-2]), "Missing option '--bias-bound' or '--relative-bound'"),
        (("plan", *PLAN, "--relative-bound", "-1"), "--relative-bound of arm 'A' must be at least"),
        (("plan", *PLAN, "--relative-bound", "x"), "--relative-bound must be a number, got 'x'"),
        (("plan", *PLAN, "--relative-bound", "auto"), "--relative-bound auto needs --by"),
        (("plan", *PLAN, "--relative-bound", "Auto"), "--relative-bound auto needs --by"),
        (("plan", *PLAN, "--by", "week"), "--by is 'week', and there is neither time"),
        (
            ("plan", *PLAN, "--relative-bound", "auto", "--by", "week"),
            "--by is 'week', and there is neither time nor a column of that name",
        ),
        (
            ("plan", *PLAN[:-2], "--bias-bound", "auto", "--by", "month", "--time", "at"),
            "--bias-bound is to be taken from the logs, and they do not show how far arms move: no",
        ),
        (
            ("plan", "a.json", *SMALL, "--bias-bound", "auto"),
            "--bias-bound auto needs the logs themselves, with --arm and --by",
        ),
        (("replay", *REPLAY, "--bias-bound", "auto"), "--bias-bound auto needs --by"),
        (("plan", "logs.csv", *EVENTS, "--bias-bound", "0.1"), "Missing option '--horizon'"),
        (("plan", *PLAN, "--horizon", "0"), "--horizon must be at least 1, got 0"),
        (("plan", *PLAN, "--horizon", "ten"), "--horizon must be a number, got 'ten'"),
        (("plan", *PLAN, "--bias-bound", "-1"), "--bias-bound of arm 'A' must be at least 0"),
        (
            ("plan", *PLAN, "--bias-bound", "inf"),
            "--bias-bound must be finite for at least one arm",
        ),
        (("plan", *PLAN, "--bias-bound", "A=0.1,Z=1"), "--bias-bound: unknown arm 'Z'"),
        (("plan", *PLAN, "--bias-bound", "A=0.1"), "--bias-bound has no number for arm 'B': give"),
        (("plan", *PLAN, "--reward", "one"), "--reward: 'logs.csv' has no column 'one'"),
        (("plan", *PLAN, "--arm", "add"), "did you mean 'ad'?"),
        (("plan", *PLAN, "--arms", "A"), "the logs have one arm only, 'A'"),
        (("plan", *PLAN, "--worlds", "1"), "--worlds must be between 2 and 1e+06, got 1"),
        (("plan", *PLAN, "--law", "coin"), "--law: unknown law 'coin'"),
        (("plan", *PLAN, "--page", "no/p.html"), "--page cannot write 'no/p.html'"),
        (("plan", *PLAN, "--page", "p.pdf"), "--page must end in .html, .htm, got 'p.pdf'"),
        (("plan", "none.csv", *PLAN[1:]), "cannot read 'none.csv': No such file"),
        (("plan", "logs.csv", *PLAN[5:]), "--arm is missing: name the column of the arms"),
        (("plan", "none.json", *PLAN[5:]), "cannot read 'none.json'"),
        (("plan", "a.json", *PLAN[3:]), "--reward is for logs and --arm is missing"),
        (
            ("replay", *REPLAY, "--split", "2027-01-01"),
            "--split 2027-01-01T00:00:00Z leaves nothing on one side",
        ),
        (("replay", *REPLAY, "--split", "soon"), "--split must be a date or time such as"),
        (
            ("replay", *REPLAY, "--split", "add = 'C'"),
            "--split: 'logs.csv' has no column 'add'",
        ),
        (("replay", *REPLAY, "--split", "ad = 'C'"), "matches none of the 120 rewards"),
        (("replay", *REPLAY, "--split", "ad != 'C'"), "matches all 120 rewards"),
        (("replay", *REPLAY[:9], *REPLAY[11:]), "--time is missing: name the column"),
        (
            ("replay", *REPLAY, "--time", "att"),
            "--time: 'logs.csv' has no column 'att'; did you mean 'at'?",
        ),
        (("replay", *REPLAY[:-2]), "Missing option '--split'"),
        (("plan", *PLAN, "--bias-bound-source", "x"), "--bias-bound-source: unknown bias_bound_"),
        (("plan", *PLAN, "--seed", "-1"), "--seed must be at least 0, got -1"),
        (("replay", *REPLAY, "--page", "no/p.html"), "--page cannot write 'no/p.html'"),
    ],
)
@pytest.mark.filterwarnings("ignore:the logs have one arm only")
def test_bad_input(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", "").split())
    assert done.stdout == ""
    assert [file.name for file in Path().iterdir()] == ["logs.csv"]


@pytest.mark.filterwarnings("always:the logs have one arm only")
def test_logs_that_are_read_twice_are_warned_of_once() -> None:
    done = run(
        *("plan", *PLAN[:-2], "--arms", "A", "--bias-bound", "auto", "--by", "week", "--time", "at")
    )
    assert done.exit_code == 2
    assert done.stderr.count("warning: the logs have one arm only") == 1


def test_damaged_offline_data_are_told() -> None:
    Path("a.json").write_text('{"kind": "driftanchor/learner", "version": 1}')
    done = run("plan", "a.json", "--bias-bound", "0.1", *SMALL)
    assert done.exit_code == 1
    assert done.stderr.startswith("error: 'a.json': not a driftanchor offline-data record")


def test_no_offline_json_says_more_than_the_logs() -> None:
    summary = OfflineData.from_summary({"A": (9, 0.5), "B": (9, 0.4)})
    Path("a.json").write_text(json.dumps(summary.to_json()))
    done = run("plan", "a.json", "--bias-bound", "0.1", *SMALL)
    assert done.exit_code == 2
    assert "the logs have no variances" in done.stderr
    done = run("plan", "a.json", "--bias-bound", "0.1", *SMALL, "--law", "bernoulli", "--json")
    assert done.exit_code == 0
    assert math.isfinite(json.loads(done.stdout)["break_even_shift"])


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        ("A=0.1,A=0.2,B=1", "--bias-bound has arm 'A' twice: 'A=0.1,A=0.2,B=1'"),
        ("1e308", "of arm 'A' must be at most 1e+90, got 1e+308"),
    ],
)
def test_a_bound_that_cannot_be_meant_is_refused(bound: str, message: str) -> None:
    done = run("plan", "logs.csv", *EVENTS, *SMALL, "--bias-bound", bound, "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
