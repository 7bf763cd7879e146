"""Shorter ways through Numba while it compiles a kernel.

For every `a + b` Numba tries all that `+` may mean, once when it finds types and once when it
translates, and before each function it looks for new ways to compile. A kernel has thousands of
such questions and some hundred answers. Here Numba keeps an answer, looks for new ways only where
something was added, times nothing, and finds out where variables live only if that is asked. It
does so in the thread that compiles a kernel, and while it does.

These are inner parts of Numba, tried with 0.60 and 0.68. Where one is missing, the rest still
serves. The module imports Numba: import it where Numba is known to be there.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from driftanchor.errors import require


def _numba(module: str) -> Any:
    return require(f"numba.{module}", extra="fast", why="compiled simulation")


_function = _numba("core.types.functions").BaseFunction
_contexts = (_numba("core.typing.context").BaseContext, _numba("core.base").BaseContext)
_event = _numba("core.event")
_flags = _numba("core.targetconfig").ConfigStack
_postproc = _numba("core.postproc")
_transforms = _numba("core.transforms")
_answers: dict[int, tuple[Any, dict[Any, Any]]] = {}  # by the identity of a function's type


@contextlib.contextmanager
def shortcuts() -> Iterator[None]:
    """Let Numba take them in this thread. One thread at a time may ask for it."""
    here = threading.get_ident()
    with contextlib.ExitStack() as kept:
        kept.enter_context(_instead(_function, "get_call_type", _remembered, here))
        where_new = _where_new()
        for context in _contexts:
            kept.enter_context(_instead(context, "refresh", where_new, here))
        kept.enter_context(_instead(_event, "install_timer", _untimed, here))
        run = _instead(_postproc.PostProcessor, "run", _lives_when_asked, here, by_keywords=True)
        kept.enter_context(run)
        yield


@contextlib.contextmanager
def _instead(
    owner: Any, name: str, short: Callable[..., Any], here: int, *, by_keywords: bool = False
) -> Iterator[None]:
    """Call `short` with the method of that name and its arguments, in the thread `here`."""
    long = vars(owner).get(name)
    if long is None:
        yield
        return

    @functools.wraps(long)
    def either(*arguments: Any, **named: Any) -> Any:
        if threading.get_ident() == here and (by_keywords or not named):
            return short(long, *arguments, **named)
        return long(*arguments, **named)

    setattr(owner, name, either)
    try:
        yield
    finally:
        setattr(owner, name, long)


def _remembered(long: Callable[..., Any], function: Any, context: Any, args: Any, kws: Any) -> Any:
    """The signature of a function for arguments of these types.

    Numba keeps one type for all that is equal, so two types are the same if they are one object.
    Numba also notes which code it found. A function that was compiled with other options since may
    have changed that note, so it is restored with the answer.
    """
    flags = _flags.top_or_none()
    if kws or flags is None or not hasattr(function, "_impl_keys"):
        return long(function, context, args, kws)
    _, answers = _answers.setdefault(id(function), (function, {}))
    key = (flags.boundscheck, *map(id, args))
    if key not in answers:
        signature = long(function, context, args, kws)
        if signature is None:
            return None
        answers[key] = (args, signature, function._impl_keys[signature.args])
    _, signature, code = answers[key]
    function._impl_keys[signature.args] = code
    return signature


def _untimed(long: Callable[..., Any], kind: str, callback: Any) -> Any:
    """Measure nothing: each function is timed by the timers of all that call it."""
    return contextlib.nullcontext()


def _lives_when_asked(long: Callable[..., Any], processor: Any, *how: Any, **named: Any) -> None:
    """Find out where variables live only if somebody asks: Numba does five times a function."""
    function = processor.func_ir
    if function.is_generator or any((*how, *named.values())):
        long(processor, *how, **named)
        return
    function.blocks = _transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = _postproc.VariableLifetime(function.blocks)
    function.generator_info = None


def _where_new() -> Callable[..., None]:
    """Look for new ways to compile only where some were added since this context looked.

    Numba makes a copy of a context for each function, and they share what they know. It looks for
    the ways to translate, and then for those to find types. Among these are hundreds that add a way
    to translate, before which Numba would look for all of them again: here it looks afterwards.
    """
    seen: dict[int, int] = {}
    looking: list[Any] = []

    def refresh(long: Callable[..., Any], context: Any) -> None:
        known = getattr(context, "_registries", None)
        if known is None:
            long(context)
        elif seen.get(id(known)) == _size(known):
            if hasattr(context, "typing_context"):
                context.typing_context.refresh()
        elif not looking or id(known) not in seen:
            looking.append(context)
            while seen.get(id(known)) != _size(known):
                seen[id(known)] = _size(known)
                long(context)
            looking.pop()

    return refresh


def _size(registries: dict[Any, Any]) -> int:
    """How much was ever made known: the lists of a registry only grow."""
    return sum([len(x) for r in registries for x in vars(r).values() if type(x) is list])
