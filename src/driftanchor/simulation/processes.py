"""Work in processes of its own: Python's threads do not run interpreted code at once.

A process reads what it is to do, such as chunks to play, from standard input and writes what it
found to standard output. It imports this package and the policy's module, and never the program
that called `simulate`, so a script needs no `if __name__ == "__main__"`.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from driftanchor.errors import DriftanchorError, InvalidInput
from driftanchor.policies.base import Policy
from driftanchor.simulation.chunk import Chunk, Played, play
from driftanchor.simulation.cluster import module_of as address_of

Argument = TypeVar("Argument")
Answer = TypeVar("Answer")
# About two seconds of work, in rounds × arms: starting a process takes a third of a second.
WORTH_A_PROCESS = 150_000
_CALL_AGAIN = 3  # the exit code of a process in which the function raised an error
_PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from driftanchor.simulation.processes import answer; answer()"
)


class Processes:
    """Calls functions, each call in a process of its own."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()

    def play(self, bundle: Sequence[Chunk]) -> list[Played]:
        """Play a bundle, and wait for it."""
        doing = f"played policy {bundle[0].name!r}"
        return self.call(play_all, bundle, doing, 'use engine="interpreted"')

    def call(
        self, function: Callable[[Argument], Answer], argument: Argument, doing: str, instead: str
    ) -> Answer:
        """What a function of this package says, which a process calls; waits for it.

        Args:
            function: A function that a process can import.
            argument: Its argument, which can be sent.
            doing: What the process did, for the error if it ends before it answers.
            instead: What the user can do then.
        """
        command = [sys.executable, "-c", _PROGRAM]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self._running.add(process)
            answered = _asked(process, [sys.path, (function, argument)])
            self._running.discard(process)
        if process.returncode == _CALL_AGAIN:  # here the error has its traceback
            return function(argument)
        if process.returncode != 0:
            raise DriftanchorError(
                f"a process that {doing} ended with code {process.returncode}: its output says "
                f"why, or {instead}"
            )
        answer: Answer = pickle.loads(answered)
        return answer

    def stop(self) -> None:
        """End what is still running."""
        for process in [*self._running]:
            process.kill()


def _asked(process: subprocess.Popen[bytes], question: Sequence[object]) -> bytes:
    """What a process answers. Its input stays open until then: see `_end_with_the_asker`."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):  # its exit code says what became of it
        for part in question:
            pickle.dump(part, process.stdin)
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
    function, argument = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_asker, daemon=True).start()
    try:
        found = function(argument)
    except Exception:
        sys.exit(_CALL_AGAIN)
    out.write(pickle.dumps(found))


def play_all(bundle: Sequence[Chunk]) -> list[Played]:
    """Play chunks one after the other."""
    return [play(chunk) for chunk in bundle]


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
