"""What a policy answers, checked where it is interpreted, and what it raises, under its name.

Compiled code has the types that it was compiled for, and its loops look at each column.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from driftanchor.core import check
from driftanchor.errors import DriftanchorError, InvalidInput, shown

if TYPE_CHECKING:
    from driftanchor.policies.base import Policy


def index(policy: Policy, answer: Any) -> float:
    """The index of an arm, which must be a number; NaN is one."""
    if isinstance(answer, float):
        return answer
    if not check.is_number(answer):
        raise InvalidInput(
            f"{policy.name!r} gave an arm the index {shown(answer)}: it must be a number",
            argument="policy",
        )
    return float(answer)


def column(policy: Policy, answer: Any) -> int:
    """The column to play, which must be a whole number; -1 where no arm can be played."""
    if not isinstance(answer, int | np.integer) or isinstance(answer, bool):
        raise InvalidInput(
            f"{policy.name!r} chose {shown(answer)}: choose must return the column of an arm, a "
            "whole number",
            argument="policy",
        )
    return int(answer)


@contextlib.contextmanager
def errors_of(policy: str, hint: str = "") -> Iterator[None]:
    """Say whose rule it was that raised an error; what it came from stays its cause.

    Args:
        policy: The name of the policy.
        hint: What to do, for the end of the message.
    """
    try:
        yield
    except (DriftanchorError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        kind = type(error).__name__
        raise InvalidInput(
            f"{policy!r} raised {kind}: {reason}{hint}", argument="policy"
        ) from error
