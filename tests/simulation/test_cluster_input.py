"""What is refused before a cluster is asked, and how chunks are named there."""

from __future__ import annotations

import re
import socket
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from driftanchor import TS, UCB, Bandit, InvalidInput, MissingExtra, UnusableCluster
from driftanchor.simulation import cluster as there
from driftanchor.simulation import simulate
from driftanchor.simulation.chunk import Chunk, play

BANDIT = Bandit([0.6, 0.5, 0.4], [0.5, 0.6, 0.4], offline_pulls=20)


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
    with pytest.raises(MissingExtra, match=re.escape('pip install ".[cluster]"')):
        simulate("ts", BANDIT, cluster="tcp://127.0.0.1:8786")


def test_a_policy_that_nobody_can_import_is_told() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Local(TS):
        name = "local"

    with pytest.raises(InvalidInput, match="policy 'local' cannot be imported by other processes"):
        simulate(Local(), BANDIT, cluster="tcp://127.0.0.1:8786")


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
