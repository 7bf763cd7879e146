"""Policy, the base class of all policies: frozen parameters and a scalar index for each arm.

Loops and live decisions call a policy through the functions at the end of this module, such as
`index_at` and `choose`. In interpreted code these functions call the policy's own methods. In
compiled code Numba replaces each of them with the method of the policy's class (see
`driftanchor.compiled`). So a policy is written once, and its results are bit-identical either way.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.common_move import common_move, is_relative, moved
from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.index_law import NEVER, IndexLaw, constant, write_law
from driftanchor.core.noise import Draws, Stream, draws, normal, uniform
from driftanchor.core.promises import ANYTHING, Range
from driftanchor.errors import DriftanchorError, InvalidInput, shown


class Account(NamedTuple):
    """A decision and the numbers behind it.

    The leader is the arm that looks best. A guard pull tests another arm that may be better. Only
    `GuardedAnchorTS` has guard pulls.

    Attributes:
        column: The column of the arm to play.
        arms: The index of each arm and the named parts of the index; empty if not recorded.
        leader: The column of the leader, if this is a guard pull; otherwise `None`.
        skipped: The column of the leader, if a guard pull was due but skipped at random; otherwise
            `None`.
        guard_share: The probability that a guard pull is played when one is due.
    """

    column: int
    arms: list[tuple[float, dict[str, float]]]
    leader: int | None = None
    skipped: int | None = None
    guard_share: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A rule that gives every arm an index; the arm with the largest index is played.

    A policy class defines `index`, or both `believe` and `sample`, or its own `choose`. These
    methods may use the policy's fields and properties, the arms' numbers, the round, and the noise
    that the class requests in `normals` and `uniforms`. All functions that they call must be plain
    module-level functions of numbers, so that Numba can compile them.

    Attributes:
        prior_mean: m₀, the mean reward to expect from an arm without data.
        noise: σ, the standard deviation of an arm's rewards.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    normals: ClassVar[int] = 0  # standard normals per arm and round: z.on, then z.hyb
    uniforms: ClassVar[int] = 0  # uniforms per arm and round: z.coin
    belief: ClassVar[Any] = None  # the named tuple that `believe` returns
    memory: ClassVar[int] = 0  # numbers per arm that `choose` keeps from round to round
    uses_logs: ClassVar[bool] = True  # False if logs change nothing
    uses_bounds: ClassVar[bool] = True  # False if a bias bound alone changes nothing
    leaps: ClassVar[str | None] = None  # "online" or "hybrid": see `law`
    not_live: ClassVar[str | None] = None  # why campaigns refuse the policy, if they do

    prior_mean: float = 0.0
    noise: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(getattr(self, "name", None), str):
            raise InvalidInput(
                f'{type(self).__name__} has no name: give its class one, name = "my-policy"',
                argument="policy",
            )
        cls = type(self)
        is_sampled = cls.believe is not Policy.believe and cls.sample is not Policy.sample
        if not is_sampled and cls.index is Policy.index and cls.choose is Policy.choose:
            raise InvalidInput(
                f"{self.name!r} defines neither index nor believe and sample", argument="policy"
            )
        self.check_number("prior_mean")
        self.check_number("noise", above=0.0)

    @property
    def reward_range(self) -> Range:
        """The lowest and the highest reward that the policy accepts; by default, any reward."""
        return ANYTHING

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """Return the arm's index in this round.

        By default, this is `sample` applied to the arm's belief.
        """
        return self.sample(self.believe(arm), now, z)

    def believe(self, arm: ArmEvidence) -> Any:
        """Summarise the arm's numbers in a named tuple of floats, of the type `belief`.

        Compiled code caches the belief until the arm's numbers change.
        """
        raise NotImplementedError

    def sample(self, belief: Any, now: Round, z: Draws) -> float:
        """Return the arm's index, from its belief, the round and the noise `z`."""
        raise NotImplementedError

    def law(self, belief: Any, now: Round) -> IndexLaw:
        """Return the distribution of the index that `sample` draws.

        Propensities are computed from this distribution. A policy that draws no noise need not
        define it.

        Engines can leap over rounds if the class sets `leaps`. In that case the distribution must
        not depend on the round. Its `mean` must be (S + m₀)/(T + 1) for `leaps = "online"`, or
        (S + N m + m₀)/(T + N + 1) for `leaps = "hybrid"`. Here T and S are the number and the sum
        of the online rewards, N and m the number and the mean of the logged ones, and m₀ is
        `prior_mean`.
        """
        raise InvalidInput(
            f"{self.name!r} does not define law, the distribution of its index", argument="policy"
        )

    def law_at(self, evidence: Evidence, column: int, now: Round) -> IndexLaw:
        """Return the distribution of one arm's index.

        Override this if the distribution depends on other arms too.
        """
        return law_of(self, arm_at(evidence, column), now)

    def laws(
        self, evidence: Evidence, now: Round, moves: Floats, guard: bool, laws: Floats
    ) -> RoundKind:
        """Write the distribution of every arm's index into `laws`: see `write_laws`.

        A policy that overrides `choose` should override this or `law_at` too. Otherwise its
        propensities are estimated by repeating the decision.
        """
        return laws_of_indices(self, evidence, now, moves, guard, laws)

    def moved(self, arm: ArmEvidence, common: float) -> ArmEvidence:
        """Return the arm's numbers after its logs are shifted by `common`, the common move.

        Called only if some arm has a relative bound. By default, the logs are shifted, and the
        relative bound replaces the bias bound, only if this gives the tighter upper bound on the
        online mean. Otherwise the logs stay unchanged. Either way, `index` needs to know only the
        bias bound.
        """
        return moved(arm, common, self.noise)

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """Return the column of the arm with the largest index; ties are broken at random.

        If any arm has a relative bound, the common move is drawn first, once for all arms.
        """
        return largest_index(self, evidence, now, stream)

    def account(self, evidence: Evidence, now: Round, stream: Stream) -> Account:
        """Repeat the decision of `choose` with the same noise, and record every arm's index.

        A policy that overrides `choose` should override this too. Otherwise only the chosen column
        is recorded.
        """
        if type(self).choose is not Policy.choose:
            return Account(self.choose(evidence, now, stream), [])
        recorder = _Recorder(self)
        chosen = largest_index(cast(Policy, recorder), evidence, now, stream)
        return Account(chosen, recorder.indices)

    def explain(self, arm: ArmEvidence, now: Round, z: Draws) -> dict[str, float]:
        """Return the named parts of the arm's index; an empty dict by default."""
        return {}

    def accepts(self, ends: Range) -> bool:
        """Return whether the policy can handle rewards from `ends[0]` to `ends[1]`."""
        low, high = self.reward_range
        return low <= ends[0] and ends[1] <= high

    def check_rewards(self, ends: Range, whose: str) -> None:
        """Raise InvalidInput if the policy cannot handle rewards from `ends[0]` to `ends[1]`.

        `whose` names these rewards in the message.
        """
        if not self.accepts(ends):
            low, high = self.reward_range
            raise InvalidInput(
                f"{self.name!r} is for rewards from {low:g} to {high:g}, and {whose} go from "
                f"{ends[0]:g} to {ends[1]:g}: give rewards in that range, or use a policy for all "
                "rewards, such as 'ts'",
                argument="policy",
            )

    def check_number(self, field: str, **limits: Any) -> None:
        """Validate a numeric field and store it as a float.

        The default limits exclude numbers whose sums or squares would overflow or underflow. Such
        numbers could give all arms the same index.
        """
        low = check.SMALLEST if limits.get("above") == 0.0 else -check.LARGEST
        limits = {"low": low, "high": check.LARGEST, **limits}
        value = check.number(getattr(self, field), field, of=f"policy {self.name!r}", **limits)
        object.__setattr__(self, field, value)

    def check_choice(self, field: str, choices: tuple[str, ...]) -> None:
        """Validate a field that must be one of `choices`."""
        check.choice(getattr(self, field), field, choices, of=f"policy {self.name!r}")

    def parameters(self) -> dict[str, Any]:
        """Return the parameters by name, ready for JSON."""
        return dataclasses.asdict(self)


class _Recorder:
    """Wraps a policy and records each index that the policy computes."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.indices: list[tuple[float, dict[str, float]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        value = self._policy.index(arm, now, z)
        self.indices.append((value, self._policy.explain(arm, now, z)))
        return value


def valid_policy(value: object) -> Policy:
    """Return `value` if it is a `Policy` object; raise InvalidInput for anything else."""
    if not isinstance(value, Policy):
        raise InvalidInput(
            f"must be a Policy such as AnchorTS(), got {shown(value)}", argument="policy"
        )
    return value


@contextlib.contextmanager
def errors_of(policy: str, hint: str = "") -> Iterator[None]:
    """Convert exceptions from a policy's code into InvalidInput, with the policy's name and a hint.

    Driftanchor's own errors and MemoryError are re-raised unchanged.
    """
    try:
        yield
    except (DriftanchorError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        kind = type(error).__name__
        raise InvalidInput(
            f"{policy!r} raised {kind}: {reason}{_place(error)}{hint}", argument="policy"
        ) from error


def _place(error: Exception) -> str:
    """Return the file and line of the user's code that raised an error; empty if not known."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if "driftanchor" not in Path(frame.filename).parts:
            return f" ({Path(frame.filename).name}, line {frame.lineno})"
    return ""


def valid_column(policy: Policy, answer: Any) -> int:
    """Check that `choose` returned a whole number, and return it as an int."""
    if not isinstance(answer, int | np.integer) or isinstance(answer, bool):
        raise InvalidInput(
            f"{policy.name!r} chose {shown(answer)}: choose must return the column of an arm, a "
            "whole number",
            argument="policy",
        )
    return int(answer)


def _valid_index(policy: Policy, answer: Any) -> float:
    """Check that an index is a number, and return it as a float; NaN is allowed."""
    if isinstance(answer, float):
        return answer
    if not check.is_number(answer):
        raise InvalidInput(
            f"{policy.name!r} gave an arm the index {shown(answer)}: it must be a number",
            argument="policy",
        )
    return float(answer)


def inherits_rule(cls: Any, promise: str, rule: tuple[str, ...]) -> bool:
    """Return whether an inherited method such as `law` still matches the rule of a policy class.

    For example, a class that inherits `law` but overrides `sample` has a `law` that no longer
    describes its index. `promise` names the method or attribute, and `rule` all that it depends on.
    """
    home: Any = next(x for x in cls.__mro__ if promise in vars(x))
    return all(getattr(home, name) is getattr(cls, name) for name in rule)


def caches_beliefs(cls: Any) -> bool:
    """Return whether compiled code may cache the beliefs of a policy class.

    Caching requires that the class overrides neither `index` nor `choose`, that `belief` is a named
    tuple type, and that `memory` is 0.
    """
    plain = cls.index is Policy.index and cls.choose is Policy.choose and cls.memory == 0
    return hasattr(cls.belief, "_fields") and plain


# The functions that loops call. Compiled code replaces each with the method of the policy's class.


def index(policy: Policy, arm: ArmEvidence, now: Round, z: Draws) -> float:
    """Return the index that `policy` gives an arm; raise InvalidInput if it is not a number."""
    return _valid_index(policy, policy.index(arm, now, z))


def index_at(policy: Policy, evidence: Evidence, column: int, now: Round, z: Draws) -> float:
    """Return the index of the arm in `column`. Compiled code computes it from the cached belief."""
    return index(policy, arm_at(evidence, column), now, z)


def cache_belief(policy: Policy, evidence: Evidence, column: int) -> None:
    """Cache the arm's belief in `evidence.memory`. No-op when interpreted."""


def moved_by(policy: Policy, arm: ArmEvidence, common: float) -> ArmEvidence:
    """Return the arm's numbers after `policy` has shifted the arm's logs by the common move."""
    return policy.moved(arm, common)


def moves_together(policy: Policy, evidence: Evidence) -> bool:
    """Return whether `policy` uses logs and any arm has a relative bound."""
    return policy.uses_logs and is_relative(evidence)


def draw(policy: Policy, stream: Stream) -> Draws:
    """Draw the noise that `policy` needs for one arm in one round."""
    return draws(stream, policy.normals, policy.uniforms)


def choose(policy: Policy, evidence: Evidence, now: Round, stream: Stream, together: bool) -> int:
    """Return the column that `policy` plays.

    `together` is the result of `moves_together`. Only compiled code uses it.
    """
    return valid_column(policy, policy.choose(evidence, now, stream))


def law_of(policy: Policy, arm: ArmEvidence, now: Round) -> IndexLaw:
    """Return the distribution of an arm's index: a single value if the policy draws no noise."""
    if policy.normals == 0 and policy.uniforms == 0:
        return constant(index(policy, arm, now, Draws(math.nan, math.nan, math.nan)))
    return policy.law(policy.believe(arm), now)


def law_at(policy: Policy, evidence: Evidence, column: int, now: Round) -> IndexLaw:
    """Return the distribution of the index of the arm in `column`."""
    return policy.law_at(evidence, column, now)


class RoundKind(NamedTuple):
    """The probability of a guard pull in a round, and the distribution of the common move.

    A guard pull tests an arm that may be better than the leader. Only `GuardedAnchorTS` has guard
    pulls.
    """

    guard: float  # probability of a guard pull, which draws no samples
    mean: float  # mean of the common move, which is drawn once for all arms
    sd: float  # standard deviation of the common move; 0 if no move is drawn


def write_laws(
    policy: Policy, evidence: Evidence, now: Round, moves: Floats, guard: bool, laws: Floats
) -> RoundKind:
    """Write the distribution of each arm's index into `laws`, for each draw of the common move.

    Args:
        policy: The policy.
        evidence: The numbers of all arms.
        now: The round.
        moves: Draws of the common move, in standard deviations from its mean.
        guard: Whether to assume that a guard pull is played if one is due.
        laws: The output, one `IndexLaw` per row: the rows of all arms for the first move, then
            those for the second move, and so on.
    """
    return policy.laws(evidence, now, moves, guard, laws)


def laws_of_indices(
    policy: Policy, evidence: Evidence, now: Round, moves: Floats, guard: bool, laws: Floats
) -> RoundKind:
    """Write the index distributions of a policy that plays the arm with the largest index."""
    if moves_together(policy, evidence):
        return laws_of_moved(policy, evidence, now, moves, laws)
    return laws_of_unmoved(policy, evidence, now, moves, guard, laws)


def laws_of_unmoved(
    policy: Policy, evidence: Evidence, now: Round, moves: Floats, guard: bool, laws: Floats
) -> RoundKind:
    """Write the index distributions for a round without a common move, for each of `moves`."""
    row = 0
    for _ in range(len(moves)):
        for column in range(evidence.pulls.size):
            if evidence.playable[column]:
                write_law(laws, row, law_at(policy, evidence, column, now))
            else:
                laws[row, 0] = NEVER
            row += 1
    return RoundKind(0.0, 0.0, 0.0)


def laws_of_moved(
    policy: Policy, evidence: Evidence, now: Round, moves: Floats, laws: Floats
) -> RoundKind:
    """Write the index distributions of all arms, for each draw of the common move."""
    common = common_move(evidence, policy.noise)
    row = 0
    for k in range(len(moves)):
        move = common.mean + common.sd * moves[k]
        for column in range(evidence.pulls.size):
            if evidence.playable[column]:
                arm = moved_by(policy, arm_at(evidence, column), move)
                write_law(laws, row, law_of(policy, arm, now))
            else:
                laws[row, 0] = NEVER
            row += 1
    return RoundKind(0.0, common.mean, common.sd)


def has_law(cls: type[Policy]) -> bool:
    """Return whether propensities can be computed from a policy's index distributions."""
    rule = ("index", "sample", "choose", "normals", "uniforms")
    if cls.laws is not Policy.laws:
        return inherits_rule(cls, "laws", rule)
    if cls.law_at is not Policy.law_at:
        return inherits_rule(cls, "law_at", rule)
    if cls.choose is not Policy.choose:
        return False
    if cls.normals == 0 and cls.uniforms == 0:
        return True
    return cls.law is not Policy.law and inherits_rule(cls, "law", rule)


def largest_index(policy: Policy, evidence: Evidence, now: Round, stream: Stream) -> int:
    """Return the playable arm with the largest index; ties are broken uniformly at random.

    The noise is drawn for every arm, playable or not, so that retiring an arm does not change the
    noise of the others. Returns -1 if no arm can be played or every index is NaN. For ties, see
    entry E15 of docs/evidence/errata.md.
    """
    return largest(policy, evidence, now, stream, moves_together(policy, evidence))


def largest(policy: Policy, evidence: Evidence, now: Round, stream: Stream, together: bool) -> int:
    """Return the arm with the largest index; if `together`, logs move by the common move.

    The move is drawn once for all arms. Drawing it anew for each arm would turn a shift that all
    arms share into independent noise.
    """
    common = 0.0
    if together:
        belief = common_move(evidence, policy.noise)
        common = belief.mean + belief.sd * normal(stream)
    best = Best(-math.inf, -1, 0)
    for column in range(evidence.pulls.size):
        z = draw(policy, stream)
        if together:
            arm = moved_by(policy, arm_at(evidence, column), common)
            value = index(policy, arm, now, z)
        else:
            value = index_at(policy, evidence, column, now, z)
        if evidence.playable[column]:
            best = challenge(best, value, column, stream)
    return best.column


class Best(NamedTuple):
    """The best arm so far: its value, its column, and the number of arms that share the value."""

    value: float
    column: int
    tied: int


def challenge(best: Best, value: float, column: int, stream: Stream) -> Best:
    """Compare the arm in `column` with the best arm so far, and return the new best.

    Ties are broken uniformly at random. An arm whose value is NaN never wins.
    """
    if not value >= best.value:
        return best
    tied = best.tied + 1 if value == best.value else 1
    if tied == 1 or uniform(stream) * tied < 1.0:
        return Best(value, column, tied)
    return Best(best.value, best.column, tied)
