"""The peers: which version of each, how it is driven, and where its job is not quite ours.

A driver is a module here, named as the peer. Its functions `ts` and `ucb` play a policy with given
arm means for so many rounds and return how many rounds that were in all. Where it has a function
`live`, that plays Thompson sampling one round at a time, by `pull` and `update` or what the peer
calls them. Both are run in an environment of the peer's own, by `drive` and `live` here, and import
the peer inside: neither this package nor the other peers are there.
"""

from typing import NamedTuple

MEANS = (0.8, *[0.5] * 9)
POLICIES = ("ts", "ucb")


def live_means(arms: int) -> tuple[float, ...]:
    """The means of live arms: one good, the others alike."""
    return (0.8, *[0.5] * (arms - 1))


class Peer(NamedTuple):
    """A library that plays bandits."""

    version: str
    horizon: int  # shorter where the library is slow
    note: str  # how it is driven, and what is not the same job
    needs: tuple[str, ...] = ()  # requirements beside its own
    alone: bool = False  # without its own requirements


PEERS = {
    "pymab": Peer("2.0.1", 10_000, "`Experiment.run`, Rust backend, 10 runs at once"),
    "river": Peer(
        "0.26.1",
        10_000,
        "`pull` and `update`; its Gaussian TS samples the reward, not the posterior of its mean",
    ),
    "smpybandits": Peer(
        "0.9.7",
        10_000,
        "`choice` and `getReward`; imports only with an old NumPy and SciPy, which it gets",
        needs=("numpy==1.23.5", "scipy==1.10.1"),
    ),
    "mabby": Peer("0.1.2", 10_000, "`Simulation.run`; TS is Beta–Bernoulli"),
    "obp": Peer(
        "0.4.1",
        10_000,
        "`select_action` and `update_params`; TS is Beta–Bernoulli, no UCB; its policies are "
        "loaded without the rest of it, which needs PyTorch",
        needs=("numpy", "pyyaml", "scikit-learn"),
        alone=True,
    ),
    "mabwiser": Peer("2.7.4", 3_000, "`predict` and `partial_fit`; TS is Beta–Bernoulli"),
    "pybandits": Peer("8.4.1", 3_000, "`predict` and `update`; TS is Beta–Bernoulli, no UCB"),
    "contextualbandits": Peer(
        "0.3.30",
        1_000,
        "`LinTS` and `LinUCB` with one constant feature, `predict` and `partial_fit`",
    ),
    "bayesianbandits": Peer(
        "1.5.0", 1_000, "`Agent` of `NormalRegressor` arms; UCB is a quantile of 1,000 samples"
    ),
}
