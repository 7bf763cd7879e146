"""The benchmark's arithmetic, its C loop, and what it says when something is missing.

Nothing here looks at how long anything takes.
"""

import importlib
import json
import re
import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

from benchmarks import engines, loop, report, startup, targets
from benchmarks.clock import in_turn, ratio, spread
from benchmarks.peers import PEERS, POLICIES, Peer
from benchmarks.peers.environments import Unusable, drive, gist, installs
from benchmarks.tables import table
from driftanchor.errors import DriftanchorError
from driftanchor.simulation import Bandit
from driftanchor.simulation.chunk import ENGINES

ROOT = Path(__file__).parents[1]
SHORT = {"INTERPRETED_HORIZON": 10, "NUMPY_HORIZON": 10, "HORIZON": 100, "TURNS": 1}
SAVED = json.loads((ROOT / "benchmarks" / "pages" / "measured" / "bench.json").read_text())


def test_a_spread_is_median_least_and_most() -> None:
    assert spread([3.0, 1.0, 2.00004]) == {"median": 2.0, "low": 1.0, "high": 3.0}
    assert spread([0.0125], "ms") == {"median": 0.0125, "low": 0.0125, "high": 0.0125, "unit": "ms"}


def test_ratios_are_taken_within_a_round() -> None:
    assert ratio([2.0, 30.0, 8.0], [1.0, 10.0, 2.0]) == {"median": 3.0, "low": 2.0, "high": 4.0}


def test_jobs_take_turns() -> None:
    order: list[str] = []

    def job(name: str) -> float:
        order.append(name)
        return float(len(order))

    costs = in_turn({"a": lambda: job("a"), "b": lambda: job("b")}, rounds=3)
    assert order == ["a", "b"] * 3
    assert costs == {"a": [1.0, 3.0, 5.0], "b": [2.0, 4.0, 6.0]}


@pytest.mark.parametrize(
    ("median", "at_least", "verdict"),
    [(2.0, True, "met"), (1.9, True, "missed"), (2.0, False, "met"), (2.1, False, "missed")],
)
def test_a_verdict_goes_by_the_median(median: float, at_least: bool, verdict: str) -> None:
    target = targets.Target("it", "bench-x", "row", "second", 2.0, at_least)
    cells = [{"median": 0.0, "low": 0.0, "high": 9.0}, {"median": median, "low": 0.0, "high": 9.0}]
    blocks = table("bench-x", "X", ["", "first", "second"], {"other": [None, None], "row": cells})
    assert targets.verdict(target, targets.found(blocks, target)) == verdict


def test_what_was_not_measured_is_not_judged() -> None:
    (block,) = targets.judged({}).values()
    assert {row["cells"][2] for row in block["rows"]} == {"not measured"}


@pytest.mark.parametrize("target", targets.TARGETS, ids=lambda target: str(target.text))
def test_every_target_names_a_cell_that_the_tables_have(target: targets.Target) -> None:
    assert targets.found(SAVED, target) is not None


def test_saved_numbers_tell_nothing_of_the_machine() -> None:
    assert not re.search(r"(?<![\w<])/(home|root|tmp|usr|opt|Users)\b|://", json.dumps(SAVED))


def test_tables_are_shown_in_columns() -> None:
    cells = [{"median": 1234.5, "low": 0.25, "high": 2000.0, "unit": "ms"}, None]
    shown = report.show(table("bench-x", "A title", ["", "one", "other"], {"row": cells}))
    assert shown.splitlines() == [
        "A title",
        "                       one  other",
        "row  1,234 ms (0.25–2,000)  –",
    ]


def test_engines_are_those_that_simulate_has() -> None:
    assert set(engines.available()) <= set(ENGINES)
    assert set(engines.ORDER) == set(ENGINES)


def test_without_numba_it_says_so_and_measures_what_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(engines, "check", partial(loop.check, runs=2, horizon=30))
    for name, value in SHORT.items():
        monkeypatch.setattr(engines, name, value)
    monkeypatch.setattr(sys, "argv", ["bench", "--quick", "--json", "--only", "engines"])
    before = (ROOT / "benchmarks" / "pages" / "measured" / "bench.json").read_bytes()
    assert importlib.import_module("benchmarks.__main__").main() == 0
    told = capsys.readouterr()
    assert engines.MISSING_NUMBA in told.err
    assert "every-round" not in json.loads(told.out)["bench-engines"]["columns"]
    assert "interpreted" in json.loads(told.out)["bench-engines"]["columns"]
    assert (ROOT / "benchmarks" / "pages" / "measured" / "bench.json").read_bytes() == before


def test_the_c_loop_plays_the_arms_of_every_round_and_of_no_other_engine() -> None:
    bandit = Bandit([0.8, 0.5, 0.5], [0.5, 0.6, 0.6], offline_pulls=[3, 0, 20], bias_bound=0.2)
    if shutil.which("cc") is None:
        return  # the next test has what happens then
    c = loop.load()
    loop.check(c, bandit, "every-round", runs=20, horizon=1_000)
    with pytest.raises(DriftanchorError, match="does not play the arms"):
        loop.check(c, bandit, "events", runs=20, horizon=1_000)


def test_without_a_compiler_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(loop.NoCompiler, match="install gcc"):
        loop.load()


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_has_a_driver(name: str) -> None:
    driver = importlib.import_module(f"benchmarks.peers.{name}")
    assert any(callable(getattr(driver, policy, None)) for policy in POLICIES)


def test_installs_are_pinned() -> None:
    assert installs("x", Peer("1.2", 10, "")) == [["x==1.2"]]
    assert installs("x", Peer("1.2", 10, "", needs=("y==3",))) == [["x==1.2", "y==3"]]
    alone = Peer("1.2", 10, "", needs=("y",), alone=True)
    assert installs("x", alone) == [["y"], ["--no-deps", "x==1.2"]]


def test_a_peer_that_is_not_there_does_not_run() -> None:
    reason = "does not run: ModuleNotFoundError: No module named 'mabby'"
    with pytest.raises(Unusable, match=re.escape(reason)):
        drive("mabby", Path(sys.executable), 10)


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        ("", "no reason given"),
        ("a\nERROR: No match for x==1\nhint: y", "ERROR: No match for x==1"),
        ("ImportError: no 'x' (/home/me/y/__init__.py)", "ImportError: no 'x' (__init__.py)"),
        ("cannot reach https://some.host/simple/x", "cannot reach …"),
    ],
)
def test_a_reason_names_no_place(trouble: str, told: str) -> None:
    assert gist(trouble) == told


def test_a_process_is_measured(tmp_path: Path) -> None:
    used = startup.run(["-c", "x = b'x' * (200 << 20)"], str(tmp_path))
    assert used["cpu"] > 0.0
    assert 200 << 20 < used["peak"] < 400 << 20
