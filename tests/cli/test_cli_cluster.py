"""`--cluster` on real Dask clusters: the same data, and clear words when it cannot be."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner, Result

from driftanchor.cli.main import app
from driftanchor.simulation import cluster as there

if TYPE_CHECKING:
    from dask_cluster import DaskCluster, StartCluster
    from forks import Forks


SMALL = Path(__file__).parents[1] / "experiments" / "small.toml"
SIMULATE = ("simulate", "--horizon", "20", "--runs", "2", "--engine", "interpreted")
pytestmark = pytest.mark.usefixtures("little_drawn")


@pytest.fixture(scope="module")
def cluster(start_cluster: StartCluster) -> DaskCluster:
    """A scheduler with a worker."""
    return start_cluster(1)


@pytest.fixture(autouse=True)
def _inside_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_simulate_shows_the_same_and_nothing_else(cluster: DaskCluster) -> None:
    near, far = (
        invoke(*SIMULATE, "--json"),
        invoke(*SIMULATE, "--json", "--cluster", cluster.address),
    )
    assert (far.exit_code, far.stdout, far.stderr) == (0, near.stdout, near.stderr)
    assert len(json.loads(far.stdout)["policies"]) > 5


def test_reproduce_leaves_the_same_bytes(
    cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = invoke("reproduce", str(SMALL), "--out", "near")
    far = invoke("reproduce", str(SMALL), "--out", "far", "--cluster", cluster.address)
    assert (near.exit_code, far.exit_code) == (0, 0), far.stderr
    assert far.stdout == near.stdout
    names = {str(file.relative_to("near")) for file in Path("near").rglob("*") if file.is_file()}
    assert names == {str(file.relative_to("far")) for file in Path("far").rglob("*.*")}
    assert len([name for name in names if name.startswith("cells")]) == 6
    for name in names:
        assert Path("far", name).read_bytes() == Path("near", name).read_bytes(), name
    monkeypatch.setattr(there, "SCHEDULER_TIMEOUT", 0.5)
    again = invoke("reproduce", str(SMALL), "--out", "far", "--cluster", "tcp://127.0.0.1:9")
    assert (again.exit_code, again.stdout) == (0, near.stdout)  # what is kept needs no cluster


@pytest.mark.parametrize("command", [SIMULATE, ("reproduce", str(SMALL))])
def test_no_scheduler_is_a_failure_in_one_line(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(there, "SCHEDULER_TIMEOUT", 0.5)
    done = invoke(*command, "--cluster", "tcp://127.0.0.1:9")
    assert (done.exit_code, done.stdout) == (1, "")
    said = "error: no Dask scheduler answers at tcp://127.0.0.1:9: check the address, or start one"
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [SIMULATE, ("reproduce", str(SMALL))])
def test_what_is_no_address_is_wrong_usage(command: tuple[str, ...]) -> None:
    done = invoke(*command, "--cluster", "there")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --cluster must be the address of a Dask scheduler such ")


def test_threads_are_not_for_a_cluster() -> None:
    done = invoke(*SIMULATE, "--threads", "2", "--cluster", "tcp://127.0.0.1:9")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --threads is for this machine")


def test_ctrl_c_ends_it_and_leaves_the_cluster_empty(
    cluster: DaskCluster, dask_forks: Forks, tmp_path: Path
) -> None:
    effort = ["--horizon", "1000000", "--runs", "200", "--policy", "ts"]
    effort += ["--engine", "every-round"]  # long enough to be interrupted
    words = ["driftanchor", "simulate", *effort, "--cluster", cluster.address]
    log = tmp_path / "said.txt"
    with cluster.client() as client:
        process = dask_forks.start(*words, folder=tmp_path, log=log)
        cluster.wait_until(lambda: cluster.tasks(client) > 0)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        said = log.read_text().splitlines()
        assert [line for line in said if not line.endswith(" so far")] == ["interrupted"]
        cluster.wait_until(lambda: cluster.tasks(client) == 0)
