"""Locks between processes: one at a time for a file or a folder, where the system can do that."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

PAUSE = 0.02  # seconds between two tries


@contextlib.contextmanager
def alone(path: Path, patience: float) -> Iterator[bool]:
    """Hold the lock of a file or folder: other processes and threads wait until the block ends.

    The lock ends with the process that holds it, so none is ever left behind.

    Args:
        path: The file or the folder.
        patience: How many seconds to wait for it.

    Yields:
        Whether the lock is held: False where there is no such file or the system has no locks, and
        where another process kept it for too long.
    """
    try:
        import fcntl  # not on Windows

        how = os.O_RDONLY if path.is_dir() else os.O_RDWR
        handle = os.open(path, how | os.O_CLOEXEC)
    except (ImportError, OSError, ValueError):  # ValueError: a NUL in the name
        yield False
        return
    try:
        until = time.monotonic() + patience
        held = False
        while not held:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                held = True
            except BlockingIOError:
                if time.monotonic() >= until:
                    break
                time.sleep(PAUSE)
            except OSError:  # a file system without locks
                break
        yield held
    finally:
        os.close(handle)
