"""The type of a policy's numbers, by which compiled code finds the policy's class."""

import re
from collections import namedtuple
from typing import Any

_seen: dict[str, int] = {}


def numbers_type(cls: Any, fields: tuple[str, ...]) -> Any:
    """The named tuple type of a policy class, made once and found again by its name.

    Numba takes two named tuples for the same type when their names and fields are alike, so the
    name is the class's own, with a number for a class defined anew under a name already seen.
    """
    if "Numbers" not in vars(cls) or cls.Numbers._fields != fields:
        name = re.sub(r"\W", "_", f"{cls.__module__}_{cls.__qualname__}")
        _seen[name] = _seen.get(name, 0) + 1
        make: Any = namedtuple
        cls.Numbers = make(f"{name}_{_seen[name]}", fields)
        cls.Numbers.__module__ = cls.__module__
        cls.Numbers.__qualname__ = f"{cls.__qualname__}.Numbers"
        cls.Numbers.policy = cls
    return cls.Numbers
