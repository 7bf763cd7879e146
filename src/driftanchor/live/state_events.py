"""Events: the facts that a state is folded from.

What a caller asks for is checked before it becomes an event (see `driftanchor.live.changes`).
Whoever keeps the first terms and all events, in order, can build the state again with `fold` (see
`driftanchor.live.state`), and the terms with `Terms.after`.
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
    """Other bounds are promised of the logs from now on.

    Attributes:
        bias_bounds: V of every arm; `None` if it stays.
        relative_bounds: W of every arm; `None` if it stays.
    """

    bias_bounds: tuple[float, ...] | None = None
    relative_bounds: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Matured:
    """A new estimate of what live rewards are worth, where rewards are delayed.

    From now on policies see these numbers in place of the rewards that were counted. The next
    estimate replaces them. See `driftanchor.core.delays`.

    Attributes:
        pulls: Pulls that the rewards of each arm are worth; `None` if rewards count as they come.
        totals: Reward sums at that many pulls.
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
