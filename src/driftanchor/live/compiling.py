"""Compiles decisions in the background, while they are interpreted.

To load Numba and a kernel from disk takes half a second of CPU time, and to compile one some
seconds. A decision never waits for it: a thread does it, and what is ready is used from then on.
Kernels are kept for the whole process, one for each class of policies and type of its numbers.

The thread is no daemon: a process that ends while a kernel is compiled waits until it is on disk,
because a thread that is stopped inside the compiler can crash the process. A fork waits too: in the
child, locks that the thread holds would be held for ever.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable
from typing import Any

from driftanchor.live.chosen_column import chosen_column

Kernel = Callable[..., Any]
Kind = tuple[type, ...]  # of a policy's numbers: their named tuple, and the type of each

_kernels: dict[Kind, Kernel] = {}
_threads: dict[Kind, threading.Thread | None] = {}  # of every kind that was asked for
_asking = threading.Lock()


def kind_of(numbers: Any) -> Kind:
    """What a kernel is compiled for: the policy's class, and the types of its numbers."""
    return (type(numbers), *map(type, numbers))


def ready(kind: Kind) -> Kernel | None:
    """The compiled `chosen_column`, if it is ready."""
    return _kernels.get(kind)


def ask(kind: Kind, arguments: tuple[Any, ...]) -> None:
    """Have `chosen_column` compiled for arguments of these types, if nobody asked for it before.

    Where Numba is missing, or a policy cannot be compiled, it never becomes ready.
    """
    with _asking:
        if kind in _threads:
            return
        _threads[kind] = None
        if importlib.util.find_spec("numba") is None:
            return
        thread = threading.Thread(
            target=_compile, args=(kind, arguments), name="driftanchor-compile", daemon=False
        )
        try:
            thread.start()
        except RuntimeError:  # the process is about to end, or has no more threads
            return
        _threads[kind] = thread


def finish() -> None:
    """Wait until all that was asked for is ready or has failed."""
    for thread in list(_threads.values()):
        if thread is not None and thread is not threading.current_thread():
            thread.join()


def _compile(kind: Kind, arguments: tuple[Any, ...]) -> None:
    try:
        numba = importlib.import_module("numba")
        if not threading.main_thread().is_alive():
            return  # the process waits to end: nobody will use it
        kernels = importlib.import_module("driftanchor.compiled.kernels")
        loop: Any = kernels.kernel(kind[0].policy, chosen_column)  # type: ignore[attr-defined]
        # What `compile` returns takes arguments of these types alone. A call through `loop` would
        # find out the type of each array first, which takes longer than a decision of ten arms.
        kernel: Kernel = loop.compile(tuple(numba.typeof(x) for x in arguments))
    except Exception:
        return  # it cannot be compiled: a policy of one's own may be any Python
    _kernels[kind] = kernel


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=finish)
