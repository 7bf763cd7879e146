"""The simulated worlds that the errata are measured in, besides the paper's own."""

import functools

import numpy as np

from driftanchor.simulation import Bandit


@functools.cache
def paper(coverage: str, *, biased: bool = True, gap: float = 0.3, at_least: float = 0.0) -> Bandit:
    """A setting of the paper with no bias bound below `at_least`; coverage `none`: no logs."""
    if coverage == "none":
        return Bandit.paper(biased=biased, gap=gap, total=0)
    exact = Bandit.paper(biased=biased, gap=gap, coverage=coverage)
    bounds = np.maximum(exact.bias_bound, at_least)
    return Bandit(exact.online, exact.offline, exact.offline_pulls, bounds)


def moved(bandit: Bandit, by: float) -> Bandit:
    """The same world with `by` added to every reward."""
    return Bandit(bandit.online + by, bandit.offline + by, bandit.offline_pulls, bandit.bias_bound)


def half_logged() -> Bandit:
    """The biased base setting with logs of every second arm only, and one bias bound for all."""
    base = Bandit.paper(biased=True)
    return Bandit(base.online, base.offline, offline_pulls=[200, 0] * 5, bias_bound=0.3)


def orders() -> dict[str, Bandit]:
    """No logs, gap 0.3, the best arm first or last."""
    best_first = {arms: [0.8] + [0.5] * (arms - 1) for arms in (2, 10)}
    return {
        f"{arms} arms, best {place}": Bandit(online if place == "first" else online[::-1])
        for arms, online in best_first.items()
        for place in ("first", "last")
    }


def kinds_of_logs() -> dict[str, Bandit]:
    """What one may have before choosing a policy: ten arms, and two coins."""
    fitting, misleading = paper("uniform", biased=False), paper("uniform")
    all_but_best = Bandit(fitting.online, fitting.offline, [0] + [200] * 9)
    lower = functools.partial(Bandit, offline_pulls=200, common_shift=-1.0)
    return {
        "no logs": paper("none"),
        "no logs, ten arms 0.1 apart": Bandit(np.arange(9, -1, -1) / 10),
        "no logs, two coins, 0.6 and 0.5": Bandit([0.6, 0.5], reward="bernoulli"),
        "logs that fit, V = 0": fitting,
        "logs that fit, none of the best arm, V = 0": all_but_best,
        "logs that mislead, V right": misleading,
        "logs that mislead, V = 0, wrong": Bandit(
            misleading.online, misleading.offline, misleading.offline_pulls, 0.0
        ),
        "logs that mislead, V right, 2 added to all rewards": moved(misleading, 2.0),
        "all arms 1 lower than logged, V = 1": lower(fitting.online, fitting.offline),
        "all arms 1 lower than logged, W = 0": lower(
            fitting.online, fitting.offline, relative_bound=0.0
        ),
        "all arms 1 lower, logs mislead, W = 0.2, right": lower(
            misleading.online, misleading.offline, relative_bound=0.2
        ),
        "all arms 1 lower, logs mislead, W = 0, wrong": lower(
            misleading.online, misleading.offline, relative_bound=0.0
        ),
    }


def tails() -> dict[str, tuple[Bandit, int]]:
    """Worlds without logs and their horizons, where rare bad runs show."""
    two_arms, two_coins = Bandit([0.5, 0.0]), Bandit([0.75, 0.25], reward="bernoulli")
    return {
        **{f"2 arms, T = {t:,}": (two_arms, t) for t in (100, 1_000, 10_000, 100_000)},
        "10 arms, T = 10,000": (paper("none"), 10_000),
        "2 coins, T = 10,000": (two_coins, 10_000),
    }
