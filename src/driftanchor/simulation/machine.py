"""Chunks played on this machine: compiled in threads, interpreted in processes or right here."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from driftanchor.core import check
from driftanchor.cores import usable_cores
from driftanchor.simulation.chunk import CHUNK_ROUNDS, Chunk, Played, play
from driftanchor.simulation.engines import ENGINES
from driftanchor.simulation.processes import Processes, bundles, can_be_sent, play_all

PIECES = 4  # of the work of a thread: the last to end is then not far behind the others
AHEAD = 4  # pieces for each thread that wait for it while others are played
PlayBundle = Callable[[Sequence[Chunk]], list[Played]]


def threads_to_use(threads: int | None) -> int:
    """As many as asked for, or all cores that this process may use."""
    if threads is None:
        return usable_cores()
    return check.whole(threads, "threads", low=1, high=4096)


def on_this_machine(
    wholes: list[Chunk], threads: int
) -> Generator[tuple[int, Chunk, Played], None, None]:
    """Play chunks of one horizon: (which of them, a piece of it, its numbers), in order."""
    one, size = wholes[0], _size_of_pieces(wholes, threads)
    pieces = [(i, piece) for i, whole in enumerate(wholes) for piece in whole.cut(size)]
    chunks = [piece for _, piece in pieces]
    processes = Processes()
    work: list[list[Chunk]] = [[chunk] for chunk in chunks]
    play_bundle: PlayBundle = play_all
    policies = {type(whole.policy): whole.policy for whole in wholes}.values()
    if ENGINES[one.engine].processes and all(map(can_be_sent, policies)):
        work = list(bundles(chunks, threads))
        play_bundle = processes.play if len(work) > 1 else play_all
    together = one.is_compiled or play_bundle == processes.play
    pool = ThreadPoolExecutor(threads if together else 1)
    try:
        results = (played for bundle in pool.map(play_bundle, work) for played in bundle)
        for (i, piece), played in zip(pieces, results, strict=True):
            yield i, piece, played
    finally:  # on Ctrl-C what has not begun must not begin, and what has is not waited for
        pool.shutdown(wait=False, cancel_futures=True)
        processes.stop()


def in_turn(
    wholes: Iterable[tuple[int, Chunk]], threads: int
) -> Generator[tuple[int, Chunk, Played], None, None]:
    """Play numbered chunks one after the other: (its number, a piece of it, its numbers), in order.

    No thread waits for the last pieces of a chunk: it begins with the next one. So chunks are
    taken a little before they are played.
    """
    pool = ThreadPoolExecutor(threads)
    begun: deque[tuple[int, Chunk, Future[Played]]] = deque()
    try:
        for i, whole in wholes:
            if whole.is_compiled:
                for piece in whole.cut(_size_of_pieces([whole], threads)):
                    begun.append((i, piece, pool.submit(play, piece)))
                    if len(begun) > AHEAD * threads:
                        yield _next_of(begun)
                continue
            while begun:
                yield _next_of(begun)
            with contextlib.closing(on_this_machine([whole], threads)) as parts:
                for _, piece, played in parts:
                    yield i, piece, played
        while begun:
            yield _next_of(begun)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _next_of(begun: deque[tuple[int, Chunk, Future[Played]]]) -> tuple[int, Chunk, Played]:
    i, piece, playing = begun.popleft()
    return i, piece, playing.result()


def _size_of_pieces(wholes: Sequence[Chunk], threads: int) -> int:
    """Runs of a piece: enough pieces for all threads, and none that takes long."""
    runs = sum(whole.runs for whole in wholes)
    return max(1, min(-(-runs // (PIECES * threads)), CHUNK_ROUNDS // wholes[0].horizon))
