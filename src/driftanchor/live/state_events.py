"""Events: the facts from which a state is computed.

`driftanchor.live.changes` validates requests and turns them into events. `State.apply` applies
events to a state, and `Terms.after` applies them to the terms.
"""

from __future__ import annotations

from dataclasses import dataclass

MemoryRow = tuple[int, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision was made.

    Attributes:
        number: 1 for the first decision, and so on.
        column: The arm to play.
        memory: The changed rows of the policy's memory, as pairs of a column and its values.
        waits: `True` if the decision waits for its reward as soon as it is made; `False` if it
            starts to wait when it is shown.
    """

    number: int
    column: int
    memory: tuple[MemoryRow, ...] = ()
    waits: bool = True


@dataclass(frozen=True, slots=True)
class Exposed:
    """A decision was shown, and waits for its reward from now on."""

    column: int


@dataclass(frozen=True, slots=True)
class Rewarded:
    """Rewards came. Each closes one pending decision of its arm, if there is one.

    Attributes:
        columns: The arm of each reward.
        rewards: The rewards, in the order in which they are added.
        decisions: The number of each reward's decision, if known.
        late: Whether these decisions were closed before.
    """

    columns: tuple[int, ...]
    rewards: tuple[float, ...]
    decisions: tuple[int, ...] = ()
    late: bool = False


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Some pending decisions were closed without a reward.

    Attributes:
        column: The arm.
        count: The number of its decisions.
        decisions: Their numbers, if known.
    """

    column: int
    count: int
    decisions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Corrected:
    """A counted reward was replaced.

    Attributes:
        column: The arm.
        before: The old reward.
        after: The new reward.
        total: The sum of the arm's rewards, if subtracting `before` would lose digits.
    """

    column: int
    before: float
    after: float
    total: float | None = None


@dataclass(frozen=True, slots=True)
class Paused:
    """An arm cannot be played from now on."""

    column: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """A paused arm can be played again."""

    column: int


@dataclass(frozen=True, slots=True)
class ArmAdded:
    """A new arm was added in the last column.

    Attributes:
        label: Its label.
        offline: (n, mean) or (n, mean, variance) of its logs.
        bias_bound: Its bias bound, if any.
        relative_bound: Its relative bound, if any.
    """

    label: str
    offline: tuple[float | int | None, ...] = (0,)
    bias_bound: float | None = None
    relative_bound: float | None = None


@dataclass(frozen=True, slots=True)
class Distrusted:
    """The logs of an arm no longer count."""

    column: int


@dataclass(frozen=True, slots=True)
class BoundsChanged:
    """The bounds on the logs were changed.

    Attributes:
        bias_bounds: V of every arm; `None` if unchanged.
        relative_bounds: W of every arm; `None` if unchanged.
    """

    bias_bounds: tuple[float, ...] | None = None
    relative_bounds: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Matured:
    """Delayed rewards were estimated: see `driftanchor.core.delays`.

    Until the next estimate, policies see it instead of the counted rewards.

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
