"""Junk for everything that is public in Python: it works, or an error of ours says what is wrong.

Functions, classes and their methods are found in `driftanchor` itself, so that new ones take part.
A case takes arguments that work and puts junk in the place of one or two. Left out are errors, and
the scalar functions of policies, which are compiled and see only what the package gives them.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

from benchmarks.torture import children, commands
from benchmarks.torture.things import thing

Entry = Callable[[], Callable[..., Any]]
# Records and steps that the package makes of what it has checked; their docstrings say so.
TRUSTED = (
    *("Campaign", "Explanation.of", "Tally.plus", "Tally.trusted"),
    *("State", "State.start", "State.apply", "State.decide", "State.learn"),
    *("Terms", "Terms.after", "Terms.restore", "Terms.without_logs_of"),
)
# What the package makes and nobody else; a store is its own contract, which has tests of its own.
MADE = (
    *("Alarm", "ArmStatus", "Decision", "HistoryRow", "Outlook", "RatioCheck", "Receipt"),
    *("Settings", "Status", "Store", "Verified"),
)


def run(cases: int, seed: int = 0) -> children.Outcome:
    """Play so many cases."""
    return children.run("benchmarks.torture.entries", range(cases), seed)


def prepare() -> None:
    """Make files, and see that nothing is compiled."""
    commands.prepare()
    warnings.simplefilter("ignore")
    entries()


def case(rng: Random) -> tuple[str, Callable[[], str]]:
    """A call as text, and what plays it."""
    from benchmarks.torture.instances import arguments

    name = rng.choice(list(entries()))
    call = entries()[name]()
    given = arguments(call, name, rng)
    for _ in range(rng.choice((1, 1, 2))):
        value, place = thing(rng), rng.choice(list(given) or [""])
        if place and not (place == "progress" and callable(value)):  # what it raises is not ours
            given[place] = value
    text = ", ".join(f"{key}={_shown(value)}" for key, value in given.items())
    return f"{name}({text})", functools.partial(play, call, given)


def play(call: Callable[..., Any], arguments: dict[str, Any]) -> str:
    """What is wrong with what a call raises, if anything."""
    from driftanchor import DriftanchorError

    before = commands.contents()
    try:
        call(**arguments)
    except DriftanchorError as error:
        return "" if str(error).strip() else "an error without a message"
    except Exception as error:
        return commands.defect_of(error)
    finally:
        commands.restore(before)
    return ""


@functools.cache
def entries() -> dict[str, Entry]:
    """Each public way in by its name; it is made anew, as a learner changes when it is used."""
    import driftanchor as da

    found: dict[str, Entry] = {}
    names: Any = da.__all__
    for name in names:
        public = getattr(da, name)
        is_class = inspect.isclass(public)
        if not callable(public) or (is_class and issubclass(public, Exception)) or name in MADE:
            continue
        found[name] = functools.partial(getattr, da, name)
        if is_class and not issubclass(public, da.Policy):
            found |= _methods(name, public)
    return {name: entry for name, entry in found.items() if name not in TRUSTED}


def _methods(name: str, public: type) -> dict[str, Entry]:
    from benchmarks.torture.instances import INSTANCES

    found: dict[str, Entry] = {}
    for method, function in inspect.getmembers(public, callable):
        ours = str(getattr(function, "__module__", "")).startswith("driftanchor")
        if method.startswith("_") or not ours:  # also what tuples and mappings have
            continue
        owner = (lambda: public) if inspect.ismethod(function) else INSTANCES[name]
        found[f"{name}.{method}"] = functools.partial(_method, owner, method)
    return found


def _method(owner: Callable[[], Any], method: str) -> Callable[..., Any]:
    call: Callable[..., Any] = getattr(owner(), method)
    return call


def _shown(value: object) -> str:
    try:
        return ascii(value)[:120]
    except ValueError:
        return f"<{type(value).__name__} without a text>"
