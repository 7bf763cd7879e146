"""Simulations on real Dask clusters: a scheduler and workers in processes of their own."""

from __future__ import annotations

import importlib
import logging
import re
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import driftanchor
from driftanchor import TS, UCB, Bandit, InvalidInput, MissingExtra, Policy, Result, UnusableCluster
from driftanchor.simulation import cluster as there
from driftanchor.simulation import simulate
from driftanchor.simulation.chunk import Chunk, play
from driftanchor.simulation.identity import address_of, identity

if TYPE_CHECKING:
    from conftest import DaskCluster, StartCluster

Load = Callable[[str, str], Policy]

BANDIT = Bandit([0.6, 0.5, 0.4], [0.5, 0.6, 0.4], offline_pulls=20)
LONG: dict[str, Any] = {"horizon": 2_000, "runs": 20, "seed": 3, "engine": "interpreted"}
SHORT: dict[str, Any] = {"horizon": 50, "runs": 3, "engine": "interpreted"}
OWN = """
from dataclasses import dataclass
from driftanchor import Policy

@dataclass(frozen=True, kw_only=True)
class Greedy(Policy):
    name = "greedy"
    formula = "S / (T + 1)"
    source = "a test"

    def index(self, arm, now, z):
        return arm.total / (arm.pulls + 1)
"""


@pytest.fixture(scope="module")
def two(start_cluster: StartCluster) -> DaskCluster:
    """A scheduler with two workers."""
    return start_cluster(2)


@pytest.fixture(scope="module")
def mortal(start_cluster: StartCluster) -> DaskCluster:
    """A scheduler whose workers come and go, as many as a test asks for."""
    return start_cluster(0)


@pytest.fixture
def client(two: DaskCluster) -> Iterator[Any]:
    with two.client() as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """A way to import the policy in a text from a module of that name, in this process alone."""

    def load(module: str, text: str) -> Policy:
        (tmp_path / f"{module}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        policy: Policy = importlib.import_module(module).Greedy()
        return policy

    return load


def same(a: Result, b: Result) -> bool:
    return (a.policies, a.seed, a.engine) == (b.policies, b.seed, b.engine) and all(
        np.array_equal(getattr(a, array), getattr(b, array))
        for array in ("checkpoints", "regret", "pulls")
    )


@pytest.mark.parametrize("engine", ["every-round", "events", "interpreted"])
def test_the_numbers_are_those_of_this_machine(engine: str, two: DaskCluster) -> None:
    rounds = 60 if engine == "interpreted" else 200_000
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


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run is a chunk of its own, so that a run in Python is long enough to be stopped."""
    monkeypatch.setattr(there, "CHUNK_ROUNDS", 1)


@pytest.fixture(scope="module")
def long() -> Result:
    """What the long run gives here."""
    return simulate("ts", BANDIT, **LONG)


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


@pytest.mark.usefixtures("one_by_one")
def test_a_chunk_over_which_worker_after_worker_dies_is_given_up(
    mortal: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    mortal.have_workers(1, allowed_failures=0)
    (worker,) = mortal.workers
    monkeypatch.setattr(there, "MOST_DEATHS", 0)
    with pytest.raises(UnusableCluster, match="every worker that played policy 'ts' died: "):
        simulate(
            "ts",
            BANDIT,
            **LONG,
            cluster=mortal.address,
            progress=lambda *_: worker.kill(),
        )


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
    assert not caplog.records


def test_a_scheduler_without_workers_is_told(
    mortal: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    mortal.have_workers(0)
    monkeypatch.setattr(there, "PATIENCE", 0.5)
    message = f"{mortal.address} has no workers: start some with 'dask worker {mortal.address}'"
    with pytest.raises(UnusableCluster, match=re.escape(message)):
        simulate("ts", BANDIT, cluster=mortal.address)


@pytest.mark.parametrize("answers", [False, True])
def test_what_is_no_scheduler_is_told(answers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(there, "ANSWER", 0.5)
    with socket.socket() as taken:  # with nobody who listens, or nobody who speaks
        taken.bind(("127.0.0.1", 0))
        if answers:
            taken.listen()
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(UnusableCluster, match=f"no Dask scheduler answers at {address}: "):
            simulate("ts", BANDIT, cluster=address)


@pytest.mark.parametrize(
    "cluster",
    ["", "there", "tcp://there", "http://there:80", "tcp://:80", "tcp://there:99999", "[::1", 8786],
)
def test_what_is_no_address_is_refused(cluster: object) -> None:
    message = f"cluster must be the address of a Dask scheduler such as .*, got {cluster!r}"
    with pytest.raises(InvalidInput, match=re.escape(message).replace(r"\.\*", ".*")):
        simulate("ts", BANDIT, cluster=cluster)


def test_threads_are_not_for_a_cluster() -> None:
    with pytest.raises(InvalidInput, match="threads is for this machine"):
        simulate("ts", BANDIT, threads=2, cluster="tcp://127.0.0.1:8786")


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=re.escape('pip install "driftanchor[cluster]"')):
        simulate("ts", BANDIT, cluster="tcp://127.0.0.1:8786")


@pytest.mark.usefixtures("one_by_one")
def test_stopping_cancels_what_is_left_and_keeps_the_users_client(
    two: DaskCluster, client: Any, long: Result
) -> None:
    def stop(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate("ts", BANDIT, **LONG, cluster=client, progress=stop)
    two.wait_until(lambda: two.tasks(client) == 0)
    assert same(simulate("ts", BANDIT, **LONG, cluster=client), long)


def test_a_client_that_is_closed_is_refused(two: DaskCluster) -> None:
    with two.client() as client:
        pass
    with pytest.raises(InvalidInput, match="cluster must be a running synchronous Client"):
        simulate("ts", BANDIT, cluster=client)


def test_a_policy_of_ones_own_is_played_where_it_can_be_imported(
    two: DaskCluster, load: Load
) -> None:
    (two.folder / "ours.py").write_text(OWN)
    greedy = load("ours", OWN)
    far = simulate(greedy, BANDIT, **SHORT, cluster=two.address)
    assert same(far, simulate(greedy, BANDIT, **SHORT))


def test_a_policy_that_the_cluster_cannot_import_is_told(two: DaskCluster, load: Load) -> None:
    with pytest.raises(UnusableCluster, match=r"the scheduler cannot import .*'mine': install "):
        simulate(load("mine", OWN), BANDIT, cluster=two.address)


def test_a_policy_with_other_code_there_is_told(two: DaskCluster, load: Load) -> None:
    (two.folder / "changed.py").write_text(OWN)
    greedy = load("changed", OWN.replace("+ 1", "+ 2"))
    with pytest.raises(
        UnusableCluster, match=r"worker tcp.* has the source code of changed:Greedy"
    ):
        simulate(greedy, BANDIT, cluster=two.address)


def test_a_policy_that_nobody_can_import_is_told() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Local(TS):
        name = "local"

    with pytest.raises(InvalidInput, match="policy 'local' cannot be imported by other processes"):
        simulate(Local(), BANDIT, cluster="tcp://127.0.0.1:8786")


def test_an_error_of_a_policy_comes_back(two: DaskCluster, load: Load) -> None:
    text = OWN.replace("arm.total / (arm.pulls + 1)", "math.nan").replace(
        "from", "import math\nfrom", 1
    )
    (two.folder / "nan.py").write_text(text)
    with pytest.raises(InvalidInput, match="policy 'greedy' chose no arm"):
        simulate(load("nan", text), BANDIT, **SHORT, cluster=two.address)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("version", "has driftanchor 0.0.1, and this process "),
        ("source", "has driftanchor's source code "),
        ("nothing", "cannot import what it needs: "),
    ],
)
def test_a_worker_with_another_driftanchor_is_refused(
    other: str, message: str, mortal: DaskCluster, tmp_path: Path
) -> None:
    package = tmp_path / "driftanchor"
    shutil.copytree(Path(driftanchor.__file__).parent, package)
    if other == "version":
        (tmp_path / "driftanchor-0.0.1.dist-info").mkdir()
        (tmp_path / "driftanchor-0.0.1.dist-info" / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: driftanchor\nVersion: 0.0.1\n"
        )
    elif other == "source":
        with (package / "core" / "noise.py").open("a") as file:
            file.write("\n# changed\n")
    else:
        (package / "__init__.py").write_text("raise ImportError('not here')")
    mortal.have_workers(0)
    worker = mortal.add_worker(PYTHONPATH=str(tmp_path))
    with pytest.raises(UnusableCluster, match=f"^worker tcp://127.0.0.1:[0-9]+ {message}"):
        simulate("ts", BANDIT, cluster=mortal.address)
    worker.kill()


def test_a_worker_that_comes_later_is_compared_too(client: Any) -> None:
    chunk = Chunk.all_runs(
        "ts", TS(), BANDIT, horizon=9, runs=1, seed=0, checkpoints=1, engine="interpreted"
    )
    asked = (address_of(chunk.policy), False)
    regret, _ = client.submit(there.play_there, play, chunk, asked, identity(*asked)).result()
    assert np.array_equal(regret, play(chunk)[0])
    ours = {**identity(*asked), "driftanchor": "0.0.1"}
    with pytest.raises(UnusableCluster, match=r"worker tcp.* has driftanchor .* process 0.0.1: "):
        client.submit(there.play_there, play, chunk, asked, ours).result()


def test_a_key_is_the_whole_content() -> None:
    effort: dict[str, Any] = {"horizon": 9, "runs": 4, "seed": 0, "checkpoints": 3}

    def key(name: str = "x", code: str = "1", **change: Any) -> str:
        asked = {**effort, "policy": TS(), "bandit": BANDIT, "engine": "interpreted", **change}
        return there.key_of(play, Chunk.all_runs(name, **asked), {"code": code})

    whole = Chunk.all_runs("x", TS(), BANDIT, **effort, engine="interpreted")
    keys = [there.key_of(play, piece, {"code": "1"}) for piece in (whole, *whole.cut(2))]
    keys += [
        key(policy=TS(noise=2.0)),
        key(policy=UCB()),
        key(name="y"),
        key(code="2"),
        key(seed=1),
    ]
    keys += [key(horizon=10), key(checkpoints=2), key(runs=5), key(engine="every-round")]
    keys += [key(bandit=Bandit([0.6, 0.5, 0.4]))]
    assert key() == keys[0]
    assert len(set(keys)) == len(keys)
