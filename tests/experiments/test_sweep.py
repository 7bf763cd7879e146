from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from driftanchor.cli.main import app
from driftanchor.errors import InvalidInput
from driftanchor.experiments import spec, sweep
from driftanchor.experiments.experiment import Experiment
from driftanchor.experiments.job import Job
from driftanchor.experiments.outcome import Outcome, Outcomes, joined
from driftanchor.simulation.chunk import Played

SMALL = (Path(__file__).parent / "small.toml").read_text(encoding="utf-8")


@pytest.fixture
def experiment() -> Experiment:
    return spec.parse(SMALL, "small.toml")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is really run, as it happens."""
    ran: list[str] = []
    whole = Job.outcome

    def count(job: Job, played: Iterable[tuple[int, Played]]) -> Outcome:
        ran.append(job.name)
        return whole(job, played)

    monkeypatch.setattr(Job, "outcome", count)
    return ran


def run(experiment: Experiment, folder: Path, **hooks: Any) -> dict[tuple[str, str], Outcome]:
    return sweep.run(sweep.jobs([experiment], 0), folder, **hooks)


def same(a: Outcomes, b: Outcomes) -> bool:
    return list(a) == list(b) and all(
        np.array_equal(a[key].final, b[key].final)
        and np.array_equal(a[key].curves, b[key].curves)
        and np.array_equal(a[key].pulls, b[key].pulls)
        for key in a
    )


def part(experiment: Experiment, cells: int) -> Experiment:
    return replace(experiment, cells=experiment.cells[:cells])


def test_outcomes_have_the_shape_of_their_experiment(
    experiment: Experiment, tmp_path: Path
) -> None:
    outcomes = run(experiment, tmp_path)
    assert len(outcomes) == 4 * 2
    for outcome in outcomes.values():
        assert outcome.final.shape == (5,)
        assert outcome.curves.shape == (5, 3)  # the figure shows curves
        assert outcome.pulls.sum(axis=1).tolist() == [60] * 5
        assert outcome.curves[:, -1].tolist() == outcome.final.tolist()
    few = run(replace(experiment, figure="versus"), tmp_path)
    assert {outcome.curves.shape for outcome in few.values()} == {(2, 3)}


def test_added_runs_are_those_that_a_larger_experiment_has(
    experiment: Experiment, tmp_path: Path
) -> None:
    larger = experiment.resized(12, None)
    growing = replace(experiment, most_runs=12)
    outcomes = run(growing, tmp_path)
    wanted = [key for key in outcomes if key[1] != "ts"][:2]
    for more in (5, 2):
        todo = sweep.more_runs([growing], 0, wanted, outcomes, 8)
        assert [(job.first, job.runs) for job in todo] == [
            (12 - more if more == 2 else 5, more)
        ] * 2
        added = sweep.run(todo, tmp_path)
        outcomes |= {key: joined([outcomes[key], part]) for key, part in added.items()}
    assert sweep.more_runs([growing], 0, wanted, outcomes, 8) == []
    whole = run(larger, tmp_path / "larger")
    assert same({key: outcomes[key] for key in wanted}, {key: whole[key] for key in wanted})
    assert {len(found.final) for key, found in outcomes.items() if key not in wanted} == {5}


@pytest.mark.parametrize(("first", "most"), [(2_000, 64_000), (5, 1_000_000), (7, 7), (3, 385)])
def test_the_largest_number_of_runs_is_reached_within_eight_looks(
    experiment: Experiment, first: int, most: int
) -> None:
    growing = replace(experiment, runs=first, most_runs=most)
    (key,) = [(growing.cells[0].id, "ts")]
    seen = [first]
    while seen[-1] < most:
        have = Outcome(np.zeros(seen[-1]), np.zeros((0, 1)), np.zeros((0, 2), np.int64), 1.0)
        (job,) = sweep.more_runs([growing], 0, [key], {key: have}, 8)
        seen.append(job.first + job.runs)
    assert seen[-1] == most
    assert len(seen) <= 8
    assert all(later >= min(2 * earlier, most) for earlier, later in itertools.pairwise(seen))


def test_finished_cells_are_not_run_again(
    experiment: Experiment, tmp_path: Path, counted: list[str]
) -> None:
    run(part(experiment, 2), tmp_path / "a")
    first = {file: file.stat().st_mtime_ns for file in (tmp_path / "a").iterdir()}
    assert len(counted) == 3  # TS ignores logs: it is run once for cells that differ in them
    resumed = run(experiment, tmp_path / "a")
    rest = [f"{c.id} {p}" for c in experiment.cells[2:] for p in c.policies]
    assert counted[3:] == [name for name in rest if name != f"{experiment.cells[3].id} ts"]
    assert all(file.stat().st_mtime_ns == at for file, at in first.items())
    assert same(resumed, run(experiment, tmp_path / "b"))


def test_kept_numbers_are_the_same(
    experiment: Experiment, tmp_path: Path, counted: list[str]
) -> None:
    fresh = run(experiment, tmp_path)
    del counted[:]
    assert same(fresh, run(experiment, tmp_path))
    assert counted == []


@pytest.mark.parametrize("damage", [b"", b"no zip at all", b"PK\x03\x04 half"])
def test_a_damaged_file_is_run_again(
    experiment: Experiment, tmp_path: Path, counted: list[str], damage: bytes
) -> None:
    fresh = run(experiment, tmp_path)
    job = sweep.jobs([experiment], 0)[0]
    (tmp_path / f"{job.key()}.npz").write_bytes(damage)
    del counted[:]
    assert same(fresh, run(experiment, tmp_path))
    assert counted == [f"{job.cell.id} {job.label}"]


def test_a_truncated_file_is_run_again(
    experiment: Experiment, tmp_path: Path, counted: list[str]
) -> None:
    fresh = run(experiment, tmp_path)
    file = sorted(tmp_path.iterdir())[0]
    file.write_bytes(file.read_bytes()[:-20])
    del counted[:]
    assert same(fresh, run(experiment, tmp_path))
    assert len(counted) == 1


@pytest.mark.parametrize("name", ["final", "curves", "pulls"])
def test_a_file_of_another_shape_is_run_again(
    experiment: Experiment, tmp_path: Path, counted: list[str], name: str
) -> None:
    fresh = run(part(experiment, 1), tmp_path)
    file = sorted(tmp_path.iterdir())[0]
    with np.load(file) as kept:
        arrays = dict(kept)
    np.savez_compressed(file, **{**arrays, name: arrays[name][:1]})
    del counted[:]
    assert same(fresh, run(part(experiment, 1), tmp_path))
    assert len(counted) == 1


def test_the_key_depends_on_all_that_numbers_depend_on() -> None:
    def key(text: str, seed: int = 0, job: int = 0) -> str:
        return sweep.jobs([spec.parse(text, "small.toml")], seed)[job].key()

    assert key(SMALL) == key(SMALL.replace("Small", "Other"))
    for old, new in [
        ("horizon = 60", "horizon = 61"),
        ("runs = 5", "runs = 6"),
        ("checkpoints = 3", "checkpoints = 4"),
        ('["ts"', '["ucb"'),
        ('["ts"', '[{ label = "ts", policy = "ts", noise = 2.0 }'),
        ("gap = [0.3", "gap = [0.4"),
    ]:
        assert old in SMALL
        assert key(SMALL) != key(SMALL.replace(old, new)), old
    assert key(SMALL) != key(SMALL, seed=1)
    more_logs = SMALL.replace("offline = 30", "offline = 31")
    assert key(SMALL) == key(more_logs)  # TS does not look at them
    assert key(SMALL, job=1) != key(more_logs, job=1)
    promised = SMALL.replace("offline = 30", "offline = 30, relative_bound = 0.1")
    assert key(SMALL) == key(promised)
    other = promised.replace("relative_bound = 0.1", "relative_bound = 0.2")
    moved = SMALL.replace("offline = 30", "offline = 30, common_shift = 0.1")
    assert len({key(text, job=1) for text in (SMALL, promised, other, moved)}) == 4


def test_cells_of_the_same_content_are_run_once(tmp_path: Path, counted: list[str]) -> None:
    text = """
policies = ["ts"]
horizon = 20
runs = 2
[[sweep]]
vary.arms = [10]
[[sweep]]
vary.gap = [0.3]
"""
    outcomes = run(spec.parse(text, "twice.toml"), tmp_path)
    assert counted == ["twice/arms=10 ts"]
    assert len(outcomes) == 2


def test_progress_counts_what_was_missing(experiment: Experiment, tmp_path: Path) -> None:
    run(part(experiment, 3), tmp_path)
    seen: list[tuple[str, int, int]] = []
    run(experiment, tmp_path, progress=lambda *now: seen.append(now))
    total = 5 * 60 * 3  # of the last cell only Anchor-TS: TS was run for the cell before
    assert {of for _, _, of in seen} == {total}
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert seen[-1] == ("small/gap=0.1/coverage=optimal careful | <b>", total, total)


def test_a_folder_that_cannot_be_made_is_told(experiment: Experiment, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot write to"):
        run(experiment, tmp_path / "file" / "cells")


SLOW = """
import signal, sys, time
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been ignored before
from driftanchor.cli.main import run
from driftanchor.experiments.job import Job

whole, calls = Job.outcome, []

def slow(job, played):
    calls.append(job)
    if len(calls) == 4:
        Path("ready").touch()
        time.sleep(60)
    return whole(job, played)

Job.outcome = slow
sys.argv = ["driftanchor", "reproduce", "small.toml", "--out", "out"]
run()
"""


@pytest.mark.usefixtures("in_own_folder", "little_drawn")
def test_ctrl_c_keeps_what_was_finished_and_the_same_command_goes_on(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 300
    while not (tmp_path / "ready").exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    *cells, last = said.splitlines()
    assert last == "interrupted: finished runs are kept, and the same command continues from there"
    assert all(" done, " in line for line in cells)
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "out" / "cells").iterdir()}
    assert len(kept) == 3
    assert not (tmp_path / "out" / "report.html").exists()

    for out in ("out", "whole"):
        done = CliRunner().invoke(app, ["reproduce", "small.toml", "--out", out])
        assert done.exit_code == 0, done.stderr
    assert all(file.stat().st_mtime_ns == at for file, at in kept.items())
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 6
    for name in ("results/small.csv", "results/summary.csv", "claims.json", "manifest.json"):
        resumed, whole = ((tmp_path / out / name).read_bytes() for out in ("out", "whole"))
        assert resumed == whole, name


def test_a_cell_is_finished_with_its_last_policy(experiment: Experiment, tmp_path: Path) -> None:
    finished: list[str] = []
    run(experiment, tmp_path, finished=finished.append)
    assert finished == [cell.id for cell in experiment.cells]
    run(experiment, tmp_path, finished=finished.append)  # nothing is missing now
    assert len(finished) == len(experiment.cells)


def test_cells_of_the_same_content_are_finished_together() -> None:
    a, b = Path("a"), Path("b")
    awaited = sweep._Awaited([("x", a), ("x", b), ("y", a)])
    assert awaited.closed_by(a) == ["y"]
    assert awaited.closed_by(b) == ["x"]
