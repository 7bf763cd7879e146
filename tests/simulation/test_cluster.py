"""Simulations on real Dask clusters: a scheduler and workers in processes of their own."""

from __future__ import annotations

import logging
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from own_policies import GREEDY, own_policy

import driftanchor
from driftanchor import TS, Bandit, InvalidInput, Result, UnusableCluster
from driftanchor.simulation import cluster as there
from driftanchor.simulation import simulate
from driftanchor.simulation.chunk import Chunk, play
from driftanchor.simulation.identity import Identity, Question, address_of, identities

if TYPE_CHECKING:
    from dask_cluster import DaskCluster, StartCluster

    from conftest import LoadPolicy

BANDIT = Bandit([0.6, 0.5, 0.4], [0.5, 0.6, 0.4], offline_pulls=20)
LONG: dict[str, Any] = {"horizon": 300, "runs": 20, "seed": 3, "engine": "interpreted"}
DEADLY = 'return __import__("os")._exit(1)'
SHORT: dict[str, Any] = {"horizon": 50, "runs": 3, "engine": "interpreted"}
OLDER = {"driftanchor": "0.0.1"}  # as what decides the bits


@pytest.fixture(scope="module")
def mortal(start_cluster: StartCluster) -> DaskCluster:
    """A scheduler whose workers come and go, as many as a test asks for."""
    return start_cluster(0)


@pytest.fixture
def two(mortal: DaskCluster) -> DaskCluster:
    """The same with two workers."""
    mortal.have_workers(2)
    return mortal


@pytest.fixture
def client(two: DaskCluster) -> Iterator[Any]:
    with two.client() as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def same(a: Result, b: Result) -> bool:
    return (a.policies, a.seed, a.engine) == (b.policies, b.seed, b.engine) and all(
        np.array_equal(getattr(a, array), getattr(b, array))
        for array in ("checkpoints", "regret", "pulls")
    )


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run is a chunk of its own, so that a run in Python is long enough to be stopped."""
    monkeypatch.setattr(there, "CHUNK_ROUNDS", 1)


@pytest.fixture(scope="module")
def long() -> Result:
    """What the long run gives here."""
    return simulate("ts", BANDIT, **LONG)


@pytest.mark.parametrize("engine", ["every-round", "events", "interpreted"])
def test_the_numbers_are_those_of_this_machine(
    engine: str, two: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each policy is cut into four chunks, which two workers share."""
    rounds = 60 if engine == "interpreted" else 2_000
    monkeypatch.setattr(there, "CHUNK_ROUNDS", 3 * rounds)
    policies = {"anchor": driftanchor.AnchorTS(), "other": driftanchor.AnchorTS(noise=2.0)}
    effort: dict[str, Any] = {"horizon": rounds, "runs": 12, "seed": 7, "engine": engine}
    here = simulate(policies, BANDIT, **effort)  # first: the workers then find its kernel on disk
    seen: list[tuple[int, int]] = []
    far = simulate(
        policies, BANDIT, **effort, cluster=two.address, progress=lambda *x: seen.append(x)
    )
    assert same(far, here)
    assert seen[-1] == (24, 24)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


@pytest.mark.usefixtures("one_by_one")
def test_stopping_cancels_what_is_left_and_keeps_the_users_client(
    two: DaskCluster, client: Any
) -> None:
    def stop(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate("ts", BANDIT, **LONG, cluster=client, progress=stop)
    two.wait_until(lambda: two.tasks(client) == 0)
    assert same(simulate("ts", BANDIT, **SHORT, cluster=client), simulate("ts", BANDIT, **SHORT))


def test_a_client_that_is_closed_is_refused(two: DaskCluster) -> None:
    with two.client() as client:
        pass
    with pytest.raises(InvalidInput, match="cluster must be a running synchronous Client"):
        simulate("ts", BANDIT, cluster=client)


def test_a_policy_of_ones_own_is_played_where_it_can_be_imported(
    two: DaskCluster, load_policy: LoadPolicy
) -> None:
    (two.folder / "ours.py").write_text(own_policy())
    greedy = load_policy("ours")
    far = simulate(greedy, BANDIT, **SHORT, cluster=two.address)
    assert same(far, simulate(greedy, BANDIT, **SHORT))


def test_a_policy_that_the_cluster_cannot_import_is_told(
    two: DaskCluster, load_policy: LoadPolicy
) -> None:
    with pytest.raises(UnusableCluster, match=r"the scheduler cannot import .*'nobodys': install "):
        simulate(load_policy("nobodys"), BANDIT, cluster=two.address)


def test_a_policy_with_other_code_there_is_told(two: DaskCluster, load_policy: LoadPolicy) -> None:
    (two.folder / "changed.py").write_text(own_policy())
    greedy = load_policy("changed", GREEDY.replace("+ 1", "+ 2"))
    with pytest.raises(UnusableCluster, match=r"worker tcp.* has the source code of changed:Own"):
        simulate(greedy, BANDIT, cluster=two.address)


def test_an_error_of_a_policy_comes_back(two: DaskCluster, load_policy: LoadPolicy) -> None:
    (two.folder / "nan.py").write_text(own_policy("return math.nan"))
    with pytest.raises(InvalidInput, match="policy 'own' chose no arm"):
        simulate(load_policy("nan", "return math.nan"), BANDIT, **SHORT, cluster=two.address)


def test_a_worker_that_comes_later_is_compared_too(client: Any) -> None:
    chunk = Chunk.all_runs(
        "ts", TS(), BANDIT, horizon=9, runs=1, seed=0, checkpoints=1, engine="interpreted"
    )
    asked = (address_of(chunk.policy), False)
    ours = identities([asked])[asked]
    regret, _ = client.submit(there.play_there, play, chunk, asked, ours).result()
    assert np.array_equal(regret, play(chunk)[0])
    older = {**ours, **OLDER}
    with pytest.raises(UnusableCluster, match=r"worker tcp.* has driftanchor .* process 0.0.1: "):
        client.submit(there.play_there, play, chunk, asked, older).result()


@pytest.mark.usefixtures("one_by_one")
@pytest.mark.parametrize("allowed", [3, 0])
def test_a_worker_that_is_killed_costs_only_time(
    allowed: int, long: Result, mortal: DaskCluster
) -> None:
    mortal.have_workers(2, allowed_failures=allowed)
    victim = mortal.workers[-1]
    seen: list[int] = []

    def kill(done: int, _: int) -> None:
        if not seen:
            victim.send_signal(signal.SIGKILL)
        seen.append(done)

    with mortal.client() as client:
        assert same(simulate("ts", BANDIT, **LONG, cluster=client, progress=kill), long)
        assert len(client.nthreads()) == 1
        events = [event for log in client.get_events().values() for _, event in log]
    assert victim.wait(60) == -signal.SIGKILL
    removed = [e for e in events if isinstance(e, dict) and e.get("action") == "remove-worker"]
    assert any(e["processing-tasks"] for e in removed)  # it was in the middle of something
    assert len(seen) == 20


def test_numbers_that_died_with_their_worker_are_waited_for() -> None:
    task = SimpleNamespace(status="lost", add_done_callback=lambda told: told(None))
    again = lambda *_, **__: setattr(task, "status", "finished")  # noqa: E731
    assert [*there._finished(SimpleNamespace(wait_for_workers=again), [task])] == [0]


def test_a_chunk_over_which_worker_after_worker_dies_is_given_up(
    mortal: DaskCluster, load_policy: LoadPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    mortal.have_workers(1, allowed_failures=0)
    monkeypatch.setattr(there, "MOST_DEATHS", 0)
    (mortal.folder / "deadly.py").write_text(own_policy(DEADLY))
    with pytest.raises(UnusableCluster, match="every worker that played policy 'own' died: "):
        simulate(load_policy("deadly", DEADLY), BANDIT, **SHORT, cluster=mortal.address)


@pytest.mark.usefixtures("one_by_one")
def test_a_cluster_that_loses_all_workers_is_told(
    mortal: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    mortal.have_workers(1)
    (worker,) = mortal.workers

    def kill(*_: int) -> None:
        worker.kill()
        monkeypatch.setattr(there, "PATIENCE", 0.5)

    with pytest.raises(UnusableCluster, match=f"{mortal.address} has no workers: start some"):
        simulate("ts", BANDIT, **LONG, cluster=mortal.address, progress=kill)


@pytest.mark.usefixtures("one_by_one")
def test_a_worker_that_dies_with_its_numbers_is_not_waited_for(
    mortal: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    mortal.have_workers(1)
    (worker,) = mortal.workers
    finished = there._finished

    def kill_between(*args: Any) -> Iterator[int]:
        for n in finished(*args):
            worker.kill()
            worker.wait(60)
            yield n

    monkeypatch.setattr(there, "_finished", kill_between)
    monkeypatch.setattr(there, "FETCH", 0.2)
    monkeypatch.setattr(there, "PATIENCE", 0.5)
    with pytest.raises(UnusableCluster, match=f"{mortal.address} has no workers: start some"):
        simulate("ts", BANDIT, **SHORT, cluster=mortal.address)


@pytest.mark.usefixtures("one_by_one")
def test_a_scheduler_that_dies_is_told_once(
    start_cluster: StartCluster,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = start_cluster(1)
    monkeypatch.setattr(logging.getLogger("distributed.client"), "handlers", [caplog.handler])
    with pytest.raises(UnusableCluster, match=f"{cluster.address} is gone"):
        simulate(
            "ts",
            BANDIT,
            **LONG,
            cluster=cluster.address,
            progress=lambda *_: cluster.scheduler.kill(),
        )
    # asyncio complains of tasks that Dask left behind when they become garbage, at any time
    assert not [record for record in caplog.records if record.name != "asyncio"]


def test_a_scheduler_without_workers_is_told(
    mortal: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    mortal.have_workers(0)
    monkeypatch.setattr(there, "PATIENCE", 0.5)
    message = f"{mortal.address} has no workers: start some with 'dask worker {mortal.address}'"
    with pytest.raises(UnusableCluster, match=re.escape(message)):
        simulate("ts", BANDIT, cluster=mortal.address)


def test_a_worker_with_another_driftanchor_is_refused(
    mortal: DaskCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version, and other source code, which is told once the versions are the same."""
    about = tmp_path / "driftanchor-0.0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: driftanchor\nVersion: 0.0.1\n")
    package = tmp_path / "driftanchor"  # a worker finds it before the real one
    shutil.copytree(Path(driftanchor.__file__).parent, package)
    with (package / "core" / "noise.py").open("a") as file:
        file.write("\n# changed\n")
    mortal.have_workers(0)
    worker = mortal.add_worker(path=str(tmp_path))
    place = r"^worker tcp://127\.0\.0\.1:[0-9]+ has"
    with pytest.raises(UnusableCluster, match=rf"{place} driftanchor 0\.0\.1, and this process "):
        simulate("ts", BANDIT, cluster=mortal.address)

    def older(asked: list[Question]) -> dict[Question, Identity]:
        return {question: {**mine, **OLDER} for question, mine in identities(asked).items()}

    monkeypatch.setattr(there, "identities", older)
    with pytest.raises(UnusableCluster, match=f"{place} driftanchor's source code "):
        simulate("ts", BANDIT, cluster=mortal.address)
    worker.kill()


def test_a_worker_without_driftanchor_is_refused(mortal: DaskCluster, tmp_path: Path) -> None:
    (tmp_path / "driftanchor.py").write_text("raise ImportError('not here')")
    mortal.have_workers(0)
    worker = mortal.add_worker(path=str(tmp_path))
    with pytest.raises(
        UnusableCluster, match=r"^worker tcp://127\.0\.0\.1:[0-9]+ cannot import what it needs: "
    ):
        simulate("ts", BANDIT, cluster=mortal.address)
    worker.kill()
