"""Compiling ahead: the kernels of later chunks are compiled while earlier chunks are played."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from driftanchor.simulation.chunk import Chunk, play


@contextlib.contextmanager
def compiling_ahead(chunks: Sequence[Chunk]) -> Iterator[None]:
    """Compile what these chunks need in a thread of its own, in the order they are played.

    Compiled loops run beside it. A chunk whose kernel is not ready waits for it, as it would
    without this. What fails to compile here fails again where it is played, and is raised there.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="compile-ahead")
    try:
        for chunk in first_of_each_kernel(chunks):
            pool.submit(play, _shortest(chunk))
        yield
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def first_of_each_kernel(chunks: Sequence[Chunk]) -> list[Chunk]:
    """The first of the compiled chunks that share a kernel, for each kernel."""
    first: dict[object, Chunk] = {}
    for chunk in chunks:
        if chunk.is_compiled:
            first.setdefault((type(chunk.policy), chunk.loop.play_runs), chunk)
    return list(first.values())


def _shortest(chunk: Chunk) -> Chunk:
    """One round of one run: all that a kernel needs to be compiled."""
    return dataclasses.replace(chunk, runs=1, checkpoints=np.ones(1, np.int64))
