"""Random bandits: each run draws its means from a law, and logs around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from driftanchor.core import check
from driftanchor.core.arms import MAX_ARMS
from driftanchor.core.check import Floats, Ints
from driftanchor.errors import InvalidInput, shown
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.world import drawn_means
from driftanchor.simulation.world import settle, world_of
from driftanchor.simulation.law import Law


def random_bandit(
    means: Law,
    arms: int,
    offline_pulls: Sequence[int] | Ints | int = 0,
    bias_bound: Sequence[float] | Floats | float | None = None,
    reward: str = "gaussian",
    noise: Sequence[float] | Floats | float = 1.0,
    *,
    bias: Law | None = None,
    delay: int = 0,
    batch: int = 1,
    relative_bound: Sequence[float] | Floats | float | None = None,
    common_shift: float = 0.0,
) -> Bandit:
    """A bandit whose means are drawn anew in each run: its mean regret is the Bayesian regret.

    Run r of every policy meets the same means, so differences are paired as always, and runs are
    independent of one another. `instance_of` gives the bandit of one run.

    Args:
        means: The law of the online means.
        arms: How many arms.
        offline_pulls: As for `Bandit`, and the others below too.
        bias_bound: `None` for the true differences of each run.
        reward: Bernoulli rewards need a law between 0 and 1.
        noise: Standard deviation of a reward, one number for all arms or one for each.
        bias: The law of the logged mean minus the online mean of an arm; `None` for unbiased logs.
            With Bernoulli rewards a logged mean beyond 0 or 1 is put there.
        delay: Rounds that go by before a reward is seen.
        batch: Rounds for which arms are chosen at once.
        relative_bound: The bound W that policies are given.
        common_shift: How far all arms moved together; it is added to the means that were drawn.

    Example:
        >>> bandit = random_bandit(Law.uniform(0, 1), 3, reward="bernoulli")
        >>> instance_of(bandit, seed=1, run=0).online.round(3).tolist()
        [0.637, 0.379, 0.44]
    """
    given: dict[str, object] = {"means": means, **({} if bias is None else {"bias": bias})}
    for name, law in given.items():
        if not isinstance(law, Law):
            raise InvalidInput(
                f"must be a Law such as Law.normal(0, 1), got {shown(law)}", argument=name
            )
    count = check.whole(arms, "arms", low=1, high=MAX_ARMS)
    moved = check.number(common_shift, "common_shift")
    late: dict[str, Any] = {"delay": delay, "batch": batch}
    bandit = Bandit(
        [means.mean] * count,
        means.mean,
        offline_pulls,
        bias_bound,
        reward,
        noise,
        relative_bound=relative_bound,
        common_shift=moved,
        **late,
    )
    low, high = (end + moved for end in means.ends)
    if reward == "bernoulli" and not 0.0 <= low <= high <= 1.0:
        raise InvalidInput(
            f"are {means}, moved by {moved:g}, and may leave 0 to 1, where chances are: use "
            "Law.beta, or Law.uniform within 0 and 1",
            argument="means",
        )
    object.__setattr__(bandit, "means", means)
    object.__setattr__(bandit, "bias", bias)
    return bandit


def instance_of(bandit: Bandit, *, seed: int, run: int) -> Bandit:
    """Return the bandit that a random bandit draws for a run, as an ordinary bandit."""
    if bandit.means is None:
        return bandit
    first = check.whole(run, "run")
    world = world_of(bandit, drawn_means(bandit, seed, first, 1, compiled=False), first)
    settle(world, first)
    return Bandit(
        world.online,
        world.offline,
        world.offline_pulls,
        world.bias_bounds,
        bandit.reward,
        bandit.arm_noise,
        delay=bandit.delay,
        batch=bandit.batch,
        relative_bound=bandit.relative_bound,
    )
