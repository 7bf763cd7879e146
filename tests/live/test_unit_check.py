"""A policy whose units do not fit the logs is warned of."""

import pytest

from driftanchor import (
    TS,
    UCB,
    AnchorTS,
    GuardedAnchorTS,
    HybridTS,
    Learner,
    OfflineData,
    Policy,
)

LOGS = OfflineData.from_summary({"A": (200, 50.0, 90.0), "B": (100, 56.0, 120.0)})


def test_a_policy_given_is_taken_as_it_is() -> None:
    learner = Learner(AnchorTS(prior_mean=52, noise=10), offline=LOGS, bias_bound=5.0)
    assert learner.policy == AnchorTS(prior_mean=52, noise=10)
    assert learner.reasons == ()


@pytest.mark.parametrize(
    ("policy", "advice"),
    [
        (AnchorTS(), r"mean 52, far from .*use AnchorTS\(prior_mean=52, noise=9.998\)"),
        (TS(prior_mean=52, noise=4), r"deviation 9.998 within .*use TS\(noise=9.998\)"),
        (UCB(), r"deviation 9.998 within arms, more than twice noise=1.*use UCB\(noise=9.998\)"),
        (GuardedAnchorTS(), r"deviation 9.998 within arms.*use GuardedAnchorTS\(noise=9.998\)"),
        (HybridTS(noise=9), r"mean 52, far from prior_mean=0 at noise=9"),
    ],
)
def test_logs_in_other_units_than_the_policy_are_warned_of(policy: Policy, advice: str) -> None:
    with pytest.warns(UserWarning, match=advice) as caught:
        Learner(policy, offline=LOGS, bias_bound=5.0)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("policy", [UCB(noise=10), GuardedAnchorTS(noise=10), TS(noise=100)])
def test_units_that_fit_are_not_warned_of(policy: Policy) -> None:
    Learner(policy, offline=LOGS, bias_bound=5.0)
