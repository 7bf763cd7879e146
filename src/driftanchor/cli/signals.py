"""Signals that end a command: they unwind it, so that no half-written file stays behind."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

WORDS = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "the terminal is gone",
}
UNTOUCHED = (signal.SIG_DFL, signal.default_int_handler)


class Ended(KeyboardInterrupt):
    """A signal says that the command is to end.

    Args:
        number: Of the signal.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.exit_code = 128 + number  # as shells report it
        self.word = WORDS[signal.Signals(number)]


class Ending:
    """The signal that came last, if any.

    What a signal raises may come out as another error: DuckDB, interrupted, raises its own.
    """

    def __init__(self) -> None:
        self.came: Ended | None = None

    def _end(self, number: int, _: FrameType | None) -> None:
        self.came = Ended(number)
        raise self.came

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Within it signals raise `Ended`; those that are ignored, as by nohup, stay ignored."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in WORDS}
        ours = [number for number, handler in before.items() if handler in UNTOUCHED]
        for number in ours:
            signal.signal(number, self._end)
        try:
            yield
        finally:
            for number in ours:
                signal.signal(number, before[number])
            self.came = None


ending = Ending()
