"""Compile the rules of policies in the background, so that decisions do not wait for the compiler.

Loading Numba and a cached rule takes half a second of CPU time; compiling takes several seconds.
Until a compiled rule is ready, the interpreted one is used. Both give the same numbers.

The threads are not daemons: a process that exits during a compile waits for it to finish, because
a thread stopped inside the compiler can crash the process. A fork waits too, because locks held by
a thread would stay locked forever in the child.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import logging
import os
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

from driftanchor.compiled import kernels
from driftanchor.compiled.overloads import parameters_of
from driftanchor.core.evidence import Evidence
from driftanchor.policies.base import Policy

Rule = Callable[..., Any]

_rules: dict[Hashable, Rule] = {}
_threads: dict[Hashable, threading.Thread | None] = {}  # None if none could be started
_starting = threading.Lock()
_compiling = threading.Lock()  # also while Numba is imported: two threads at once would fail
_log = logging.getLogger("driftanchor")


class BackgroundRule:
    """A rule that is compiled in the background once interpreting it has cost enough.

    Args:
        policy: The policy.
        make: A function of `driftanchor.compiled.rules`. The first arguments of the rule that it
            makes are the policy's parameters and the evidence.
        enough: The amount of interpreted work after which the rule is compiled.
    """

    def __init__(self, policy: Policy, make: Callable[[Any], Rule], enough: int) -> None:
        self._policy, self._make = policy, make
        self._left = enough
        self._kind: Any = None  # of the policy: compiled rules are shared by policies of one kind
        self._parameters: Any = None

    def ready(self, evidence: Evidence, arguments: tuple[Any, ...], work: int) -> Rule | None:
        """Return the compiled rule, bound to the policy's parameters; `None` if it is not ready.

        Args:
            evidence: Evidence with arrays of the types that the rule will be called with.
            arguments: The other arguments of the rule, of the types it will be called with.
            work: The amount of work that will be interpreted if it is not ready.
        """
        try:
            if self._kind is None:
                self._parameters = parameters_of(self._policy)
                self._kind = kernels.policy_type(self._policy)
        except Exception:  # a custom policy: interpreting it will raise the error
            return None
        key = self._make, self._kind, evidence.pulls.dtype.type
        rule = _rules.get(key)
        if rule is not None:
            return functools.partial(rule, self._parameters)
        self._left -= work
        if self._left <= 0:
            compile_once(key, self._policy, self._make, (self._parameters, evidence, *arguments))
        return None

    def start_compiling(self, evidence: Evidence, arguments: tuple[Any, ...]) -> None:
        """Compile in the background now, however little was interpreted."""
        self._left = 0
        self.ready(evidence, arguments, 0)


def compile_once(
    key: Hashable, policy: Policy, make: Callable[[Any], Rule], arguments: tuple[Any, ...]
) -> None:
    """Compile a rule in the background for arguments of these types, once per `key`.

    Without Numba, or if the policy cannot be compiled, the rule never becomes ready. A failure is
    logged, because a custom policy may be any Python code.
    """

    def work() -> None:
        if not threading.main_thread().is_alive():
            return  # the process is exiting
        try:
            with _compiling:
                importlib.import_module("numba.extending")
                rule = kernels.rule(policy, make, *arguments)
                _rules[key] = kernels.entry(rule, *arguments)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            _log.warning("compilation failed, so decisions stay interpreted and slower: %s", why)

    with _starting:
        if key in _threads:
            return
        _threads[key] = None
        if importlib.util.find_spec("numba") is None:
            return
        thread = threading.Thread(target=work, name="driftanchor-compile", daemon=False)
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


# Fork hooks run in reverse order, and that of `logging`, imported above, takes the logging lock.
# The compiler logs, so `finish` must wait before that hook runs.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=finish)
