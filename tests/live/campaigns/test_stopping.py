"""What stopping risks: against draws of the same model, and in plain cases."""

import math

import numpy as np
import pytest

from driftanchor import AnchorTS, GuardedAnchorTS, OfflineData
from driftanchor.core.common_move import common_move
from driftanchor.core.evidence import arm_at
from driftanchor.errors import InvalidInput
from driftanchor.live.campaigns.stopping import (
    live_interval,
    outlook,
    outlook_text,
)
from driftanchor.live.decide import situation
from driftanchor.live.state import State, fold
from driftanchor.live.state_events import Distrusted, Paused, Rewarded
from driftanchor.live.terms import Terms
from driftanchor.policies.guarded_anchor_ts import guess, judge

LOGS = OfflineData.from_summary(
    {"A": (400, 0.5, 0.25), "B": (300, 0.55, 0.25), "C": (50, 0.4, 0.2)}
)
SEEN = Rewarded((0,) * 30 + (1,) * 20 + (2,) * 5, (0.7,) * 30 + (0.6,) * 20 + (0.9,) * 5)


def terms(**promises: object) -> Terms:
    return Terms.declare(offline=LOGS, reward_range=(0, 1), seed=1, **promises)  # type: ignore[arg-type]


def after(agreed: Terms, *events: Rewarded | Paused) -> State:
    state = State.start(agreed.arms)
    for event in events:
        state = fold(state, event)
    return state


def test_a_relative_promise_is_the_joint_posterior_of_arms_and_move() -> None:
    """Against the formula of joint normals, from the model itself and not by way of c."""
    policy = GuardedAnchorTS(noise=0.5, clip=100.0)
    agreed = Terms.declare(policy, offline=LOGS, relative_bound=0.1, seed=1)
    now = outlook(agreed, after(agreed, SEEN))
    noise2, own2, flat = 0.25, 0.05**2, 1e8
    # μ flat; logs = μ − c − own + noise, rewards = μ + noise; c flat.
    logged, pulls = np.array([400.0, 300.0, 50.0]), np.array([30.0, 20.0, 5.0])
    precision = np.zeros((4, 4))
    target = np.zeros(4)
    for i, (n, m, t, x) in enumerate(
        zip(logged, [0.5, 0.55, 0.4], pulls, [0.7, 0.6, 0.9], strict=True)
    ):
        row = np.zeros(4)
        row[i] = 1.0
        precision += np.outer(row, row) * t / noise2
        target += row * x * t / noise2
        row[3] = -1.0
        worth = 1.0 / (noise2 / n + own2)
        precision += np.outer(row, row) * worth
        target += row * m * worth
    precision[3, 3] += 1 / flat
    covariance = np.linalg.inv(precision)
    mean = covariance @ target
    assert now.means == pytest.approx(mean[:3], abs=1e-6)
    assert now.sds == pytest.approx(np.sqrt(np.diag(covariance))[:3], rel=1e-5)
    rng = np.random.default_rng(3)
    drawn = rng.multivariate_normal(mean[:3], covariance[:3, :3], 200_000)
    loss = 1_000 * (drawn.max(axis=1) - drawn[:, now.leader])
    shares = np.bincount(drawn.argmax(axis=1), minlength=3) / len(drawn)
    # Within five standard errors: wrong at a rate of 1e-5.
    assert now.p_best == pytest.approx(shares, abs=5 * 0.5 / math.sqrt(len(drawn)))
    assert now.loss == pytest.approx(loss.mean(), abs=5 * loss.std() / math.sqrt(len(drawn)))
    assert (loss > now.loss_95).mean() == pytest.approx(0.05, abs=0.003)


@pytest.mark.parametrize(
    ("pulls", "totals"),
    [
        ((1, 0, 1), (1.0, 0.0, 1.0)),
        ((8.7, 6.8, 5.6), (0.83, 1.07, 0.0)),
        ((1.5, 1.4, 1.3), (0.26, 0.4, 0.0)),
    ],
)
def test_a_few_rewards_do_not_outweigh_the_promise(
    pulls: tuple[float, ...], totals: tuple[float, ...]
) -> None:
    """With W = 0.02, no arm can overtake the leader by more than 2 W − 0.024 = 0.016.

    So the mean loss is below 16 in 1,000 decisions, however far all arms moved together; rates are
    not negative and not above 1.
    """
    rates = {"blue": (6400, 0.1125), "green": (6400, 0.0883), "red": (6400, 0.0777)}
    logs = OfflineData.from_summary(rates)
    agreed = Terms.declare(offline=logs, relative_bound=0.02, reward_range=(0, 1), seed=1)
    empty, live = State.start(agreed.arms), (np.array(pulls), np.array(totals))
    state = State(empty.tally, empty.pending, empty.playable, empty.memory, 0, live)
    now = outlook(agreed, state)
    assert now.loss < 5.0
    assert now.loss_95 < 16.0


def test_its_means_are_the_guesses_of_the_guarded_rule() -> None:
    agreed = terms(bias_bound=0.1)
    state = after(agreed, SEEN)
    evidence, now = situation(agreed, state)
    policy = agreed.policy
    assert isinstance(policy, GuardedAnchorTS)
    judged = judge(policy, evidence, now)
    common, level = judged.shared.move_law.mean, judged.shared.level
    guesses = [guess(policy, arm_at(evidence, i), common, level) for i in range(3)]
    found = outlook(agreed, state)
    assert found.means == pytest.approx(guesses)
    assert found.leader == judged.leader


def test_it_is_never_random() -> None:
    agreed = terms(relative_bound=0.05)
    state = after(agreed, SEEN)
    assert outlook(agreed, state).to_json() == outlook(agreed, state).to_json()


def test_paused_arms_are_not_best() -> None:
    agreed = terms(bias_bound=0.1)
    now = outlook(agreed, after(agreed, SEEN, Paused(0)))
    assert now.p_best[0] == 0
    assert now.p_best.sum() == pytest.approx(1)
    assert now.leader != 0


def test_one_arm_loses_nothing() -> None:
    agreed = terms(bias_bound=0.1)
    now = outlook(agreed, after(agreed, SEEN, Paused(0), Paused(2)), difference=0.001)
    assert (now.leader, now.loss, now.loss_95, now.is_enough) == (1, 0.0, 0.0, True)


def test_an_unknown_arm_may_always_be_better() -> None:
    agreed = Terms.declare(AnchorTS(noise=0.5), arms=["A", "B"], seed=1)
    state = after(agreed, Rewarded((0,) * 5_000, (0.6,) * 5_000))
    now = outlook(agreed, state, difference=0.05)
    assert now.p_best == pytest.approx([0.5, 0.5], abs=1e-3)
    assert now.is_enough is False
    nothing = outlook(agreed, State.start(agreed.arms))
    assert nothing.p_best == pytest.approx([0.5, 0.5])


def test_distrusted_logs_say_nothing() -> None:
    agreed = terms(bias_bound=0.01)
    state = after(agreed, SEEN)
    before, now = outlook(agreed, state), outlook(agreed.after(Distrusted(2)), state)
    assert now.means[2] == pytest.approx(0.9)
    assert before.means[2] < 0.9


def test_more_rewards_settle_it() -> None:
    agreed = terms(bias_bound=0.1)
    many = Rewarded((0, 1, 2) * 20_000, (0.6, 0.5, 0.5) * 20_000)
    now = outlook(agreed, after(agreed, many), difference=0.001)
    assert now.p_best[0] > 0.999
    assert now.is_enough is True
    assert "you can stop" in outlook_text(now, agreed.arms.labels)
    early = outlook(agreed, after(agreed, SEEN), difference=0.001)
    assert "that matter to you: continue" in outlook_text(early, agreed.arms.labels)
    assert "matter" not in outlook_text(outlook(agreed, after(agreed, SEEN)), agreed.arms.labels)


def test_a_difference_must_be_one() -> None:
    agreed = terms(bias_bound=0.1)
    with pytest.raises(InvalidInput, match="difference must be"):
        outlook(agreed, State.start(agreed.arms), difference=0)


def test_a_fine_common_move_is_integrated_finely_enough() -> None:
    """At the start c may be anything, and arms without logs make its value matter."""
    logs = OfflineData.from_summary({"A": (9_000, 0.5), "B": (9_000, 0.45), "C": (0,)})
    agreed = Terms.declare(GuardedAnchorTS(noise=0.5), offline=logs, relative_bound=0.001, seed=1)
    state = after(agreed, Rewarded((2,) * 2_000, (0.5,) * 2_000))
    evidence, _ = situation(agreed, state)
    assert common_move(evidence, 0.5).sd == 0.5  # nothing is known of it
    now = outlook(agreed, state)
    assert now.p_best == pytest.approx([0.5, 0.0, 0.5], abs=2e-3)


def test_no_more_can_be_lost_than_rewards_go_apart() -> None:
    terms = Terms.declare(arms=["A", "B", "C"], reward_range=(0, 0.5), seed=1)
    now = outlook(terms, State.start(terms.arms, terms.policy.memory))
    assert now.loss <= now.loss_95 == 500.0


def test_the_leader_is_the_arm_that_is_most_likely_the_best() -> None:
    """Two arms that are known well share their chances; a third one may be anything."""
    logs = OfflineData.from_summary(
        {"A": (20_000, 0.12, 0.1), "B": (20_000, 0.12, 0.1), "C": (20, 0.11, 0.1)}
    )
    agreed = Terms.declare(offline=logs, bias_bound=0.0, reward_range=(0, 1), seed=1)
    now = outlook(agreed, State.start(agreed.arms))
    assert now.means.argmax() != 2
    assert now.leader == now.p_best.argmax() == 2
    assert outlook_text(now, agreed.arms.labels).startswith("'C' is best with a probability of ")
    rng = np.random.default_rng(3)
    drawn = now.means + now.sds * rng.standard_normal((400_000, 3))
    lost = 1_000 * (drawn.max(axis=1) - drawn[:, 2])
    assert now.loss == pytest.approx(lost.mean(), abs=5 * lost.std() / math.sqrt(400_000))


def test_two_conversions_do_not_outvote_a_thousand_logged_visits() -> None:
    logs = OfflineData.from_summary({"A": (1_000, 0.11, 0.1), "B": (1_000, 0.1, 0.09)})
    agreed = Terms.declare(offline=logs, bias_bound=0.035, reward_range=(0, 1), seed=1)
    now = outlook(agreed, after(agreed, Rewarded((0, 0), (1.0, 1.0))))
    assert now.means[0] < 0.2
    assert abs(now.means[0] - 0.11) < 2 * now.sds[0]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 20])
def test_the_interval_of_few_rewards_holds_as_often_as_it_says(n: int) -> None:
    """Exact: the probability of all outcomes whose interval holds the rate."""
    hits = np.arange(n + 1)
    ends = np.array([live_interval(n, float(k), 0.1, (0.0, 1.0), 1.96) for k in hits])
    for rate in np.linspace(0.01, 0.99, 50).tolist():
        chances = np.array([math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in hits])
        held = (ends[:, 0] <= rate) & (rate <= ends[:, 1])
        assert chances[held].sum() >= 0.95 - 1e-9


def test_which_arm_is_best_is_not_said_before_anything_is_known() -> None:
    agreed = Terms.declare(arms=["A", "B", "C"], reward_range=(0, 1), seed=1)
    one = outlook(agreed, after(agreed, Rewarded((0, 1), (1.0, 0.0))))
    assert not one.can_rank
    assert one.known is not None
    assert not one.known.any()
    assert outlook_text(one, agreed.arms.labels).startswith("It is too early to say which arm")
    more = outlook(agreed, after(agreed, Rewarded((0, 1) * 5, (1.0, 0.0) * 5)))
    assert more.can_rank
    assert [more.knows(column) for column in range(3)] == [True, True, False]
    assert outlook(terms(bias_bound=0.1), State.start(LOGS.arms)).can_rank
