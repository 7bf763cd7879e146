"""Work that a decision does not wait for: compiling, in threads of its own.

To load Numba and a kernel from disk takes half a second of CPU time, and to compile one some
seconds. What is ready is used from then on.

The threads are no daemons: a process that ends while a kernel is compiled waits until it is on
disk, because a thread that is stopped inside the compiler can crash the process. A fork waits too:
in the child, locks that a thread holds would be held for ever.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import threading
import time
from collections.abc import Callable, Hashable

_log = logging.getLogger("driftanchor")
_threads: dict[Hashable, threading.Thread | None] = {}  # of all that was asked for
_asking = threading.Lock()
_importing = threading.Lock()  # to import Numba in two threads at once fails in one of them


def compile_once(key: Hashable, work: Callable[[], None]) -> None:
    """Let `work` compile something in the background, if nobody asked for `key` before.

    Where Numba is missing nothing happens. What `work` raises is logged as a warning: a policy of
    one's own may be any Python, and what cannot be compiled is interpreted.
    """
    with _asking:
        if key in _threads:
            return
        _threads[key] = None
        if importlib.util.find_spec("numba") is None:
            return
        thread = threading.Thread(target=_tried, args=(work,), name="driftanchor-compile")
        thread.daemon = False
        try:
            thread.start()
        except RuntimeError:  # the process is about to end, or has no more threads
            return
        _threads[key] = thread


def finish(seconds: float | None = None) -> None:
    """Wait until all that was asked for is ready or has failed, or until the time is over."""
    end = None if seconds is None else time.monotonic() + seconds
    for thread in list(_threads.values()):
        if thread is not None and thread is not threading.current_thread():
            thread.join(None if end is None else max(end - time.monotonic(), 0.0))


def _tried(work: Callable[[], None]) -> None:
    if not threading.main_thread().is_alive():
        return  # the process waits to end: nobody will use it
    try:
        with _importing:
            importlib.import_module("numba.extending")
        work()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        _log.warning("not compiled, so that decisions stay interpreted and slower: %s", why)


# `logging` must be imported before the hook is registered:
# When a process forks, hooks are called from the last to the first, and that of `logging` takes its
# lock. The compiler writes to the log, so `finish` would wait for ever if it came after that.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=finish)
