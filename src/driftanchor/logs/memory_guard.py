"""A watch over the memory of the process while DuckDB works.

DuckDB keeps its own limit for most of what it holds, but not for all: what a reader of CSV or
Parquet sets aside may be many times as much.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import TracebackType
from typing import ClassVar

SPARE = 2**27  # bytes that Python and the readers of DuckDB may need beside the limit
EVERY = 0.02  # seconds
UNITS = {"K": 1, "M": 2, "G": 3, "T": 4}  # powers of 1000, or of 1024 with an i


def size_of(text: str) -> int:
    """The number of bytes of a size such as `"400MB"`.

    Example:
        >>> size_of("400MB"), size_of("1.5 GiB")
        (400000000, 1610612736)
    """
    base = 1024 if text.endswith("iB") else 1000
    number = text.removesuffix("B").removesuffix("i")
    return int(float(number[:-1]) * base ** UNITS[number[-1]])


class MemoryGuard:
    """Stops the work when the process has grown by more than all readings together may use.

    Args:
        memory: What this one may use, such as `"400MB"`.
        stop: Called again and again while it is too much.
    """

    _all: ClassVar[set[MemoryGuard]] = set()
    _changing: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, memory: str, stop: Callable[[], object]) -> None:
        self._limit = size_of(memory)
        self._stop = stop
        self._start = resident()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> MemoryGuard:
        with self._changing:
            self._all.add(self)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._changing:
            self._all.discard(self)
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            with self._changing:
                allowed = sum(guard._limit for guard in self._all)
                start = min((guard._start for guard in self._all), default=self._start)
            if resident() - start > allowed + SPARE:
                self._stop()


def resident() -> int:
    """The bytes of memory that the process holds; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
