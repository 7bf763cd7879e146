"""What every policy is: frozen parameters and one scalar function, the index of one arm.

Other code calls a policy through the functions below. Interpreted, they call the policy's own
methods. Compiled, Numba replaces each by the method of the policy's class, and `self` by its
numbers. So a policy is written once, and runs in live decisions, in simulations and compiled.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast

from driftanchor.core import check
from driftanchor.core.common_move import Alone, common_move, is_relative, moved
from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.hints import apart
from driftanchor.core.noise import Draws, Stream, normal, nothing, uniform
from driftanchor.core.promises import ANYTHING, Range
from driftanchor.errors import InvalidInput
from driftanchor.policies import answers  # a module: what it calls is no part of a kernel
from driftanchor.policies.account import Account, Recorder
from driftanchor.policies.numbers_type import numbers_type
from driftanchor.policies.tails import Tails


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A rule that gives every arm an index; the arm with the largest is played.

    A policy writes `index` with its own fields and properties, the arm's numbers, the round and
    the noise it asked for with `draw`. Everything it calls must be a plain module-level function
    of numbers, so that it can be compiled.

    Attributes:
        prior_mean: m₀, what a reward is expected to be before anything is known.
        noise: σ, the standard deviation of a reward given its arm.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    uses_logs: ClassVar[bool] = True  # False where offline numbers change nothing
    uses_bounds: ClassVar[bool] = True  # False where V changes nothing, unless W is promised too
    memory: ClassVar[int] = 0  # numbers per arm that `choose` keeps from round to round
    belief: ClassVar[Any] = None  # the type that `believe` returns, where the policy has it
    reads_beliefs: ClassVar[bool] = False  # True where a `choose` of its own calls `belief_at`
    tails: ClassVar[Tails | None] = None  # the law of the index, for engines that skip draws
    law: ClassVar[Any] = None  # the law of the index: (policy, belief, now) -> IndexLaw
    laws: ClassVar[Any] = None  # where the policy has its own `choose`: see policies.round_law
    not_live: ClassVar[str | None] = None  # why campaigns refuse the rule, if they do
    grows: ClassVar[bool] = False  # True where the index is not random and never falls by waiting
    Numbers: ClassVar[Any] = None  # the type of `numbers()`, made when first asked for

    prior_mean: float = 0.0
    noise: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(getattr(self, "name", None), str):
            raise InvalidInput(
                f'{type(self).__name__} has no name: give its class one, name = "my-policy"',
                argument="policy",
            )
        self.check_number("prior_mean")
        self.check_number("noise", above=0.0)

    @property
    def reward_range(self) -> Range:
        """The lowest and the highest reward that the rule is made for; by default any."""
        return ANYTHING

    @staticmethod
    def draw(stream: Stream) -> Draws:
        """The noise of one arm in one round: which of the kinds in `driftanchor.core.noise`."""
        return nothing(stream)

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """The index of one arm in this round."""
        return self.sample(self.believe(arm), now, z)

    def believe(self, arm: ArmEvidence) -> Any:
        """What the arm's numbers say, as a named tuple of floats: it changes only with the arm.

        A policy may write `believe` and `sample` in place of `index`. Compiled simulations then
        keep a belief until its arm is played again.
        """
        raise InvalidInput(
            f"{self.name!r} defines neither index nor believe and sample", argument="policy"
        )

    def sample(self, belief: Any, now: Round, z: Draws) -> float:
        """The index of an arm from what is believed of it."""
        raise InvalidInput(
            f"{self.name!r} defines neither index nor believe and sample", argument="policy"
        )

    def moved(self, arm: ArmEvidence, common: float) -> ArmEvidence:
        """The arm as the index sees it where arms have relative bounds and moved by `common`.

        For most policies an arm whose logs moved along, with W in place of V, so that an index
        which knows only bias bounds serves here too.
        """
        return moved(arm, common, self.noise)

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """The column to play: the largest index, ties at random.

        Where a relative bound is promised, the common move is drawn first, once for all arms.
        """
        return largest_index(self, evidence, now, stream)

    def account(self, evidence: Evidence, now: Round, stream: Stream) -> Account:
        """The decision of `choose` from the same noise, with the numbers that explain it.

        A policy that overrides `choose` overrides this too, or its decisions have no numbers.
        """
        if type(self).choose is not Policy.choose:
            return Account(self.choose(evidence, now, stream), [], None)
        recorder = Recorder(self)
        chosen = largest_index(cast(Policy, recorder), evidence, now, stream)
        return Account(chosen, recorder.given, None)

    def explain(self, arm: ArmEvidence, now: Round, z: Draws) -> dict[str, float]:
        """The named numbers that the index is made of."""
        return {}

    def takes(self, ends: Range) -> bool:
        """Whether the rule is made for rewards from `ends[0]` to `ends[1]`."""
        low, high = self.reward_range
        return low <= ends[0] and ends[1] <= high

    def check_rewards(self, ends: Range, whose: str) -> None:
        """Refuse rewards that the rule is not made for."""
        if not self.takes(ends):
            low, high = self.reward_range
            raise InvalidInput(
                f"{self.name!r} is for rewards from {low:g} to {high:g}, and {whose} go from "
                f"{ends[0]:g} to {ends[1]:g}: give rewards in that range, or use a policy for all "
                "rewards, such as 'ts'",
                argument="policy",
            )

    def check_number(self, field: str, **limits: Any) -> None:
        """Validate a numeric field and keep it as a float.

        Where no other limits are given, numbers so large or small that sums and squares of them
        leave the range of floats are refused: the arms would then all have the same index.
        """
        low = check.SMALLEST if limits.get("above") == 0.0 else -check.LARGEST
        limits = {"low": low, "high": check.LARGEST, **limits}
        value = check.number(getattr(self, field), field, of=f"policy {self.name!r}", **limits)
        object.__setattr__(self, field, value)

    def check_choice(self, field: str, choices: tuple[str, ...]) -> None:
        """Validate a field that takes one of a few words."""
        check.choice(getattr(self, field), field, choices, of=f"policy {self.name!r}")

    def parameters(self) -> dict[str, Any]:
        """The parameters by name, ready for JSON."""
        return dataclasses.asdict(self)

    def numbers(self) -> Any:
        """All that `index` and `choose` may read of `self`: numeric fields and properties.

        A named tuple, of a type of its own for each class: compiled code takes it for `self`.
        """
        cls = type(self)
        names = [field.name for field in dataclasses.fields(cls) if field.default is not None]
        names += [name for name in dir(cls) if isinstance(getattr(cls, name), property)]
        values = {name: getattr(self, name) for name in names if not name.startswith("_")}
        values = {name: x for name, x in values.items() if isinstance(x, numbers.Real)}
        return numbers_type(cls, tuple(values))(*values.values())


def index(policy: Policy, arm: ArmEvidence, now: Round, z: Draws) -> float:
    """The index of one arm under `policy`."""
    return answers.index(policy, policy.index(arm, now, z))


def choose(
    policy: Policy, evidence: Evidence, now: Round, stream: Stream, together: bool | Alone
) -> int:
    """The column that `policy` plays; `together` is what `moves_together` says, once for a run."""
    return answers.column(policy, policy.choose(evidence, now, stream))


def index_at(policy: Policy, evidence: Evidence, column: int, now: Round, z: Draws) -> float:
    """The index of the arm in `column`; compiled, from what `remember` kept where it can."""
    return answers.index(policy, policy.index(arm_at(evidence, column), now, z))


def belief_at(policy: Policy, evidence: Evidence, column: int) -> Any:
    """What is believed of the arm in `column`; compiled, what `remember` kept."""
    return policy.believe(arm_at(evidence, column))


def remember(policy: Policy, evidence: Evidence, column: int) -> None:
    """Compiled, keep what is believed of an arm, in the columns of `memory` after the policy's."""


def keeps_beliefs(policy: Policy) -> bool:
    """Whether `belief_at` gives what `remember` kept; interpreted it never does."""
    return False


def keep(policy: Policy, evidence: Evidence, column: int, place: int, value: float) -> None:
    """Compiled, change the number at one `place` of what `remember` kept."""


def moved_by(policy: Policy, arm: ArmEvidence, common: float) -> ArmEvidence:
    """The arm as `policy` sees it after a common move."""
    return policy.moved(arm, common)


def moves_together(policy: Policy, evidence: Evidence) -> bool:
    """Whether `policy` uses logs of which a relative bound is promised."""
    return policy.uses_logs and is_relative(evidence)


def draw(policy: Policy, stream: Stream) -> Draws:
    """The noise `policy` needs for one arm in one round."""
    return policy.draw(stream)


def largest_index(policy: Policy, evidence: Evidence, now: Round, stream: Stream) -> int:
    """The playable arm with the largest index; ties are broken uniformly at random (E15).

    Every arm draws its noise, playable or not: leaving one out changes no other arm's draw, unless
    it was part of a tie. The answer is -1 when no arm can be played or every index is NaN.
    """
    return largest(policy, evidence, now, stream, moves_together(policy, evidence))


def largest(policy: Policy, evidence: Evidence, now: Round, stream: Stream, together: bool) -> int:
    """As `largest_index`, where it is known whether the logs move together."""
    if together:
        return largest_moved(policy, evidence, now, stream)
    return largest_alone(policy, evidence, now, stream)


def largest_alone(policy: Policy, evidence: Evidence, now: Round, stream: Stream) -> int:
    """As `largest_index`, where no arms move together."""
    best = Best(-math.inf, -1, 0)
    for column in range(evidence.pulls.size):
        value = index_at(policy, evidence, column, now, draw(policy, stream))
        if evidence.playable[column]:
            best = challenge(best, value, column, stream)
    return best.column


@apart
def largest_moved(policy: Policy, evidence: Evidence, now: Round, stream: Stream) -> int:
    """As `largest_index`, after one draw of the common move for all arms.

    Given the common move arms are independent, so this is a draw of all of them together. One
    draw for each arm would make noise of what they share.
    """
    belief = common_move(evidence, policy.noise)
    common = belief.mean + belief.sd * normal(stream)
    best = Best(-math.inf, -1, 0)
    for column in range(evidence.pulls.size):
        arm = moved_by(policy, arm_at(evidence, column), common)
        value = index(policy, arm, now, draw(policy, stream))
        if evidence.playable[column]:
            best = challenge(best, value, column, stream)
    return best.column


class Best(NamedTuple):
    """The best arm so far: its value, its column, and how many share that value."""

    value: float
    column: int
    tied: int


def challenge(best: Best, value: float, column: int, stream: Stream) -> Best:
    """The best arm after one more; of arms with equal values each is as likely, NaN never wins."""
    if not value >= best.value:
        return best
    tied = best.tied + 1 if value == best.value else 1
    if tied == 1 or uniform(stream) * tied < 1.0:
        return Best(value, column, tied)
    return Best(best.value, best.column, tied)


def kept_belief(cls: type[Policy]) -> Any:
    """The type of the beliefs that compiled runs keep, or `None` where they must not keep any.

    A policy that overrides `index` or `choose` may read other numbers than its beliefs hold, so a
    kept belief could be out of date. A `choose` of its own that takes beliefs from `belief_at`
    says so by `reads_beliefs`; a child that changes either does not inherit this.
    """
    if cls.index is Policy.index and cls.choose is Policy.choose:
        return cls.belief
    home: Any = next(x for x in cls.__mro__ if "reads_beliefs" in vars(x))
    kept = all(getattr(home, x) is getattr(cls, x) for x in ("index", "choose", "believe"))
    return cls.belief if home.reads_beliefs and kept else None
