"""Law: what it is, and what it cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driftanchor import InvalidInput, Law
from driftanchor.core.noise import keyed_stream, wrapping
from driftanchor.core.ziggurat import TAIL
from driftanchor.simulation.engines.drawn_means import draw_number, numbers_of
from driftanchor.simulation.instances import FARTHEST

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
    law, below = LAWS[kind]
    stream = keyed_stream(3, kind, 0)
    with wrapping():
        drawn = [draw_number(numbers_of(law), stream) for _ in range(4_000)]
    low, high = max(law.ends[0], law.mean - 2), min(law.ends[1], law.mean + 2)
    cuts = [-np.inf, *np.linspace(low, high, 21)[1:-1], np.inf]
    due = np.diff([0.0, *map(below, cuts[1:-1]), 1.0]) * 4_000
    counts, _ = np.histogram(drawn, cuts)
    chance.fits(counts[due > 5], due[due > 5], false_alarm=1e-6)
    assert law.ends[0] <= min(drawn) <= max(drawn) <= law.ends[1]
    assert np.mean(drawn) == pytest.approx(law.mean, abs=6 * np.std(drawn) / np.sqrt(4_000))


@pytest.mark.parametrize("kind", LAWS)
def test_probabilities_and_quantiles_are_those_of_the_law(kind: str) -> None:
    law, below = LAWS[kind]
    for x in np.linspace(law.mean - 3, law.mean + 3, 31).tolist():
        assert law.below(x) == pytest.approx(below(x), abs=1e-12)
    for p in (1e-9, 0.01, 0.5, 0.999):
        assert below(law.quantile(p)) == pytest.approx(p)


def test_no_normal_is_farther_out_than_a_law_says() -> None:
    """The tail adds −log(2⁻⁵³)/TAIL to its edge at most."""
    assert TAIL + 53 * np.log(2) / TAIL < FARTHEST


def test_a_law_is_read_from_words() -> None:
    assert Law.of({"law": "normal", "mean": 1, "sd": 2}, "online") == Law.normal(1.0, 2.0)
    assert str(Law.of({"law": "beta", "b": 5, "a": 1}, "online")) == "beta(a=1, b=5)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Law("cauchy", 0, 1), "unknown law 'cauchy'; known: normal, uniform, beta"),
        (lambda: Law.normal(0, -1), "sd of law 'normal' must be between 0 and 1e+100, got -1"),
        (lambda: Law.beta(0.5, 1), "a of law 'beta' must be between 1 and 1e+100, got 0.5"),
        (lambda: Law.uniform(2, 1), "low of law 'uniform' is 2 and high is 1"),
        (lambda: Law.of({"mean": 1}, "online"), "online must name a law, such as law = 'normal'"),
        (lambda: Law.of(None, 3), "argument must be text, got 3"),  # type: ignore[arg-type]
        (lambda: Law.of({"law": "norm"}, "online"), "unknown law of online 'norm'; did you mean"),
        (
            lambda: Law.of({"law": "normal", "mean": 1}, "online"),
            "online has a law 'normal' without sd",
        ),
        (
            lambda: Law.of({"law": "normal", "mean": 1, "arms": 3}, "online"),
            "unknown word of the law of online 'arms'; known: law, mean, sd",
        ),
    ],
)
def test_an_impossible_law_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        make()
