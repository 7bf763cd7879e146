"""The command as a whole, on the paper's files at a tiny size."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import driftanchor
from driftanchor.cli.main import app
from driftanchor.experiments import claims, judging, selection, spec, tail
from driftanchor.simulation.result import STATISTICS

SMALL = (Path(__file__).parent / "small.toml").read_text(encoding="utf-8")
TINY = ("--runs", "3", "--horizon", "40")
ONE = "fig1/gap=0.3/coverage=uniform"
pytestmark = pytest.mark.usefixtures("little_drawn")


@pytest.fixture(autouse=True)
def _inside_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["reproduce", *arguments])


def said(*arguments: str) -> Any:
    done = invoke("--json", *arguments)
    assert done.exit_code == 0, done.stderr

    def refuse(token: str) -> None:
        raise AssertionError(f"{token} is not JSON")

    return json.loads(done.stdout, parse_constant=refuse)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, little_drawn: None) -> tuple[Path, Result]:
    """Figure 1 at a tiny size, and what the command said."""
    out = tmp_path_factory.mktemp("fig1") / "out"
    done = invoke("fig1", *TINY, "--out", str(out))
    assert done.exit_code == 0, done.stderr
    return out, done


@pytest.fixture(scope="module")
def fig1(whole: tuple[Path, Result]) -> Path:
    return whole[0]


@pytest.fixture
def out(fig1: Path, tmp_path: Path) -> Path:
    """A folder that holds the cells of figure 1 and nothing else."""
    shutil.copytree(fig1 / "cells", tmp_path / "out" / "cells")
    return tmp_path / "out"


COIN = """
title = "A coin"
policies = ["ts"]
horizon = 5
runs = 2
most_runs = 2_000
checkpoints = 1
figure = "versus"
engine = "interpreted"
[[sweep]]
fixed = { arms = 2 }
vary.gap = [0.3]
[[claim]]
id = "coin"
says = "A regret is below itself."
statistic = "median"
holds = ["ts < 1*ts"]
"""


def test_claims_about_quantiles_are_judged_eight_times_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each look has an eighth of the error. Doubling 2 runs up to 2,000 would take eleven."""
    looks: list[int] = []
    judge = judging.judge

    def counted(told: Any, outcomes: Any, cells: Any) -> list[judging.JudgedClaim]:
        judged = judge(told, outcomes, cells)
        looks.extend(one.findings[0].runs for one in judged)
        return judged

    monkeypatch.setattr(judging, "judge", counted)
    Path("coin.toml").write_text(COIN, encoding="utf-8")
    (claim,) = said("coin.toml")["claims"]
    assert claim["verdict"] == "inconclusive"
    assert looks == sorted(set(looks))
    assert (len(looks), looks[0], looks[-1]) == (judging.LOOKS, 2, 2_000)


def test_json_has_cells_claims_and_where_the_report_is(out: Path) -> None:
    told = said("fig1", *TINY)
    assert [cell["id"] for cell in told["cells"]] == [cell.id for cell in spec.load("fig1").cells]
    for cell in told["cells"]:
        assert set(cell["policies"]) == {
            "ts",
            "ucb",
            "hybrid-ts",
            "hybrid-ucb",
            "min-ucb",
            "anchor-ts",
        }
        for numbers in cell["policies"].values():
            assert list(numbers) == [*STATISTICS, *tail.STATISTICS, "runs"]
    for claim in told["claims"]:
        assert claim["verdict"] in judging.VERDICTS
        assert len(claim["interval"]) == 2
    assert {claim["id"] for claim in told["claims"]} >= {"unbiased-logs-help", "ts-beats-ucb"}
    assert (told["seed"], told["version"], told["quick"]) == (0, driftanchor.__version__, False)
    assert told["report"] == "out/report.html"
    assert (out / "report.html").is_file()


@pytest.mark.usefixtures("out")
def test_claims_are_judged_only_when_all_their_cells_ran(fig1: Path) -> None:
    told = json.loads((fig1 / "claims.json").read_text(encoding="utf-8"))
    judged = {claim["id"] for claim in told["claims"]}
    assert "never-worse-than-ts-with-valid-v" not in judged  # it needs fig2 too
    assert judged | set(told["left_out"]) == {claim.id for claim in claims.paper_claims()}
    part = said("fig1", *TINY, "--only", "fig1/gap=0.3/*")
    assert [cell["id"] for cell in part["cells"]] == [
        f"fig1/gap=0.3/coverage={coverage}" for coverage in ("uniform", "optimal", "suboptimal")
    ]
    assert {claim["id"] for claim in part["claims"]} == {
        "hybrid-zero-regret",
        "anchor-small-constant",
    }


@pytest.mark.usefixtures("out")
def test_it_ends_with_the_verdicts_and_the_path_of_the_report(whole: tuple[Path, Result]) -> None:
    out, done = whole
    assert done.stdout.splitlines()[0].endswith(" inconclusive")
    assert "gap 0.3, logs on all arms alike" in done.stdout
    assert "fig1/" not in done.stdout
    assert "every method that uses them beats its purely online counterpart" in done.stdout
    assert "reduced: 3 runs × 40 rounds" in done.stdout
    assert done.stderr.splitlines()[-1] == f"report: {out / 'report.html'}"
    assert invoke("fig1", *TINY, "--only", ONE).stderr == "report: out/report.html\n"
    assert invoke("fig1", *TINY, "--only", ONE, "--quiet").stderr == ""


def test_a_smaller_size_is_told_in_the_reports(fig1: Path) -> None:
    for name in ("report.html", "report.md"):
        text = (fig1 / name).read_text(encoding="utf-8")
        assert "reduced: 3 runs × 40 rounds" in text
        assert "smoke run" not in text


@pytest.mark.usefixtures("out")
def test_strict_exits_10_when_a_claim_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(text: str) -> None:
        entry = f'[[claim]]\nid = "x"\nsays = "x"\nplace = "x"\ncells = ["{ONE}"]\nholds = {text}'
        monkeypatch.setattr(claims, "paper_claims", lambda: claims.parse(entry, "c.toml"))

    arguments = ("fig1", *TINY, "--only", ONE)
    told('["ts > 99999"]')
    assert invoke(*arguments).exit_code == 0
    failed = invoke(*arguments, "--strict")
    assert failed.exit_code == 10
    assert "0 hold, 1 fail, 0 inconclusive" in failed.stdout
    told('["ts < 99999"]')
    assert invoke(*arguments, "--strict").exit_code == 0


def test_claims_of_ones_own_are_judged_apart(fig1: Path, out: Path) -> None:
    """In the file of an experiment they are about all its cells unless they name some."""
    Path("small.toml").write_text(
        SMALL + '[[claim]]\nid = "mine"\nsays = "TS loses little."\nholds = ["ts < 99999"]\n'
    )
    Path("more.toml").write_text(
        f'[[claim]]\nid = "x"\nsays = "It loses."\nplace = "my talk"\ncells = ["{ONE}"]\n'
        'holds = ["ts > 99999"]\n[[claim]]\nid = "y"\nsays = "s"\ncells = ["fig2/*"]\n'
        'holds = ["ts < 0"]\n'
    )
    shown = invoke("small.toml", "fig1", *TINY, "--claims", "more.toml", "--strict")
    assert shown.exit_code == 10
    assert "2 claims of your own: 1 hold, 1 fail, 0 inconclusive" in shown.stdout
    told, alone = (
        json.loads((folder / "claims.json").read_text(encoding="utf-8")) for folder in (out, fig1)
    )
    own = {claim["id"]: claim for claim in told["claims"] if claim["file"]}
    assert {name: claim["verdict"] for name, claim in own.items()} == {
        "mine": "holds",
        "x": "fails",
    }
    assert len(own["mine"]["comparisons"]) == 4
    assert "y" in told["left_out"]
    paper = [claim for claim in told["claims"] if not claim["file"]]
    assert paper == alone["claims"]  # what is claimed beside them changes nothing
    page = (out / "report.html").read_text(encoding="utf-8")
    places = [page.index(f'id="{x}"') for x in ("claim-ts-beats-ucb", "claim-x", "claim-mine")]
    assert places == sorted(places)  # of one's own those that fail come first
    text = (out / "report.md").read_text(encoding="utf-8")
    assert text.index("| It loses. |") < text.index("| TS loses little. |")


def test_a_part_of_its_cells_does_not_judge_a_claim() -> None:
    claim = '[[claim]]\nid = "mine"\nsays = "s"\nholds = ["ts < 99999"]\n'
    Path("small.toml").write_text(SMALL + claim, encoding="utf-8")
    told = said("small.toml", "--only", "small/gap=0.1/*")
    assert (told["claims"], told["claims_left_out"]) == ([], ["mine"])


def test_a_claim_about_nothing_is_refused_before_anything_runs() -> None:
    Path("more.toml").write_text(
        '[[claim]]\nid = "x"\nsays = "s"\ncells = ["small/*"]\nholds = ["tss < 3"]\n'
    )
    done = invoke("small.toml", "--claims", "more.toml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "more.toml, claim 'x': unknown policy of cell 'small/gap=" in done.stderr
    assert not Path("out").exists()


def test_the_same_seed_gives_the_same_bytes_and_another_does_not() -> None:
    for out, seed in (("a", "0"), ("b", "0"), ("c", "1")):
        part = ("--only", "small/gap=0.3/coverage=uniform")
        assert invoke("small.toml", *part, "--out", out, "--seed", seed).exit_code == 0
    names = ["claims.json"]
    for folder in ("results", "figures", "tables"):
        files = [file for file in Path("a", folder).rglob("*") if file.is_file()]
        names += [str(file.relative_to("a")) for file in files]
    assert len(names) == 1 + 2 + 2 + 2 * 3
    for name in names:
        assert Path("a", name).read_bytes() == Path("b", name).read_bytes(), name
    a, c = (Path(out, "results", "small.csv").read_bytes() for out in "ac")
    assert a != c


def test_a_file_of_ones_own_is_no_paper() -> None:
    Path("fig1.toml").write_text(SMALL, encoding="utf-8")
    told = said("fig1.toml", "--only", "fig1/gap=0.3/coverage=uniform")
    assert (told["claims"], told["claims_left_out"]) == ([], [])
    shown = invoke("fig1.toml", "--only", "fig1/gap=0.3/coverage=uniform").stdout
    assert "regret at the horizon" in shown
    assert "careful | <b>" in shown


def test_quick_says_that_it_is_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "QUICK_RUNS", 2)
    monkeypatch.setattr(selection, "QUICK_HORIZON", 20)
    done = invoke("fig7", "--quick", "--only", "fig7/gap=0.3/arms=5")
    assert done.exit_code == 0, done.stderr
    assert "smoke run: no evidence" in done.stdout
    for name in ("report.html", "report.md"):
        text = (Path("out") / name).read_text(encoding="utf-8")
        assert "smoke run: no evidence" in text
        assert "reduced: 2 runs × 20 rounds" in text
    manifest = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["quick"] is True
    assert said("fig7", "--quick", "--only", "fig7/gap=0.3/arms=5")["quick"] is True


def test_one_run_is_strict_json_too() -> None:
    told = said("fig7", "--runs", "1", "--horizon", "20", "--only", "fig7/gap=0.3/*")
    assert told["cells"][0]["policies"]["ts"]["se"] is None
    assert {claim["verdict"] for claim in told["claims"]} <= {"inconclusive"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fig11"], "error: unknown experiment 'fig11'; did you mean 'fig1'?\n"),
        (["none.toml"], "error: cannot read 'none.toml': "),
        (["small.toml", "--runs", "0"], "error: --runs must be at least 1, got 0\n"),
        (["small.toml", "--runs", "many"], "error: --runs must be a number, got 'many'\n"),
        (["small.toml", "--horizon", "2.5"], "error: --horizon must be a whole number, got 2.5\n"),
        (["small.toml", "--seed", "-1"], "error: --seed must be "),
        (["small.toml", "--only", "fig1/*"], "error: no cell fits 'fig1/*': cells are such as "),
        (["small.toml", "--out", "small.toml"], "error: --out 'small.toml' is not a folder\n"),
        (["small.toml", "there/small.toml"], "error: experiment name 'small' is given twice"),
        (["there/summary.toml"], "error: experiment name 'summary' is taken"),
    ],
)
def test_a_bad_word_is_wrong_usage(arguments: list[str], message: str) -> None:
    Path("there").mkdir()
    for name in ("small", "summary"):
        shutil.copy("small.toml", f"there/{name}.toml")
    done = invoke(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(message)


def test_a_bad_file_is_told_before_anything_runs() -> None:
    Path("bad.toml").write_text(SMALL.replace('"ts"', '"tss"'), encoding="utf-8")
    done = invoke("small.toml", "bad.toml")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: bad.toml, line 4: policies = 'tss': unknown policy")
    assert not Path("out").exists()


def test_a_missing_matplotlib_is_told_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    done = invoke("small.toml")
    assert done.exit_code == 1
    assert 'pip install ".[plot]"' in done.stderr
    assert not Path("out").exists()
