"""Interpreted runs in processes: the same bits, the same errors, and an end to them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from driftanchor.simulation.processes import Processes, bundles, can_be_sent
from own_policies import own_policy

from driftanchor import TS, Bandit, DriftanchorError, InvalidInput, Policy, simulate
from driftanchor.policies import make
from driftanchor.simulation import processes
from driftanchor.simulation.chunk import Chunk

if TYPE_CHECKING:
    from conftest import LoadPolicy

BANDIT = Bandit([0.6, 0.5, 0.4], [0.5, 0.6, 0.4], offline_pulls=20)
EFFORT: dict[str, Any] = {"horizon": 30, "runs": 8, "seed": 3, "threads": 2}
ALL_ROUNDS = 30 * 8 * 3  # × arms


@pytest.fixture
def two_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the runs above are worth a process."""
    monkeypatch.setattr(processes, "WORTH_A_PROCESS", ALL_ROUNDS // 2)


def test_the_numbers_are_those_of_the_interpreted_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a policy that was given by its file, whose runs two processes play."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "given.py").write_text(own_policy("return arm.total"))
    policies = {"ts": TS(), "own": make(f"{tmp_path}/given.py:Own")}
    assert can_be_sent(policies["own"])
    played: list[list[tuple[str, int]]] = []
    real = Processes.play

    def noted(self: Processes, bundle: Any) -> Any:
        runs = Counter[str]()
        for chunk in bundle:
            runs[chunk.name] += chunk.runs
        played.append(sorted(runs.items()))
        return real(self, bundle)

    monkeypatch.setattr(Processes, "play", noted)
    monkeypatch.setattr(processes, "WORTH_A_PROCESS", ALL_ROUNDS * 5 // 4)
    seen: list[tuple[int, int]] = []
    there = simulate(
        policies, BANDIT, engine="processes", progress=lambda *x: seen.append(x), **EFFORT
    )
    here = simulate(policies, BANDIT, engine="interpreted", **EFFORT)
    assert there.engine == "processes"
    assert np.array_equal(there.regret, here.regret)
    assert np.array_equal(there.pulls, here.pulls)
    assert sorted(played) == [[("own", 2), ("ts", 8)], [("own", 6)]]
    assert seen[-1] == (16, 16)


@pytest.mark.usefixtures("two_processes")
def test_a_policy_that_cannot_be_sent_is_played_here(monkeypatch: pytest.MonkeyPatch) -> None:
    class Local(TS):
        """No other process can import it."""

        name = "local"

    monkeypatch.setattr(Processes, "play", None)
    assert can_be_sent(TS())
    assert not can_be_sent(Local())
    there = simulate(Local(), BANDIT, engine="processes", **EFFORT)
    assert np.array_equal(
        there.pulls, simulate(Local(), BANDIT, engine="interpreted", **EFFORT).pulls
    )


def test_what_is_not_worth_a_process_is_played_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Processes, "play", None)
    assert simulate("ts", BANDIT, engine="processes", **EFFORT).pulls.sum() == 8 * 30


def chunk_of(policy: Policy, runs: int) -> Chunk:
    rounds = np.array([10])
    return Chunk(policy.name, policy, BANDIT, rounds, "processes", 0, 0, runs)


def test_what_a_policy_raises_is_raised_here(load_policy: LoadPolicy) -> None:
    with pytest.raises(InvalidInput, match="raised ZeroDivisionError: division by zero") as caught:
        Processes().play([chunk_of(load_policy("raises", "return 1 / 0"), 1)])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_process_that_ends_early_is_reported(load_policy: LoadPolicy) -> None:
    pool, errors = Processes(), list[Exception]()

    def play() -> None:
        try:
            pool.play([chunk_of(load_policy("sleeps", "time.sleep(60)"), 1)])
        except DriftanchorError as error:
            errors.append(error)

    thread = threading.Thread(target=play)
    thread.start()
    while not pool._running:
        time.sleep(0.01)
    pool.stop()
    thread.join(30)
    assert str(errors[0]).startswith("a process that played policy 'own' ended with code -9")


def test_a_process_ends_with_the_one_that_asked(tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(own_policy("time.sleep(60)"))
    ask = (
        "import sys, threading, time, numpy as np\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from driftanchor import Bandit\n"
        "from driftanchor.policies import make\n"
        "from driftanchor.simulation.chunk import Chunk\n"
        "from driftanchor.simulation.processes import Processes\n"
        f"policy = make({str(tmp_path / 'sleeper.py')!r} + ':Own')\n"
        "chunk = Chunk('own', policy, Bandit([0.6, 0.5]), np.array([10]), 'processes', 0, 0, 1)\n"
        "pool = Processes()\n"
        "threading.Thread(target=pool.play, args=([chunk],)).start()\n"
        "while not pool._running: time.sleep(0.01)\n"
        "print('asked', flush=True)\n"
    )
    command = [sys.executable, "-c", ask]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as asker:
        assert asker.stdout is not None
        assert asker.stdout.readline() == b"asked\n"
        time.sleep(2)  # it plays now; earlier the test would be an easier one
        asker.kill()
        asker.communicate(timeout=30)  # both have the same stderr: it ends when both have ended


def test_bundles_are_worth_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WORTH_A_PROCESS", 8 * 10 * 3)
    pieces = list(chunk_of(TS(), 20).cut(4))
    runs = [[piece.runs for piece in bundle] for bundle in bundles(pieces, 8)]
    assert runs == [[4, 4], [4, 4], [4]]


def test_many_pieces_keep_all_processes_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WORTH_A_PROCESS", 1)
    pieces = list(chunk_of(TS(), 160).cut(1))
    sizes = [len(bundle) for bundle in bundles(pieces, 2)]
    assert sizes == [20] * 8
    assert sum(sizes) == 160
