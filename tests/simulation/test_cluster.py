"""Simulations on real Dask clusters: a scheduler and workers in processes of their own."""

from __future__ import annotations

import logging
import re
import shutil
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from own_policies import GREEDY, own_policy

import driftanchor
from driftanchor import TS, Bandit, InvalidInput, MissingExtra, Result, UnusableCluster
from driftanchor.simulation import cluster as there
from driftanchor.simulation import simulate
from driftanchor.simulation.chunk import Chunk, play

if TYPE_CHECKING:
    from dask_cluster import DaskCluster, StartCluster

    from conftest import LoadPolicy

BANDIT = Bandit([0.6, 0.5, 0.4], [0.5, 0.6, 0.4], offline_pulls=20)
LONG: dict[str, Any] = {"horizon": 300, "runs": 20, "seed": 3, "engine": "interpreted"}
DEADLY = 'return __import__("os")._exit(1)'
SHORT: dict[str, Any] = {"horizon": 50, "runs": 3, "engine": "interpreted"}
WORKER = r"^worker tcp://127\.0\.0\.1:[0-9]+"


@pytest.fixture(scope="module")
def mortal(start_cluster: StartCluster) -> DaskCluster:
    """A scheduler whose workers each test starts and kills."""
    return start_cluster(0)


@pytest.fixture
def two(mortal: DaskCluster) -> DaskCluster:
    """The same scheduler with two workers."""
    mortal.have_workers(2)
    return mortal


@pytest.fixture
def client(two: DaskCluster) -> Iterator[Any]:
    with two.client() as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture
def one_run_per_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(there, "CHUNK_ROUNDS", 1)


@pytest.fixture(scope="module")
def long() -> Result:
    """The long simulation, played on this machine."""
    return simulate("ts", BANDIT, **LONG)


def same(a: Result, b: Result) -> bool:
    return (a.policies, a.seed, a.engine) == (b.policies, b.seed, b.engine) and all(
        np.array_equal(getattr(a, array), getattr(b, array))
        for array in ("checkpoints", "regret", "pulls")
    )


@pytest.mark.parametrize("engine", ["every-round", "events", "interpreted"])
def test_the_numbers_are_those_of_this_machine(
    engine: str, two: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each policy is cut into four chunks, which two workers share."""
    rounds = 60 if engine == "interpreted" else 2_000
    monkeypatch.setattr(there, "CHUNK_ROUNDS", 3 * rounds)
    policies = {"anchor": driftanchor.AnchorTS(), "other": driftanchor.AnchorTS(noise=2.0)}
    effort: dict[str, Any] = {"horizon": rounds, "runs": 12, "seed": 7, "engine": engine}
    here = simulate(policies, BANDIT, **effort)  # first, so the workers find its kernel on disk
    seen: list[tuple[int, int]] = []
    far = simulate(
        policies, BANDIT, **effort, cluster=two.address, progress=lambda *x: seen.append(x)
    )
    assert same(far, here)
    assert seen[-1] == (24, 24)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


@pytest.mark.usefixtures("one_run_per_chunk")
def test_stopping_cancels_the_other_tasks_and_keeps_the_users_client(
    two: DaskCluster, client: Any
) -> None:
    def stop(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate("ts", BANDIT, **LONG, cluster=client, progress=stop)
    two.wait_until(lambda: two.tasks(client) == 0)
    assert same(simulate("ts", BANDIT, **SHORT, cluster=client), simulate("ts", BANDIT, **SHORT))


def test_a_closed_client_is_refused(two: DaskCluster) -> None:
    with two.client() as client:
        pass
    with pytest.raises(InvalidInput, match="cluster must be a running synchronous Client"):
        simulate("ts", BANDIT, cluster=client)


def test_workers_play_a_users_policy_that_they_can_import(
    two: DaskCluster, load_policy: LoadPolicy
) -> None:
    (two.folder / "ours.py").write_text(own_policy())
    greedy = load_policy("ours")
    far = simulate(greedy, BANDIT, **SHORT, cluster=two.address)
    assert same(far, simulate(greedy, BANDIT, **SHORT))


def test_a_policy_that_the_cluster_cannot_import_is_refused(
    two: DaskCluster, load_policy: LoadPolicy
) -> None:
    with pytest.raises(UnusableCluster, match=r"the scheduler cannot import .*'nobodys'; "):
        simulate(load_policy("nobodys"), BANDIT, cluster=two.address)


def test_a_policy_with_other_code_there_is_refused(
    two: DaskCluster, load_policy: LoadPolicy
) -> None:
    (two.folder / "changed.py").write_text(own_policy())
    greedy = load_policy("changed", GREEDY.replace("+ 1", "+ 2"))
    with pytest.raises(UnusableCluster, match=f"{WORKER} runs driftanchor .*; this process runs "):
        simulate(greedy, BANDIT, cluster=two.address)


def test_a_worker_reports_the_code_that_it_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    there.loaded_version.cache_clear()
    loaded = there.loaded_version("driftanchor")
    monkeypatch.setattr(there, "__version__", "edited")
    assert there.loaded_version("driftanchor") == loaded
    assert there.code_version("driftanchor") != loaded
    there.loaded_version.cache_clear()


def test_an_error_of_a_policy_comes_back(two: DaskCluster, load_policy: LoadPolicy) -> None:
    (two.folder / "nan.py").write_text(own_policy("return math.nan"))
    with pytest.raises(InvalidInput, match="policy 'own' chose no arm"):
        simulate(load_policy("nan", "return math.nan"), BANDIT, **SHORT, cluster=two.address)


def test_each_task_checks_the_code_and_names_a_worker_that_fails(client: Any) -> None:
    chunk = Chunk.all_runs(
        "ts", TS(), BANDIT, horizon=9, runs=1, seed=0, checkpoints=1, engine="interpreted"
    )
    ours = there.code_version("driftanchor")
    task = (there.play_there, play, chunk, "driftanchor")
    regret, _ = client.submit(*task, ours).result()
    assert np.array_equal(regret, play(chunk)[0])
    with pytest.raises(UnusableCluster, match=f"{WORKER} runs .*; this process runs older: "):
        client.submit(*task, "older").result()

    def full_disk(_: Chunk) -> Any:
        raise OSError(28, "No space left on device")

    with pytest.raises(UnusableCluster, match=f"{WORKER} failed: .* left on device: see its log"):
        client.submit(there.play_there, full_disk, chunk, "driftanchor", ours).result()


@pytest.mark.usefixtures("one_run_per_chunk")
def test_a_killed_worker_costs_only_time(long: Result, two: DaskCluster) -> None:
    victim = two.workers[-1]
    seen: list[int] = []

    def kill(done: int, _: int) -> None:
        if not seen:
            victim.send_signal(signal.SIGKILL)
        seen.append(done)

    with two.client() as client:
        assert same(simulate("ts", BANDIT, **LONG, cluster=client, progress=kill), long)
        assert len(client.nthreads()) == 1
        events = [event for log in client.get_events().values() for _, event in log]
    assert victim.wait(60) == -signal.SIGKILL
    removed = [e for e in events if isinstance(e, dict) and e.get("action") == "remove-worker"]
    assert any(e["processing-tasks"] for e in removed)  # it died while it played a chunk
    assert len(seen) == 20


@pytest.mark.usefixtures("one_run_per_chunk")
@pytest.mark.parametrize("replaced", [True, False])
def test_a_result_that_dies_with_its_worker_is_played_again(
    replaced: bool, mortal: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    mortal.have_workers(1)
    (worker,) = mortal.workers
    fetch = there._result

    def kill_before_fetching(*arguments: Any) -> Any:
        if worker.poll() is None:
            worker.kill()
            worker.wait(60)
            if replaced:
                mortal.add_worker()
        return fetch(*arguments)

    monkeypatch.setattr(there, "_result", kill_before_fetching)
    monkeypatch.setattr(there, "RESULT_TIMEOUT", 0.01)
    if replaced:
        far = simulate("ts", BANDIT, **SHORT, cluster=mortal.address)
        assert same(far, simulate("ts", BANDIT, **SHORT))
    else:
        monkeypatch.setattr(there, "WORKER_TIMEOUT", 0.5)
        with pytest.raises(UnusableCluster, match=f"{mortal.address} has no workers: start some"):
            simulate("ts", BANDIT, **SHORT, cluster=mortal.address)


def test_a_chunk_that_kills_every_worker_is_given_up(
    mortal: DaskCluster, load_policy: LoadPolicy
) -> None:
    mortal.have_workers(1, allowed_failures=0)
    (mortal.folder / "deadly.py").write_text(own_policy(DEADLY))
    with pytest.raises(UnusableCluster, match="every worker that played policy 'own' died: "):
        simulate(load_policy("deadly", DEADLY), BANDIT, **SHORT, cluster=mortal.address)


@pytest.mark.usefixtures("one_run_per_chunk")
def test_a_cluster_that_loses_all_workers_is_an_error(
    mortal: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    mortal.have_workers(1)
    (worker,) = mortal.workers

    def kill(*_: int) -> None:
        worker.kill()
        monkeypatch.setattr(there, "WORKER_TIMEOUT", 0.5)

    with pytest.raises(UnusableCluster, match=f"{mortal.address} has no workers: start some"):
        simulate("ts", BANDIT, **LONG, cluster=mortal.address, progress=kill)


@pytest.mark.usefixtures("one_run_per_chunk")
def test_a_scheduler_that_dies_is_one_error(
    start_cluster: StartCluster,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = start_cluster(1)
    monkeypatch.setattr(logging.getLogger("distributed.client"), "handlers", [caplog.handler])

    def kill(*_: int) -> None:
        cluster.scheduler.kill()

    with pytest.raises(UnusableCluster, match=f"{cluster.address} is gone"):
        simulate("ts", BANDIT, **LONG, cluster=cluster.address, progress=kill)
    assert not [record for record in caplog.records if record.name == "distributed.client"]


def test_a_scheduler_without_workers_is_an_error(
    mortal: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    mortal.have_workers(0)
    monkeypatch.setattr(there, "WORKER_TIMEOUT", 0.5)
    message = f"{mortal.address} has no workers: start some with 'dask worker {mortal.address}'"
    with pytest.raises(UnusableCluster, match=re.escape(message)):
        simulate("ts", BANDIT, cluster=mortal.address)


def test_a_worker_with_another_driftanchor_is_refused(mortal: DaskCluster, tmp_path: Path) -> None:
    package = tmp_path / "driftanchor"  # the worker finds it before the real one
    shutil.copytree(Path(driftanchor.__file__).parent, package)
    with (package / "core" / "noise.py").open("a") as file:
        file.write("\n# changed\n")
    mortal.have_workers(0)
    worker = mortal.add_worker(path=str(tmp_path))
    with pytest.raises(UnusableCluster, match=f"{WORKER} runs driftanchor .*install the same"):
        simulate("ts", BANDIT, cluster=mortal.address)
    worker.kill()


def test_a_worker_without_driftanchor_is_refused(mortal: DaskCluster, tmp_path: Path) -> None:
    (tmp_path / "driftanchor.py").write_text("raise ImportError('not here')")
    mortal.have_workers(0)
    worker = mortal.add_worker(path=str(tmp_path))
    with pytest.raises(UnusableCluster, match=f"{WORKER} cannot import what it needs: "):
        simulate("ts", BANDIT, cluster=mortal.address)
    worker.kill()


def test_an_address_where_no_scheduler_answers_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(there, "SCHEDULER_TIMEOUT", 0.5)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(UnusableCluster, match=f"no Dask scheduler answers at {address}: "):
            simulate("ts", BANDIT, cluster=address)


@pytest.mark.parametrize(
    "cluster",
    ["", "there", "tcp://there", "http://there:80", "[::1", 8786],
)
def test_a_malformed_address_is_refused(cluster: object) -> None:
    message = f"cluster must be the address of a Dask scheduler such as .*, got {cluster!r}"
    with pytest.raises(InvalidInput, match=re.escape(message).replace(r"\.\*", ".*")):
        simulate("ts", BANDIT, cluster=cluster)


def test_threads_and_a_cluster_exclude_each_other() -> None:
    with pytest.raises(InvalidInput, match="threads is for this machine"):
        simulate("ts", BANDIT, threads=2, cluster="tcp://127.0.0.1:8786")


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=re.escape('pip install ".[cluster]"')):
        simulate("ts", BANDIT, cluster="tcp://127.0.0.1:8786")


def test_a_policy_that_no_other_process_can_import_is_refused() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Local(TS):
        name = "local"

    with pytest.raises(InvalidInput, match="policy 'local' cannot be imported by other processes"):
        simulate(Local(), BANDIT, cluster="tcp://127.0.0.1:8786")
