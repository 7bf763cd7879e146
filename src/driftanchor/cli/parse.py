"""Turn the text of options into the values that the package takes.

Errors name the option and the value.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from driftanchor.errors import InvalidInput

if TYPE_CHECKING:
    from driftanchor.core.promises import Range
    from driftanchor.policies import Policy

MOST_VALUES = 10**6  # in a list: `0.5*1000000000` is a slip, not a bandit
WORDS = {"true": True, "false": False, "none": None}


def number(text: str, option: str, within: str | None = None) -> float:
    """One number; a whole one is an `int`, however it is written.

    Example:
        >>> number("1e4", "--horizon"), number("0.5", "--noise")
        (10000, 0.5)
    """
    value = word(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        where = "" if within is None or within == text else f" in {within!r}"
        raise InvalidInput(f"{option} must be a number, got {text!r}{where}")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def numbers(text: str, option: str) -> list[float]:
    """A list of numbers: comma separated, `value*count` repeats a value.

    Example:
        >>> numbers("0.8,0.5*3", "--online")
        [0.8, 0.5, 0.5, 0.5]
    """
    values: list[float] = []
    for part in text.split(","):
        value, star, count = (piece.strip() for piece in part.partition("*"))
        times = number(count, option, text) if star else 1
        if not isinstance(times, int) or not 1 <= times <= MOST_VALUES - len(values):
            raise InvalidInput(
                f"{option} repeats {value!r} {count!r} times in {text!r}: the count after * must "
                f"be a whole number from 1, and a list has at most {MOST_VALUES:,} values"
            )
        values += [number(value, option, text)] * times
    return values


def number_or_list(text: str, option: str) -> Any:
    """One number, which then holds for all arms, or a list as in `numbers`."""
    values = numbers(text, option)
    return values[0] if len(values) == 1 else values


def checkpoints(text: str) -> Any:
    """How many rounds to read regret after, or a list of them."""
    rounds = numbers(text, "--checkpoints")
    return rounds[0] if len(rounds) == 1 and isinstance(rounds[0], int) else rounds


def policies(texts: Sequence[str], rewards: Range | None = None) -> dict[str, Policy]:
    """The policies asked for by label; when none is asked for, all that take any such reward.

    Example:
        >>> policies(["ts", "careful=anchor-ts:posterior_scale=4"])["careful"].posterior_scale
        4.0
        >>> "beta-ts" in policies([]), "beta-ts" in policies([], (0, 1))
        (False, True)
    """
    from driftanchor.core.promises import ANYTHING
    from driftanchor.policies import POLICIES, make

    if not texts:
        known = {name: make(name) for name in POLICIES}
        ends = ANYTHING if rewards is None else rewards
        return {name: policy for name, policy in known.items() if policy.accepts(ends)}
    made: dict[str, Policy] = {}
    for text in texts:
        label, policy = _policy(text)
        if label in made:
            raise InvalidInput(
                f"--policy {label!r} is given twice: label one of them, as in other={text}"
            )
        made[label] = policy
    return made


def _policy(text: str) -> tuple[str, Policy]:
    """`[label=]name[:parameter=value,…]` as a label and a policy; see `_split` for names."""
    from driftanchor.policies import make

    label, name, pairs = _split(text)
    parameters: dict[str, Any] = {}
    for pair in pairs:
        key, sign, value = (piece.strip() for piece in pair.partition("="))
        if not key or not sign or not value:
            raise InvalidInput(f"--policy {text!r}: write {name}:parameter=value, got {pair!r}")
        if key in parameters:
            raise InvalidInput(f"--policy {text!r} sets {key!r} twice")
        parameters[key] = word(value)
    try:
        policy = make(name, **parameters)
    except InvalidInput as error:  # its argument is one of the policy, not an option
        said = str(error).removeprefix(f"policy {name!r}: ")
        raise InvalidInput(f"--policy {text!r}: {said}") from error
    return label or policy.name, policy


def _split(text: str) -> tuple[str, str, list[str]]:
    """The label, the name and the parameters of a policy.

    A name may be `module:Class` or `file.py:Class`: what follows the first colon is a class unless
    it sets a parameter.

    Example:
        >>> _split("ucb:c=3"), _split("mine=./kl.py:KLUCB:c=3,noise=2")
        (('', 'ucb', ['c=3']), ('mine', './kl.py:KLUCB', ['c=3', 'noise=2']))
    """
    from driftanchor.policies import POLICIES

    head, colon, tail = text.partition(":")
    label, equals, name = (piece.strip() for piece in head.rpartition("="))
    if equals and not label:
        raise InvalidInput(f"--policy {text!r} has an empty label: write label={name}")
    cls, another, rest = tail.partition(":")
    if cls and "=" not in cls and name not in POLICIES:
        name, colon, tail = f"{name}:{cls.strip()}", another, rest
    return label, name, tail.split(",") if colon else []


def word(text: str) -> Any:
    """A whole number, a number, true, false, none, or else the text itself.

    Example:
        >>> [word(text) for text in ("2", "2.5", "true", "none", "cheung-lyu", "1_0")]
        [2, 2.5, True, None, 'cheung-lyu', '1_0']
    """
    if "_" in text or not text.isascii():  # Python reads 1_0 as 10, and digits of all scripts
        return text
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for kind in (int, float) if "_" not in text else ():  # to Python 1_0 is 10
        with contextlib.suppress(ValueError):
            return kind(text)
    return text
