"""Laws, and random bandits: every engine plays the means that a run drew."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driftanchor import Bandit, InvalidInput, Law, random_bandit, simulate
from driftanchor.core.noise import keyed_stream, wrapping
from driftanchor.core.ziggurat import TAIL
from driftanchor.simulation import ENGINES, instance_of
from driftanchor.simulation.instances import MAX_DEVIATIONS
from driftanchor.simulation.world import draw_number, numbers_of

if TYPE_CHECKING:
    from conftest import Chance

LAWS: dict[str, tuple[Law, Callable[[float], float]]] = {
    "normal": (Law.normal(2, 0.5), NormalDist(2, 0.5).cdf),
    "uniform": (Law.uniform(-1, 3), lambda x: min(max((x + 1) / 4, 0.0), 1.0)),
    "beta": (Law.beta(2, 1), lambda x: min(max(x, 0.0), 1.0) ** 2),
}


@pytest.mark.parametrize("kind", LAWS)
def test_numbers_have_the_law(kind: str, chance: Chance) -> None:
    """Twenty bins over the middle of the law, 4,000 numbers: false alarm 1e-6."""
    law, cdf = LAWS[kind]
    stream = keyed_stream(3, kind, 0)
    with wrapping():
        drawn = [draw_number(numbers_of(law), stream) for _ in range(4_000)]
    low, high = max(law.support[0], law.mean - 2), min(law.support[1], law.mean + 2)
    cuts = [-np.inf, *np.linspace(low, high, 21)[1:-1], np.inf]
    due = np.diff([0.0, *map(cdf, cuts[1:-1]), 1.0]) * 4_000
    counts, _ = np.histogram(drawn, cuts)
    chance.fits(counts[due > 5], due[due > 5], false_alarm=1e-6)
    assert law.support[0] <= min(drawn) <= max(drawn) <= law.support[1]
    assert np.mean(drawn) == pytest.approx(law.mean, abs=6 * np.std(drawn) / np.sqrt(4_000))


@pytest.mark.parametrize("kind", LAWS)
def test_probabilities_and_quantiles_are_those_of_the_law(kind: str) -> None:
    law, cdf = LAWS[kind]
    for x in np.linspace(law.mean - 3, law.mean + 3, 31).tolist():
        assert law.cdf(x) == pytest.approx(cdf(x), abs=1e-12)
    for p in (1e-9, 0.01, 0.5, 0.999):
        assert cdf(law.quantile(p)) == pytest.approx(p)
    assert (law.quantile(0), law.quantile(1)) == law.support


def test_no_drawn_normal_is_outside_the_support() -> None:
    """The tail adds −log(2⁻⁵³)/TAIL to its edge at most."""
    assert TAIL + 53 * np.log(2) / TAIL < MAX_DEVIATIONS


def test_a_law_is_read_from_a_table() -> None:
    assert Law.of({"law": "normal", "mean": 1, "sd": 2}, "online") == Law.normal(1.0, 2.0)
    assert str(Law.of({"law": "beta", "b": 5, "a": 1}, "online")) == "beta(a=1, b=5)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Law("cauchy", 0, 1), "unknown law 'cauchy'; known: normal, uniform, beta"),
        (lambda: Law.normal(0, -1), "sd of law 'normal' must be between 0 and 1e+100, got -1"),
        (lambda: Law.beta(0.5, 1), "a of law 'beta' must be between 1 and 1e+100, got 0.5"),
        (lambda: Law.uniform(2, 1), "low of law 'uniform' is 2 and high is 1"),
        (lambda: Law.normal(0, 1).quantile(1.5), "p must be between 0 and 1, got 1.5"),
        (lambda: Law.of({"mean": 1}, "online"), "online must name a law, such as law = 'normal'"),
        (lambda: Law.of(None, 3), "argument must be text, got 3"),  # type: ignore[arg-type]
        (lambda: Law.of({"law": "norm"}, "online"), "unknown law of online 'norm'; did you mean"),
        (
            lambda: Law.of({"law": "normal", "mean": 1}, "online"),
            "online has a law 'normal' without sd",
        ),
        (
            lambda: Law.of({"law": "normal", "mean": 1, "arms": 3}, "online"),
            "unknown key of the law of online 'arms'; known: law, mean, sd",
        ),
    ],
)
def test_an_impossible_law_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        make()


WORLDS = {
    "normal, V of each run": random_bandit(Law.normal(0, 1), 3, 20, bias=Law.uniform(-0.5, 0.1)),
    "V declared, noise of each arm": random_bandit(
        Law.uniform(0, 1), 3, [9, 0, 4], 0.2, noise=[0.5, 1, 2], bias=Law.normal(0, 0.1)
    ),
    "Bernoulli": random_bandit(
        Law.beta(2, 3), 2, 5, reward="bernoulli", bias=Law.uniform(-0.9, 0.9)
    ),
    "late and moved together": random_bandit(
        Law.normal(0, 1), 2, 5, relative_bound=0.1, common_shift=-3, delay=2, batch=3
    ),
}
EFFORT: dict[str, Any] = {"horizon": 60, "seed": 4, "checkpoints": 3}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("world", WORLDS)
def test_a_run_is_that_of_the_bandit_it_drew(world: str, engine: str) -> None:
    """To the bit, in every engine: means, logs, bounds and gaps."""
    bandit = WORLDS[world]
    # With late rewards, use policies whose kernels other tests compile too.
    policies = ["ts", "guarded-anchor-ts"] if bandit.is_late else ["anchor-ts", "min-ucb"]
    result = simulate(policies, bandit, runs=3, engine=engine, **EFFORT)
    for run in range(3):
        alone = instance_of(bandit, seed=4, run=run)
        played = simulate(policies, alone, runs=run + 1, engine=engine, **EFFORT)
        assert np.array_equal(result.regret[:, run], played.regret[:, run])
        assert np.array_equal(result.pulls[:, run], played.pulls[:, run])


def test_instances_differ_by_run_and_seed_alone() -> None:
    bandit = WORLDS["normal, V of each run"]
    one = instance_of(bandit, seed=4, run=0)
    again = instance_of(pickle.loads(pickle.dumps(bandit)), seed=4, run=0)
    assert np.array_equal(one.online, again.online)
    assert np.array_equal(one.bias_bound, np.abs(one.shift))
    for seed, run in ((4, 1), (5, 0)):
        other = instance_of(bandit, seed=seed, run=run)
        assert not np.isin(other.online, one.online).any()
        assert not np.isin(other.offline, one.offline).any()
    assert bandit.online.tolist() == [0.0, 0.0, 0.0]  # still the mean of the law
    plain = Bandit([1.0])
    assert instance_of(plain, seed=1, run=1) is plain


def test_logged_bernoulli_means_are_clipped() -> None:
    drawn = [instance_of(WORLDS["Bernoulli"], seed=1, run=run).offline for run in range(50)]
    assert np.min(drawn) == 0.0
    assert np.max(drawn) == 1.0


def test_gaps_bound_the_loss_of_a_pull() -> None:
    bandit = random_bandit(Law.uniform(-1, 2), 3)
    assert bandit.gaps.tolist() == [3.0] * 3
    result = simulate("ucb", bandit, runs=50, horizon=10, engine="interpreted")
    assert result.final("ucb").max() <= 10 * bandit.gaps.max()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"means": 0.5}, "means must be a Law such as Law.normal(0, 1), got 0.5"),
        ({"bias": "small"}, "bias must be a Law such as Law.normal(0, 1), got 'small'"),
        ({"arms": 0}, "arms must be between 1 and 1e+06, got 0"),
        ({"common_shift": None}, "common_shift must be a number, got None"),
        ({"reward": "bernoulli"}, "means are normal(mean=0, sd=1), moved by 0, and may leave [0"),
        (
            {"reward": "bernoulli", "means": Law.beta(1, 1), "common_shift": 0.1},
            "means are beta(a=1, b=1), moved by 0.1, and may leave [0, 1]",
        ),
        ({"offline_pulls": [1]}, "offline_pulls has 1 values for 2 arms"),
    ],
)
def test_an_impossible_random_bandit_is_refused(arguments: dict[str, Any], message: str) -> None:
    possible: dict[str, Any] = {"means": Law.normal(0, 1), "arms": 2}
    with pytest.raises(InvalidInput, match=re.escape(message)):
        random_bandit(**(possible | arguments))
