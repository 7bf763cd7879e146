"""Messages of the package name arguments of Python; people who type commands know options."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

_current: ContextVar[Mapping[str, str] | None] = ContextVar("options", default=None)


def options_of(parameters: Sequence[Any]) -> dict[str, str]:
    """The option of each argument of a command, by the name of the argument in Python."""
    flags = {parameter.name: parameter.opts[0] for parameter in parameters}
    return {name: flag for name, flag in flags.items() if flag.startswith("--")}


@contextlib.contextmanager
def command(parameters: Sequence[Any]) -> Iterator[None]:
    """Within it, `with_options` knows the options of this command."""
    before = _current.set(options_of(parameters))
    try:
        yield
    finally:
        _current.reset(before)


def with_options(message: str, options: Mapping[str, str] | None = None) -> str:
    """The message with options in place of arguments.

    A name of one word, such as `noise`, may be a plain word: it stays. So does what is quoted.

    Args:
        message: What the package says.
        options: By argument; `None` for those of the command that runs.

    Example:
        >>> with_options("give a reward_range, not 'reward_range'", {"reward_range": "--range"})
        "give a --range, not 'reward_range'"
        >>> with_options("give law='bernoulli'", {"law": "--law"})
        'give --law bernoulli'
        >>> with_options("give a reward_range (--range)", {"reward_range": "--range"})
        'give a --range'
    """
    known = (_current.get() or {}) if options is None else options
    for name, option in known.items():
        message = re.sub(rf"(?<![\w'\"./-]){name} \({option}\)", option, message)  # it names both
        message = re.sub(rf"(?<![\w'\"./-]){name}='([\w-]+)'", rf"{option} \1", message)
        if "_" in name:
            message = re.sub(rf"(?<!unknown )(?<![\w'\"./-]){name}(?![\w'\"=(])", option, message)
    return message
