"""Chunks played on this machine: in threads where they are compiled, one by one where not."""

from __future__ import annotations

import os
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

from driftanchor.core import check
from driftanchor.simulation.chunk import CHUNK_ROUNDS, Chunk, Played, play

PIECES = 4  # of the work of a thread: the last to end is then not far behind the others


def threads_to_use(threads: int | None) -> int:
    """As many as asked for, or all cores."""
    if threads is None:
        return os.cpu_count() or 1
    return check.whole(threads, "threads", low=1, high=4096)


def on_this_machine(
    wholes: list[Chunk], threads: int
) -> Generator[tuple[int, Chunk, Played], None, None]:
    """Play chunks of equal size: (which of them, a piece of it, its numbers), in order."""
    one = wholes[0]
    size = max(1, min(-(-one.runs // (PIECES * threads)), CHUNK_ROUNDS // one.horizon))
    pieces = [(i, piece) for i, whole in enumerate(wholes) for piece in whole.cut(size)]
    pool = ThreadPoolExecutor(threads if one.is_compiled else 1)
    try:
        results = pool.map(play, (piece for _, piece in pieces))
        for (i, piece), played in zip(pieces, results, strict=True):
            yield i, piece, played
    finally:  # on Ctrl-C what has not begun must not begin, and what has is not waited for
        pool.shutdown(wait=False, cancel_futures=True)
