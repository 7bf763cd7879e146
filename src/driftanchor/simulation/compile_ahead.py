"""Compiling ahead: the kernels of later chunks are compiled while earlier chunks are played."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from driftanchor.simulation.chunk import Chunk, play

IsReady = Callable[[object], bool]


@contextlib.contextmanager
def compiling_ahead(chunks: Sequence[Chunk]) -> Iterator[IsReady]:
    """Compile what these chunks need in a thread of its own, in the order they are played.

    Compiled loops run beside it. A chunk whose kernel is not ready waits for it, as it would
    without this. What fails to compile here fails again where it is played, and is raised there.

    Yields:
        Whether a kernel, which `kernel_of` names, has been compiled.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="compile-ahead")
    try:
        asked = {
            kernel: pool.submit(play, _shortest(chunk))
            for kernel, chunk in first_of_each_kernel(chunks).items()
        }
        yield lambda kernel: kernel not in asked or asked[kernel].done()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def kernel_of(chunk: Chunk) -> object:
    """What chunks have in common that share a kernel; `None` for one that is not compiled."""
    return (type(chunk.policy), chunk.loop.play_runs) if chunk.is_compiled else None


def first_of_each_kernel(chunks: Sequence[Chunk]) -> dict[object, Chunk]:
    """The first of the compiled chunks that share a kernel, for each kernel."""
    first: dict[object, Chunk] = {}
    for chunk in chunks:
        if chunk.is_compiled:
            first.setdefault(kernel_of(chunk), chunk)
    return first


def _shortest(chunk: Chunk) -> Chunk:
    """One round of one run: all that a kernel needs to be compiled."""
    return dataclasses.replace(chunk, runs=1, checkpoints=np.ones(1, np.int64))
