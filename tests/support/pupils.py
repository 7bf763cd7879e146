"""Learners that several tests use, and ways to play with them."""

from typing import Any

from driftanchor import POLICIES, AnchorTS, GuardedAnchorTS, Learner, OfflineData, Policy

OFFLINE = OfflineData.from_summary({"A": (200, 0.51), "B": (200, 0.48), "C": (50, 0.2)})


def learner(policy: Policy | None = None, seed: int = 1) -> Learner:
    return Learner(policy or AnchorTS(), offline=OFFLINE, bias_bound=0.05, seed=seed)


def play(pupil: Learner, rounds: int) -> list[str]:
    """Pull and update with rewards that depend on the arm and the round alone."""
    pulled = []
    for t in range(rounds):
        pulled.append(pupil.pull())
        pupil.update(
            pulled[-1], {"A": 0.3, "B": 0.5, "C": 0.2}.get(pulled[-1], 0.4) + 0.1 * (t % 3)
        )
    return pulled


MOVED = OfflineData.from_summary({"A": (200, 0.5), "B": (200, 0.25), "C": (0,)})
UNITS: dict[str, Any] = {"prior_mean": 0.4, "noise": 0.5}


def moved_learner(policy: str = "anchor-ts", **promises: Any) -> Learner:
    promises = promises or {"relative_bound": 0.05}
    return Learner(POLICIES[policy](**UNITS), offline=MOVED, seed=1, **promises)


def play_moved(pupil: Learner, rounds: int) -> list[str]:
    """Rewards are those of the logs, 2 higher."""
    pulled = []
    for _ in range(rounds):
        pulled.append(pupil.pull())
        pupil.update(pulled[-1], {"A": 2.5, "B": 2.25, "C": 2.0}[pulled[-1]])
    return pulled


def without_digests(record: Any) -> Any:
    """A record as it was written before there were digests."""
    if isinstance(record, dict):
        return {key: without_digests(x) for key, x in record.items() if key != "digest"}
    return record


def neglected(rounds: int, policy: GuardedAnchorTS | None = None) -> Learner:
    """A leader that was pulled in almost every round, and two arms that were pulled three times."""
    learner = Learner(policy or GuardedAnchorTS(), arms=["A", "B", "C"], seed=4)
    learner.update(["A"] * rounds + ["B"] * 3 + ["C"] * 3, [0.5] * rounds + [-0.6] * 3 + [-0.7] * 3)
    return learner
