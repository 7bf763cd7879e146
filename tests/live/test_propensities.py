"""Propensities against counts of decisions, closed forms and planted faults.

Statistical checks have a false-alarm rate of 1e-6 each, about 50 of them, and fixed seeds.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from guarded_cases import ARMS, ROUNDS, arm, at, seen, state_of
from guarded_cases import RULES as RULES_OF_THE_GUARD
from hypothesis import assume, given
from hypothesis import strategies as st
from live_states import STATES, as_live
from policy_cases import VARIANTS

from driftanchor import (
    POLICIES,
    TS,
    AnchorTS,
    ArmEvidence,
    ArtificialReplay,
    GuardedAnchorTS,
    HierarchicalTS,
    OfflineData,
    Policy,
    Round,
    Terms,
)
from driftanchor.compiled import kernels
from driftanchor.compiled.overloads import parameters_of
from driftanchor.compiled.rules import live_chooser
from driftanchor.core import win_chances
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Evidence
from driftanchor.core.index_law import one_sample, write_law
from driftanchor.core.noise import key, start, wrapping
from driftanchor.core.win_chances import MEAN, SD
from driftanchor.live import compiling
from driftanchor.live import propensities as module
from driftanchor.live.decide import Decider
from driftanchor.live.propensities import (
    Propensities,
    _crossings,
    compiled,
    interpreted,
    over_moves,
    propensities,
)
from driftanchor.live.state import State
from driftanchor.live.state_events import Rewarded
from driftanchor.policies.base import RoundKind, has_law, write_laws

if TYPE_CHECKING:
    from conftest import Chance


FALSE_ALARM = 1e-6
INF = math.inf
UNITS: dict[str, Any] = {"prior_mean": 0.3, "noise": 0.5}
RULES = [
    POLICIES[name](**parameters, **UNITS)
    for name in POLICIES
    if has_law(POLICIES[name])
    for parameters in [{}, *VARIANTS.get(name, [])]
]
COMPILED = (AnchorTS, GuardedAnchorTS)  # other tests compile their decisions too


def counted(policy: Policy, evidence: Evidence, now: Round, draws: int) -> Floats:
    """How often each arm is chosen, interpreted."""
    stream, counts = np.empty(4, np.uint64), np.zeros(evidence.pulls.size)
    with wrapping():
        for i in range(draws):
            start(stream, key(1, "count"), i, 0)
            counts[policy.choose(evidence, now, stream)] += 1
    return counts


def counted_compiled(policy: Policy, evidence: Evidence, now: Round, draws: int) -> Floats:
    """How often each arm is chosen in compiled decisions."""
    kept = evidence._replace(memory=np.zeros((evidence.pulls.size, 20)))
    stream = np.empty(4, np.uint64)
    seen = parameters_of(policy), kept, key(2, "count"), stream, *now
    choose = kernels.rule(policy, live_chooser, *seen, 0)
    counts = np.zeros(evidence.pulls.size)
    for n in range(draws):
        counts[choose(*seen, n)] += 1
    return counts


def fits(chance: Chance, counts: Floats, shares: Floats) -> None:
    """Pearson's test, where cells of fewer than 5 expected are one."""
    due = shares * counts.sum()
    rare = due < 5
    assert counts[rare].sum() <= 5 + 8 * math.sqrt(5 + due[rare].sum())
    if (~rare).sum() > 1:
        chance.fits(counts[~rare], due[~rare], false_alarm=FALSE_ALARM)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: repr(rule).replace(" ", ""))
def test_they_are_how_often_a_policy_chooses(rule: Policy, chance: Chance, times: int) -> None:
    """A share that is wrong by 0.18 is noticed nine times in ten, in `make torture` by 0.06.

    Policies whose decisions other tests compile, and compare with interpreted ones, are compiled:
    then 0.12 and 0.04.
    """
    count, draws = (counted_compiled, 900) if type(rule) in COMPILED else (counted, 400)
    for state in STATES.values():
        now = at(state, int(state.pulls.sum()) + 1)
        shares = propensities(rule, state, now)
        assert shares is not None
        assert shares.sum() == pytest.approx(1.0)
        assert not shares[~state.playable].any()
        if shares.max() < 1.0:
            fits(chance, count(rule, state, now, draws * times), shares)
        else:
            assert count(rule, state, now, 20).argmax() == shares.argmax()


@pytest.mark.slow
@pytest.mark.parametrize("state", ["no promises", "tried", "order"])
@pytest.mark.parametrize("rule", [AnchorTS(**UNITS), GuardedAnchorTS(guard_share=0.5, **UNITS)])
def test_they_are_how_often_a_compiled_policy_chooses(
    rule: Policy, state: str, chance: Chance, times: int
) -> None:
    """A share that is wrong by 0.04 is noticed nine times in ten."""
    evidence = STATES[state]
    now = at(evidence, 6_000)
    shares = propensities(rule, evidence, now, compiled(rule, evidence))
    assert shares is not None
    assert shares.max() < 0.95
    fits(chance, counted_compiled(rule, evidence, now, 8_000 * times), shares)
    again = propensities(rule, evidence, now, interpreted(rule))
    assert again is not None
    assert shares.tolist() == pytest.approx(again.tolist(), abs=1e-12)


def test_two_arms_of_thompson_sampling_have_a_closed_form() -> None:
    state = seen([arm(9, 0.4), arm(99, 0.3)])
    shares = propensities(TS(), state, at(state, 109))
    truth = NormalDist().cdf((3.6 / 10 - 29.7 / 100) / math.sqrt(1 / 10 + 1 / 100))
    assert shares is not None
    assert shares.tolist() == pytest.approx([truth, 1 - truth], abs=1e-7)


def test_two_arms_that_moved_together_have_a_closed_form() -> None:
    """Logs and rewards of both arms say the same of the move, so it cancels but for the prior."""
    state = seen([arm(9, 0.4, 40, 0.5, relative=0.2), arm(0, logs=40, logged=0.4, relative=0.2)])
    kind = RoundKind(0.0, *_common(state))
    worth = 40 / (1 + 40 * 0.1**2)
    pulled, idle = 9 + worth + 1, worth + 1
    means = (3.6 + worth * 0.5) / pulled, worth * 0.4 / idle
    spread = worth / pulled - worth / idle  # what is left of the common move in the difference
    sd = math.sqrt(1 / pulled + 1 / idle + (spread * kind.sd) ** 2)
    truth = NormalDist().cdf((means[0] - means[1] + spread * kind.mean) / sd)
    shares = propensities(HierarchicalTS(), state, at(state, 10))
    assert shares is not None
    assert shares.tolist() == pytest.approx([truth, 1 - truth], abs=1e-6)


def _common(state: Evidence) -> tuple[float, float]:
    from driftanchor.core.common_move import common_move

    return tuple(common_move(state, 1.0))  # type: ignore[return-value]


def test_arms_without_pulls_share() -> None:
    state = seen([arm(0)] * 5 + [arm(4, 0.2)], [True, True, False, True, True, True])
    for rule in (POLICIES["ucb"](), GuardedAnchorTS(), POLICIES["mots"]()):
        shares = propensities(rule, state, at(state, 5))
        assert shares is not None
        assert shares.tolist() == [0.25, 0.25, 0.0, 0.25, 0.25, 0.0]
    one = propensities(AnchorTS(), seen([arm(0)]), Round(1, 1))
    assert one is not None
    assert one.tolist() == [1.0]


def test_constant_indices_that_cross_with_the_common_move() -> None:
    """A winner between two others, on an interval of moves that a fixed grid would miss."""
    places = np.array([[1.0, 0.0, 0.49], [0.0, 1.0, 0.53]])
    assert sorted(_crossings(np.array([0.0, 1.0]), places), reverse=True) == pytest.approx(
        [0.49 / 0.96, 0.51 / 1.04]
    )
    assert _crossings(np.array([0.0, 1.0]), places[:, :2]) == pytest.approx([0.5])
    assert _crossings(np.array([0.0, 1.0]), np.array([[1.0, INF], [0.0, INF]])) == []


def test_a_share_of_guard_pulls() -> None:
    state = seen([arm(400, 0.9), arm(2, 0.7), arm(300, 0.89)])
    now = at(state, 703)
    always, never, half = (
        propensities(GuardedAnchorTS(guard_share=share), state, now) for share in (1, 1e-9, 0.5)
    )
    assert always is not None
    assert never is not None
    assert half is not None
    assert always.tolist() == [0.0, 1.0, 0.0]
    assert half == pytest.approx((always + never) / 2, abs=1e-8)


@pytest.mark.parametrize("noise", [1e-49, 1e-6, 1.0, 1e89])
def test_units_do_not_matter(noise: float) -> None:
    def shares(scale: float) -> Floats:
        arms = [
            arm(9, 0.4 * scale, 20, 0.5 * scale, 0.1 * scale),
            arm(4, 0.5 * scale, 20, 0.4 * scale, INF),
            arm(7, -0.2 * scale),
        ]
        found = propensities(AnchorTS(noise=scale), seen(arms), Round(21, 3))
        assert found is not None
        return found

    assert shares(noise) == pytest.approx(shares(1.0), abs=1e-6)


def test_logs_without_end_and_many_pulls() -> None:
    huge = 10**15
    state = seen(
        [
            arm(huge, 0.5, huge, 0.5, 0.0),
            arm(3, 0.5, huge, 0.5 - 1e-9, 1e-12),
            arm(10**6, 0.5 - 1e-3, 5, 0.1, INF),
        ]
    )
    for rule in RULES:
        shares = propensities(rule, state, at(state, huge + 10**6 + 4))
        assert shares is not None
        assert shares.sum() == pytest.approx(1.0)


def test_noise_that_floats_cannot_show_makes_ties() -> None:
    state = seen([arm(1, 1.0), arm(1, 1.0), arm(1, 0.5)])
    shares = propensities(AnchorTS(noise=1e-40, prior_mean=1.0), state, Round(4, 3))
    assert shares is not None
    assert shares.tolist() == [0.5, 0.5, 0.0]


def test_where_nothing_is_a_number_nothing_is_said() -> None:
    state = seen([arm(3, math.nan), arm(2, math.nan)])
    assert propensities(TS(), state, Round(6, 2)) is None


def test_a_program_that_forgets_atoms_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    state = STATES["levels"]
    assert propensities(AnchorTS(**UNITS), state, at(state, 43)) is not None
    monkeypatch.setattr(win_chances, "_won_at_atoms", lambda below, *_: np.zeros(below.shape))
    assert propensities(AnchorTS(**UNITS), state, at(state, 43)) is None


def test_a_program_that_draws_a_common_move_for_each_arm_is_found_out(chance: Chance) -> None:
    """The check of the policies above fails where arms do not share their move."""
    rule = HierarchicalTS(**UNITS)
    state = seen(
        [arm(0, logs=4_000, logged=x, relative=0.02) for x in (0.5, 0.49)]
        + [arm(40, 0.5, 50, 0.5, relative=0.02)]
    )
    now = at(state, 41)
    counts = counted(rule, state, now, 2_000)
    right = propensities(rule, state, now)
    assert right is not None
    fits(chance, counts, right)
    write = interpreted(rule)

    def each_on_its_own(*asked: Any) -> tuple[float, float, float]:
        kind, laws = RoundKind(*write(*asked)), asked[-1]
        for row in range(2):
            sd = math.hypot(laws[row, SD], kind.sd)
            write_law(laws, row, one_sample(laws[row, MEAN], sd))
        return kind._replace(sd=0.0)

    wrong = propensities(rule, state, now, each_on_its_own)
    assert wrong is not None
    with pytest.raises(AssertionError):
        fits(chance, counts, wrong)


@given(ARMS, RULES_OF_THE_GUARD, ROUNDS, st.randoms(use_true_random=False))
def test_the_order_of_arms_does_not_matter(
    arms: list[tuple[ArmEvidence, bool]], rule: GuardedAnchorTS, t: int, random: Any
) -> None:
    assume(any(on for _, on in arms))
    order = list(range(len(arms)))
    random.shuffle(order)
    there, turned = as_live(state_of(arms)), as_live(state_of([arms[i] for i in order]))
    laws, laws_turned = (np.zeros((len(arms), 6)) for _ in range(2))
    for state, found in ((there, laws), (turned, laws_turned)):
        write_laws(rule, state, at(state, t), np.zeros(1), True, found)
    assume(np.allclose(laws[order], laws_turned, atol=1e-12))  # of tied leaders the first one leads
    one, other = (
        propensities(rule, state, at(state, t), compiled(rule, state)) for state in (there, turned)
    )
    assert one is not None
    assert other is not None
    assert other == pytest.approx(one[order], abs=2e-6)


def test_a_cache_changes_no_propensity() -> None:
    rule = TS()
    known = Propensities(rule)
    for _ in range(2):
        for i in range(20):
            state = seen([arm(9, 0.1 * (i // 2)), arm(5, 0.3), arm(0)])
            kept = known.of(state, at(state, 15))
            alone = propensities(rule, state, at(state, 15))
            assert kept is not None
            assert alone is not None
            assert kept.tolist() == alone.tolist()


def test_a_cache_computes_the_same_laws_once(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[Floats] = []

    def chances(laws: Floats) -> Floats:
        computed.append(laws.copy())
        return np.full(laws.shape[:-1], 1.0 / laws.shape[-2])

    monkeypatch.setattr(module, "win_chances", chances)
    monkeypatch.setattr(module, "MAX_CACHED", 2)
    integrate = Propensities(TS())._integrate
    for mean in (1.0, 2.0, 1.0, 2.0, 3.0, 1.0):
        assert integrate(np.full((1, 3, 6), mean)).tolist() == [[1 / 3] * 3]
    assert [laws[0, 0, 0] for laws in computed] == [1.0, 2.0, 3.0, 1.0]
    monkeypatch.setattr(module, "MAX_SIZE", 10)
    for _ in range(2):
        integrate(np.full((1, 3, 6), 1.0))
    assert len(computed) == 6


def test_propensities_are_compiled_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ENOUGH", 6)
    monkeypatch.setattr(compiling, "_rules", {})
    monkeypatch.setattr(compiling, "_threads", {})
    terms = Terms.declare(AnchorTS(noise=0.5), arms=["A", "B", "C"], seed=1)
    decider = Decider(terms, State.start(terms.arms))
    decider.apply(Rewarded((0, 1, 2), (0.5, 0.75, 0.25)))
    evidence, now = decider.situation()
    known = Propensities(terms.policy)
    plain = known.of(evidence, now)
    assert not compiling._threads
    assert known.of(evidence, now) is not None
    compiling.finish()
    assert compiling._rules
    compiled_ones = Propensities(terms.policy).of(evidence, now)
    assert plain is not None
    assert compiled_ones is not None
    assert compiled_ones.tolist() == pytest.approx(plain.tolist(), abs=1e-12)


def test_arms_that_move_together_are_compiled_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[object] = []
    monkeypatch.setattr(compiling, "_rules", {})
    monkeypatch.setattr(compiling, "compile_once", lambda key, *_: requests.append(key))
    logs = OfflineData.from_summary({"A": (50, 0.5, 0.2), "B": (50, 0.4, 0.2)})
    together = Terms.declare(offline=logs, seed=1, relative_bound=0.1)
    apart = Terms.declare(offline=logs, seed=1, bias_bound=0.1)
    for terms, decisions in ((together, 25), (apart, 1_000)):
        situation = Decider(terms, State.start(terms.arms, terms.policy.memory)).situation()
        known = Propensities(terms.policy)
        requests.clear()
        for _ in range(decisions - 1):
            known.of(*situation)
        assert not requests
        known.of(*situation)
        assert len(requests) == 1


def test_a_policy_without_a_law_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[object] = []
    monkeypatch.setattr(compiling, "compile_once", lambda key, *_: requests.append(key))
    terms = Terms.declare(ArtificialReplay(), arms=["A", "B"], seed=1)
    evidence, now = Decider(terms, State.start(terms.arms, terms.policy.memory)).situation()
    known = Propensities(terms.policy)
    known.start_compiling(evidence)
    assert known.of(evidence, now) is None
    assert not requests


PHI = np.vectorize(NormalDist().cdf)


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0, 2.5, 20.0, 1e3])
@pytest.mark.parametrize("place", [-1.0, 0.0, 0.4, 3.0])
def test_the_mean_of_a_smooth_step(slope: float, place: float) -> None:
    """E Φ(b (z − a)) = Φ(−a b/√(1 + b²))."""
    truth = NormalDist().cdf(-place * slope / math.hypot(1.0, slope))
    for switches in ([], [0.1]):
        mean = over_moves(lambda z: PHI(slope * (z - place))[:, None], switches)
        assert mean == pytest.approx([truth], abs=1e-6)


@pytest.mark.parametrize("switches", [[], [0.3], [0.3, 7.0], np.linspace(-3, 3, 50).tolist()])
def test_the_mean_of_a_jump(switches: list[float]) -> None:
    def jump(z: Floats) -> Floats:
        return np.stack([z > 0.3, z <= 0.3], axis=1).astype(np.float64)

    truth = NormalDist().cdf(0.3)
    assert over_moves(jump, switches) == pytest.approx([1 - truth, truth], abs=2e-6)


def test_smooth_functions_need_few_places() -> None:
    asked: list[int] = []

    def smooth(z: Floats) -> Floats:
        asked.append(z.size)
        column: Floats = PHI(z)[:, None]
        return column

    over_moves(smooth, [])
    assert asked == [17]


@pytest.mark.parametrize("place", [-2.0, 0.31, 1.1])
def test_jumps_and_kinks_that_nobody_named_are_noticed(place: float) -> None:
    jump = over_moves(lambda z: (z > place)[:, None].astype(np.float64), [])
    assert jump == pytest.approx([1 - NormalDist().cdf(place)], abs=1e-6)
    kink = over_moves(lambda z: np.maximum(0.2 * (z - place), 0.0)[:, None], [])
    above = NormalDist().pdf(place) - place * (1 - NormalDist().cdf(place))
    assert kink == pytest.approx([0.2 * above], abs=3e-6)
