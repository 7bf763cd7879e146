"""What all policies have in common: choosing, ties, laws, errors and names."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from guarded_cases import arm, at, seen

from driftanchor import (
    POLICIES,
    TS,
    UCB,
    ArmEvidence,
    Bandit,
    Draws,
    Evidence,
    GuardedAnchorTS,
    InvalidInput,
    Learner,
    MinUCB,
    OfflineData,
    Policy,
    Round,
    UnknownName,
    simulate,
)
from driftanchor.core.index_law import NEVER, IndexLaw, constant, one_sample
from driftanchor.core.noise import Stream, keyed_stream, normal, wrapping
from driftanchor.core.posterior import Posterior
from driftanchor.policies import by_name, make
from driftanchor.policies.base import (
    RoundKind,
    caches_beliefs,
    has_law,
    law_of,
    valid_policy,
    write_laws,
)

if TYPE_CHECKING:
    from conftest import Chance


@dataclass(frozen=True, kw_only=True)
class Told(Policy):
    """Its index of an arm is the arm's bias bound."""

    name = "told"
    formula = "V"
    source = "this test"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return arm.bias_bound


class Listener(TS):
    """Its index is the noise it is given."""

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return z.on


def chosen(rule: Policy, values: list[float], seed: int, playable: list[bool] | None = None) -> int:
    arms = len(values)
    evidence = Evidence(
        np.zeros(arms, np.int64),
        np.zeros(arms),
        np.zeros(arms, np.int64),
        np.zeros(arms),
        np.array(values, np.float64),
        np.array(playable or [True] * arms),
        np.zeros((arms, 0)),
        np.zeros(arms, np.int64),
        np.full(arms, np.inf),
    )
    with wrapping():
        return rule.choose(evidence, Round(1, arms), keyed_stream(seed, "choose", 0))


@pytest.mark.parametrize(
    ("values", "playable", "column"),
    [
        ([1.0, 3.0, 2.0], None, 1),
        ([1.0, 3.0, 2.0], [True, False, True], 2),
        ([math.inf, 3.0], None, 0),
        ([-math.inf, -5.0], None, 1),
        ([-math.inf], None, 0),
        ([math.nan, -5.0, math.nan], None, 1),
        ([math.nan, math.nan], None, -1),
        ([1.0, 2.0], [False, False], -1),
        ([math.nan, 2.0], [True, False], -1),
    ],
)
def test_the_largest_index_that_is_a_number_and_playable_is_chosen(
    values: list[float], playable: list[bool] | None, column: int
) -> None:
    for seed in range(20):
        assert chosen(Told(), values, seed, playable) == column


@pytest.mark.parametrize("value", [0.0, math.inf, -math.inf])
def test_arms_that_tie_are_equally_likely_wherever_they_stand(value: float, chance: Chance) -> None:
    """Four of six arms tie, 4,000 seeds: false alarm 1e-6."""
    values = [value, value, math.nan, value, value, math.nan]
    counts = np.bincount([chosen(Told(), values, seed) for seed in range(4000)], minlength=6)
    assert counts[[2, 5]].tolist() == [0, 0]
    chance.fits(counts[[0, 1, 3, 4]], np.full(4, 1000), false_alarm=1e-6)


def test_a_zero_ties_with_a_negative_zero(chance: Chance) -> None:
    counts = np.bincount([chosen(Told(), [0.0, -0.0], seed) for seed in range(2000)], minlength=2)
    chance.fits(counts, np.full(2, 1000), false_alarm=1e-6)


def test_every_arm_draws_its_noise_playable_or_not() -> None:
    for seed in range(50):
        stream = keyed_stream(seed, "choose", 0)
        with wrapping():
            noise = [normal(stream) for _ in range(3)]
        assert chosen(Listener(), [0.0] * 3, seed) == noise.index(max(noise))
        rest = max(noise[0], noise[2])
        assert chosen(Listener(), [0.0] * 3, seed, [True, False, True]) == noise.index(rest)


def test_a_policy_without_a_name_or_a_rule_says_so() -> None:
    with pytest.raises(InvalidInput, match="policy Policy has no name: give its class one"):
        Policy()

    @dataclass(frozen=True, kw_only=True)
    class Empty(Policy):
        name = "empty"

    with pytest.raises(InvalidInput, match="policy 'empty' defines neither index nor"):
        Empty()


def test_make_knows_every_policy_and_its_parameters() -> None:
    assert make("min-ucb", c=3) == MinUCB(c=3.0)
    with pytest.raises(UnknownName, match="unknown policy 'UCB'; known: anchor-ts, ts, ucb"):
        make("UCB")
    with pytest.raises(
        UnknownName, match="unknown parameter of policy 'ucb' 'radius'; known: prior_mean, noise, c"
    ):
        make("ucb", radius="ucb1")


@pytest.mark.parametrize(
    ("policies", "named"),
    [
        ("ts", {"ts": TS()}),
        (UCB(), {"ucb": UCB()}),
        (["ts", UCB(c=3)], {"ts": TS(), "ucb": UCB(c=3)}),
        ({"mine": UCB(c=3), "other": UCB()}, {"mine": UCB(c=3), "other": UCB()}),
    ],
)
def test_policies_get_the_names_they_are_reported_under(policies: Any, named: Any) -> None:
    assert by_name(policies) == named
    assert list(by_name(policies)) == list(named)


def test_all_policies_but_one_have_a_law() -> None:
    assert [name for name, cls in POLICIES.items() if not has_law(cls)] == ["artificial-replay"]


@dataclass(frozen=True, kw_only=True)
class Believes(TS):
    """Believes something else, of the same kind."""

    name = "believes"

    def believe(self, arm: ArmEvidence) -> Posterior:
        return Posterior(1.0, 0.5)


@dataclass(frozen=True, kw_only=True)
class Samples(TS):
    """Samples in another way."""

    name = "samples"

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        return belief.mean - belief.sd * abs(z.on)


@dataclass(frozen=True, kw_only=True)
class Mirrors(TS):
    """Samples in another way, and states its law."""

    name = "mirrors"

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        return belief.mean - belief.sd * z.on

    def law(self, belief: Posterior, now: Round) -> IndexLaw:
        return one_sample(belief.mean, belief.sd)


@dataclass(frozen=True, kw_only=True)
class Guards(GuardedAnchorTS):
    """Chooses in another way."""

    name = "guards"

    def choose(self, evidence: object, now: Round, stream: Stream) -> int:
        return 0


@dataclass(frozen=True, kw_only=True)
class Noisy(UCB):
    """Draws noise, and its parent does not."""

    name = "noisy"
    normals = 1


@pytest.mark.parametrize(
    ("child", "known"),
    [(Believes, True), (Samples, False), (Mirrors, True), (Guards, False), (Noisy, False)],
)
def test_a_subclass_that_changes_the_rule_has_no_law(child: type[Policy], known: bool) -> None:
    assert has_law(child) is known


def test_the_law_is_that_of_what_the_policy_believes() -> None:
    law = law_of(Believes(), arm(3, 0.2), Round(4, 2))
    assert (law.mean, law.sd) == (1.0, 0.5)
    value = UCB().index(arm(3, 0.2), Round(4, 2), Draws(0, 0, 0))
    assert law_of(UCB(), arm(3, 0.2), Round(4, 2)) == constant(value)


def test_laws_are_written_once_for_each_common_move() -> None:
    state = seen(
        [arm(9, 0.5, 20, 0.4, relative=0.1), arm(7, 0.2, 20, 0.4, relative=0.1), arm(1)],
        [True, False, True],
    )
    laws = np.zeros((6, 6))
    moves = np.array([-1.0, 2.0])
    kind = write_laws(POLICIES["hybrid-ts"](), state, at(state, 18), moves, True, laws)
    assert kind.sd > 0
    kinds, means = laws[:, 0], laws[:, 2]
    assert kinds.tolist() == [0.0, NEVER, 0.0] * 2
    assert means[3] - means[0] == pytest.approx(
        3 * kind.sd * 20 / (1 + 20 * 0.05**2) / (10 + 20 / (1 + 20 * 0.05**2))
    )
    assert means[2] == means[5]  # it has no logs that could move


def test_a_guard_pull_that_is_due_can_be_left_out() -> None:
    state = seen([arm(400, 0.9), arm(2, 0.7)])
    rule = GuardedAnchorTS(guard_share=0.25)
    laws, still = np.zeros((2, 6)), np.zeros(1)
    assert write_laws(rule, state, at(state, 403), still, True, laws) == RoundKind(0.25, 0, 0)
    assert laws[:, [2, 4]].tolist() == [[-math.inf, math.inf]] * 2  # constants
    write_laws(rule, state, at(state, 403), still, False, laws)
    assert laws[:, 2] == pytest.approx([0.9, 0.7])


def test_beliefs_are_cached_only_where_nothing_else_is_read() -> None:
    cached = [name for name, cls in POLICIES.items() if caches_beliefs(cls)]
    assert {"ts", "anchor-ts", "hybrid-ts"} <= set(cached)
    assert not caches_beliefs(Listener)  # its own index
    assert not caches_beliefs(GuardedAnchorTS)  # its own choose
    assert caches_beliefs(Believes)


@dataclass(frozen=True, kw_only=True)
class Odd(Policy):
    """Answers as it is made to."""

    name = "odd"
    formula = "?"
    source = "this test"

    answer: Any = None

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        value: float = self.answer() if callable(self.answer) else self.answer
        return value


class OddColumn(Odd):
    """Answers with a column."""

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        column: int = self.answer() if callable(self.answer) else self.answer
        return column


def ways(rule: Policy) -> list[Callable[[], object]]:
    """The ways to ask a policy, interpreted."""
    pupil = Learner(rule, arms=["A", "B"], seed=1)
    bandits = (Bandit([0.5, 0.4]), Bandit([0.5, 0.4], delay=2))
    return [
        pupil.pull,
        pupil.probabilities,
        *(
            lambda bandit=bandit: simulate(rule, bandit, horizon=3, runs=1, engine="interpreted")
            for bandit in bandits
        ),
    ]


@pytest.mark.parametrize("answer", [None, "1", 1j, [1.0], np.array([0.5, 0.5]), np.array([0.5])])
def test_an_index_that_is_no_number_is_refused(answer: Any) -> None:
    for ask in ways(Odd(answer=answer)):
        with pytest.raises(InvalidInput, match=r"policy 'odd' gave an arm the index .*a number"):
            ask()


@pytest.mark.parametrize("answer", [1, True, np.float32(1), np.array(1.0), Decimal(1), np.int8(1)])
def test_an_index_of_any_kind_of_number_is_taken(answer: Any) -> None:
    assert ways(Odd(answer=answer))[0]() in ("A", "B")
    played: Any = ways(Odd(answer=answer))[2]()
    assert played.pulls.sum() == 3


@pytest.mark.parametrize("answer", [None, "A", 0.5, 1.0, True, np.True_, np.array([1]), 1j])
def test_a_column_that_is_no_whole_number_is_refused(answer: Any) -> None:
    for ask in ways(OddColumn(answer=answer)):
        with pytest.raises(InvalidInput, match=r"policy 'odd' chose .*must return the column of"):
            ask()


@pytest.mark.parametrize("answer", [-1, 2, 10**9, -(10**18), np.int64(7), 10**30])
def test_a_column_that_is_not_there_is_refused(answer: int) -> None:
    for ask in ways(OddColumn(answer=answer)):
        with pytest.raises(
            InvalidInput, match=r"policy 'odd' chose (no arm|.*not an arm that can)"
        ):
            ask()


class OwnError(Exception):
    """With a long text of many lines."""

    def __init__(self) -> None:
        super().__init__("line\n" * 100)


@pytest.mark.parametrize("cls", [Odd, OddColumn])
def test_what_a_policy_raises_is_the_cause_of_an_error_with_its_name(cls: type[Odd]) -> None:
    def fail() -> None:
        raise OwnError

    for ask in ways(cls(answer=fail)):
        with pytest.raises(InvalidInput, match="policy 'odd' raised OwnError: line line") as caught:
            ask()
        assert isinstance(caught.value.__cause__, OwnError)
        assert len(str(caught.value)) < 300
    with pytest.raises(InvalidInput, match="'odd' raised ZeroDivisionError"):
        ways(cls(answer=lambda: 1 // 0))[0]()


def test_errors_of_ours_and_of_the_machine_stay_as_they_are() -> None:
    def refuse() -> None:
        raise InvalidInput("x is wrong")

    def fill() -> None:
        raise MemoryError

    for ask in ways(Odd(answer=refuse)):
        with pytest.raises(InvalidInput, match=r"^x is wrong$"):
            ask()
    for ask in ways(Odd(answer=fill)):
        with pytest.raises(MemoryError):
            ask()


def test_a_policy_that_fails_before_the_first_pull_fails_at_the_pull() -> None:
    """The logs are far from the prior: whether that matters is asked of the policy itself."""

    def fail() -> None:
        raise OwnError

    logs = OfflineData.from_summary({"A": (9, 50.0, 1.0), "B": (9, 51.0, 1.0)})
    pupil = Learner(Odd(answer=fail), offline=logs, bias_bound=1.0, seed=1)
    with pytest.raises(InvalidInput, match="'odd' raised OwnError"):
        pupil.pull()


PLACES: list[Callable[[object], object]] = [
    valid_policy,
    lambda policy: Bandit([0.6, 0.5]).check_policy(policy),  # type: ignore[arg-type]
    lambda policy: Learner(policy, arms=["A", "B"]),  # type: ignore[arg-type]
    lambda policy: Learner.from_json({}, policy),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("way", PLACES)
@pytest.mark.parametrize("value", ["ts", TS, {"A": 1}, 3])
def test_what_is_no_policy_is_refused(way: Callable[[object], object], value: object) -> None:
    with pytest.raises(InvalidInput, match="policy must be a Policy such as AnchorTS") as caught:
        way(value)
    assert caught.value.argument == "policy"


def test_a_policy_is_itself() -> None:
    policy = TS()
    assert valid_policy(policy) is policy
