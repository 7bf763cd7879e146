"""Kernels are compiled while earlier chunks are played, once each; errors are raised elsewhere."""

import threading
import time
from typing import Any

import pytest
from driftanchor.simulation.compile_ahead import compiling_ahead, first_of_each_kernel, kernel_of

from driftanchor import TS, UCB, AnchorTS, Bandit, InvalidInput, Policy
from driftanchor.simulation import compile_ahead
from driftanchor.simulation.chunk import Chunk, play

TWO, THREE = Bandit([0.8, 0.5]), Bandit([0.8, 0.5, 0.1])


def chunk(policy: Policy, bandit: Bandit = TWO, engine: str = "every-round") -> Chunk:
    return Chunk.all_runs(
        "x", policy, bandit, horizon=50, runs=3, seed=0, checkpoints=[50], engine=engine
    )


def test_each_kernel_is_compiled_once_in_the_order_of_the_chunks() -> None:
    chunks = [
        chunk(UCB()),
        chunk(TS()),
        chunk(UCB(), THREE),
        chunk(TS(), engine="events"),
        chunk(AnchorTS(), engine="interpreted"),
        chunk(TS(noise=2.0)),
    ]
    assert list(first_of_each_kernel(chunks).values()) == [chunks[0], chunks[1], chunks[3]]


def test_one_round_of_one_run_is_played_in_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, ...]] = []
    done = threading.Event()

    def note(one: Chunk) -> Any:
        seen.append((type(one.policy), one.runs, one.horizon, threading.current_thread().name))
        played = play(one)
        done.set()
        return played

    monkeypatch.setattr(compile_ahead, "play", note)
    with compiling_ahead([chunk(TS())]) as is_ready:
        assert done.wait(60)
        assert is_ready(kernel_of(chunk(UCB())))  # nobody compiles it
    assert [x[:3] for x in seen] == [(TS, 1, 1)]
    assert seen[0][3].startswith("compile-ahead")


def test_a_kernel_is_ready_when_it_was_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()
    monkeypatch.setattr(compile_ahead, "play", lambda _: may_end.wait(60))
    one = chunk(TS())
    with compiling_ahead([one, chunk(UCB(), engine="interpreted")]) as is_ready:
        assert not is_ready(kernel_of(one))
        assert is_ready(kernel_of(chunk(UCB(), engine="interpreted")))
        may_end.set()
        while not is_ready(kernel_of(one)):
            time.sleep(0.001)


def test_what_cannot_be_compiled_raises_nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = threading.Event()

    def refuse(_: Chunk) -> Any:
        tried.set()
        raise InvalidInput("cannot be compiled")

    monkeypatch.setattr(compile_ahead, "play", refuse)
    with compiling_ahead([chunk(TS())]):
        assert tried.wait(60)
