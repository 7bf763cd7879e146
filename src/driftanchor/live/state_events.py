"""Events: the facts that a state is folded from.

Requests are validated before they become events (see `driftanchor.live.changes`). From the initial
terms and all events in order, `fold` rebuilds the state (see `driftanchor.live.state`), and
`Terms.after` rebuilds the terms.
"""

from __future__ import annotations

from dataclasses import dataclass

MemoryRow = tuple[int, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision was made: from now on an arm waits for one more reward.

    Attributes:
        number: 1 for the first decision, and so on.
        column: The arm to play.
        memory: The rows of the policy's memory that changed: the arm's column, and its numbers.
        waits: Whether the arm waits for a reward from now on, or only once it was shown.
    """

    number: int
    column: int
    memory: tuple[MemoryRow, ...] = ()
    waits: bool = True


@dataclass(frozen=True, slots=True)
class Exposed:
    """A decision that did not wait was shown: from now on its arm waits for one more reward."""

    column: int


@dataclass(frozen=True, slots=True)
class Rewarded:
    """Rewards came. Each ends the wait of one decision of its arm, if one waits.

    Attributes:
        columns: The arm of each reward.
        rewards: The rewards, in the order in which they are added.
        decisions: The number of the decision that each is for, if the caller knows it.
        late: Whether these decisions were given up before, so that no wait ends.
    """

    columns: tuple[int, ...]
    rewards: tuple[float, ...]
    decisions: tuple[int, ...] = ()
    late: bool = False


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Rewards will never come for some of the decisions that wait.

    Attributes:
        column: The arm.
        count: How many of its decisions stop waiting.
        decisions: Their numbers, if the caller knows them.
    """

    column: int
    count: int
    decisions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Corrected:
    """A reward that counts already becomes another one.

    Attributes:
        column: The arm.
        before: The reward that counted.
        after: The reward that counts from now on.
        total: The sum of the arm's rewards, if subtracting `before` would lose digits.
    """

    column: int
    before: float
    after: float
    total: float | None = None


@dataclass(frozen=True, slots=True)
class Paused:
    """An arm is not played from now on."""

    column: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """A paused arm can be played again."""

    column: int


@dataclass(frozen=True, slots=True)
class ArmAdded:
    """A new arm takes the last column.

    Attributes:
        label: Its label.
        offline: (n, mean) or (n, mean, variance) of its logs.
        bias_bound: Its bias bound, if one is promised.
        relative_bound: Its relative bound, if one is promised.
    """

    label: str
    offline: tuple[float | int | None, ...] = (0,)
    bias_bound: float | None = None
    relative_bound: float | None = None


@dataclass(frozen=True, slots=True)
class Distrusted:
    """The logs of an arm no longer count: nothing is promised of them from now on."""

    column: int


@dataclass(frozen=True, slots=True)
class BoundsChanged:
    """The bounds on the logs change from now on.

    Attributes:
        bias_bounds: V of every arm; `None` if unchanged.
        relative_bounds: W of every arm; `None` if unchanged.
    """

    bias_bounds: tuple[float, ...] | None = None
    relative_bounds: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Matured:
    """A new estimate of live rewards, for delayed rewards.

    Until the next estimate, policies see these numbers instead of the counted rewards. See
    `driftanchor.core.delays`.

    Attributes:
        pulls: The effective pulls of each arm; `None` if rewards are no longer delayed.
        totals: The reward sums for these pulls.
    """

    pulls: tuple[float, ...] | None
    totals: tuple[float, ...] | None


Event = (
    Decided
    | Exposed
    | Rewarded
    | GivenUp
    | Corrected
    | Paused
    | Resumed
    | ArmAdded
    | Distrusted
    | BoundsChanged
    | Matured
)
