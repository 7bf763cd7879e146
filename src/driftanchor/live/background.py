"""Background compilation, so that decisions do not wait for the compiler.

Loading Numba and a cached kernel takes half a second of CPU time; compiling a kernel takes several
seconds. A kernel is used as soon as it is ready.

The threads are not daemons: a process that exits during a compile waits for it to finish, because
a thread stopped inside the compiler can crash the process. A fork waits too, because locks held by
a thread would stay locked forever in the child.
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
_threads: dict[Hashable, threading.Thread | None] = {}  # None if none could be started
_asking = threading.Lock()
_importing = threading.Lock()  # importing Numba in two threads at once fails in one of them


def compile_once(key: Hashable, work: Callable[[], None]) -> None:
    """Run `work` in the background to compile something, once per `key`.

    No-op without Numba. Errors of `work` are logged as warnings: a custom policy may be any Python
    code, and code that cannot be compiled is interpreted.
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
        except RuntimeError:  # the process is exiting, or out of threads
            return
        _threads[key] = thread


def finish(seconds: float | None = None) -> None:
    """Wait until all background compiles have ended, but at most `seconds`."""
    end = None if seconds is None else time.monotonic() + seconds
    for thread in list(_threads.values()):
        if thread is not None and thread is not threading.current_thread():
            thread.join(None if end is None else max(end - time.monotonic(), 0.0))


def _tried(work: Callable[[], None]) -> None:
    if not threading.main_thread().is_alive():
        return  # the process is exiting, so nobody will use the kernel
    try:
        with _importing:
            importlib.import_module("numba.extending")
        work()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        _log.warning("compilation failed, so decisions stay interpreted and slower: %s", why)


# `logging` must be imported before this hook is registered. Fork hooks run in reverse order, and
# that of `logging` takes the logging lock. The compiler logs, so `finish` would wait forever if it
# ran after that hook.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=finish)
