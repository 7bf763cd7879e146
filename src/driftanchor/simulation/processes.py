"""Chunks played in processes of their own: Python's threads do not run interpreted code at once.

A process reads its chunks from standard input and writes their numbers to standard output. It
imports this package and the policy's module, and never the program that called `simulate`, so a
script needs no `if __name__ == "__main__"`.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence

from driftanchor.errors import DriftanchorError, InvalidInput
from driftanchor.policies.base import Policy
from driftanchor.simulation.chunk import Chunk, Played, play
from driftanchor.simulation.identity import address_of

# About two seconds of work, in rounds × arms: starting a process takes a third of a second.
WORTH_A_PROCESS = 150_000
_PLAY_AGAIN = 3  # the exit code of a process in which a policy raised an error
_PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from driftanchor.simulation.processes import answer; answer()"
)


class Processes:
    """Plays bundles of chunks, each bundle in a process of its own."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()

    def play(self, bundle: Sequence[Chunk]) -> list[Played]:
        """Play a bundle, and wait for it."""
        command = [sys.executable, "-c", _PROGRAM]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self._running.add(process)
            answered = _asked(process, pickle.dumps(sys.path) + pickle.dumps(bundle))
            self._running.discard(process)
        if process.returncode == _PLAY_AGAIN:  # here the error has its traceback
            return [play(chunk) for chunk in bundle]
        if process.returncode != 0:
            raise DriftanchorError(
                f"a process that played policy {bundle[0].name!r} ended with code "
                f'{process.returncode}: its output says why, or use engine="interpreted"'
            )
        played: list[Played] = pickle.loads(answered)
        return played

    def stop(self) -> None:
        """End what is still running."""
        for process in [*self._running]:
            process.kill()


def _asked(process: subprocess.Popen[bytes], question: bytes) -> bytes:
    """What a process answers. Its input stays open until then: see `_end_with_the_asker`."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):  # its exit code says what became of it
        process.stdin.write(question)
        process.stdin.flush()
    answered = process.stdout.read()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    return answered


def _end_with_the_asker() -> None:
    """Wait until the input ends, which it does when the process that asked is gone, and end.

    The descriptor is read itself: a lock on `sys.stdin` would be held when the interpreter ends.
    """
    while os.read(0, 1):
        pass
    os._exit(1)


def answer() -> None:
    """What a process runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the process that asked ends this one
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # what a policy prints is no part of the answer
    bundle = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_asker, daemon=True).start()
    try:
        played = [play(chunk) for chunk in bundle]
    except Exception:
        sys.exit(_PLAY_AGAIN)
    out.write(pickle.dumps(played))


def can_be_sent(policy: Policy) -> bool:
    """Whether another process can import a policy's class."""
    with contextlib.suppress(InvalidInput):
        return bool(address_of(policy))
    return False


def bundles(pieces: Sequence[Chunk], processes: int) -> Iterator[list[Chunk]]:
    """Pieces in order, in bundles that are worth a process and keep all processes busy."""
    costs = [piece.runs * piece.horizon * len(piece.bandit.online) for piece in pieces]
    enough = max(WORTH_A_PROCESS, sum(costs) // (4 * processes))
    bundle: list[Chunk] = []
    cost = 0
    for piece, more in zip(pieces, costs, strict=True):
        bundle.append(piece)
        cost += more
        if cost >= enough:
            yield bundle
            bundle, cost = [], 0
    if bundle:
        yield bundle
