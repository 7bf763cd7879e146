"""An interrupt at a chosen line of a call, as Ctrl-C would come."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

OUTSIDE = ("logging", "importlib", "weakref")  # what runs for others too


class Interrupt:
    """Raises KeyboardInterrupt at a line of a call.

    A trace is asked about the line of a `with` once more when its block ends, where Python itself
    takes no signal.

    Args:
        place: Which line, counted from 1.
        file: The only file whose lines count; by default all count that do not run for others too.
        spared: Lines that begin like this do not count; `None` if all do.

    Attributes:
        left: How many lines were left when the call ended; 0 if it was interrupted.
    """

    def __init__(self, place: int, file: str | None = None, spared: str | None = "with ") -> None:
        self.left, self._file, self._spared = place, file, spared

    def __call__(self, frame: FrameType, kind: str, _: Any) -> Any:
        """What Python calls for each line."""
        if not self._counts(frame.f_code.co_filename):
            return None
        if kind == "line" and not self._spares(frame):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self

    def during(self, work: Callable[[], object]) -> KeyboardInterrupt | None:
        """The error that ended the work. Who keeps it keeps all that its frames hold."""
        before = sys.gettrace()
        try:
            sys.settrace(self)
            work()
        except KeyboardInterrupt as error:
            return error
        finally:
            sys.settrace(before)
        return None

    def _counts(self, file: str) -> bool:
        if self._file is not None:
            return file == self._file
        return not any(part in file for part in OUTSIDE)

    def _spares(self, frame: FrameType) -> bool:
        if self._spared is None:
            return False
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        return line.lstrip().startswith(self._spared)
