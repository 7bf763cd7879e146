"""Chunks played on this machine: compiled in threads, interpreted in processes or right here."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor

from driftanchor.core import check
from driftanchor.simulation.chunk import CHUNK_ROUNDS, Chunk, Played, play
from driftanchor.simulation.engines import ENGINES
from driftanchor.simulation.processes import Processes, bundles, can_be_sent

PIECES = 4  # of the work of a thread: the last to end is then not far behind the others
PlayBundle = Callable[[Sequence[Chunk]], list[Played]]


def threads_to_use(threads: int | None) -> int:
    """As many as asked for, or all cores."""
    if threads is None:
        return os.cpu_count() or 1
    return check.whole(threads, "threads", low=1, high=4096)


def on_this_machine(
    wholes: list[Chunk], threads: int
) -> Generator[tuple[int, Chunk, Played], None, None]:
    """Play chunks of one horizon: (which of them, a piece of it, its numbers), in order."""
    one, runs = wholes[0], sum(whole.runs for whole in wholes)
    size = max(1, min(-(-runs // (PIECES * threads)), CHUNK_ROUNDS // one.horizon))
    pieces = [(i, piece) for i, whole in enumerate(wholes) for piece in whole.cut(size)]
    chunks = [piece for _, piece in pieces]
    processes = Processes()
    work: list[list[Chunk]] = [[chunk] for chunk in chunks]
    play_bundle: PlayBundle = _play_here
    policies = {type(whole.policy): whole.policy for whole in wholes}.values()
    if ENGINES[one.engine].processes and all(map(can_be_sent, policies)):
        work = list(bundles(chunks, threads))
        play_bundle = processes.play if len(work) > 1 else _play_here
    together = one.is_compiled or play_bundle == processes.play
    pool = ThreadPoolExecutor(threads if together else 1)
    try:
        results = (played for bundle in pool.map(play_bundle, work) for played in bundle)
        for (i, piece), played in zip(pieces, results, strict=True):
            yield i, piece, played
    finally:  # on Ctrl-C what has not begun must not begin, and what has is not waited for
        pool.shutdown(wait=False, cancel_futures=True)
        processes.stop()


def _play_here(bundle: Sequence[Chunk]) -> list[Played]:
    return [play(chunk) for chunk in bundle]
