"""The tail of regret: stuck runs, intervals of quantiles, and the figure that shows both."""

from __future__ import annotations

import numpy as np
import pytest

from driftanchor.errors import InvalidInput
from driftanchor.experiments import figures, spec, tail
from driftanchor.experiments.sweep import Outcome

FILE = """
policies = ["ts", "ucb", { label = "quick", policy = "ucb", c = 1.0 }]
runs = 4
horizon = 10
figure = "tradeoff"
[[sweep]]
name = "plain"
fixed = { offline = 0 }
vary.arms = [2, 3]
[[sweep]]
name = "coins"
vary.reward = ["bernoulli"]
parameters = { noise = 0.5 }
"""


def test_a_stuck_run_lost_half_of_what_the_second_best_arm_loses() -> None:
    gaps = np.array([0.0, 0.3, 0.1])
    final = np.array([49.9, 50.0, 50.1, 300.0])
    assert tail.stuck_share(final, gaps, 1_000) == 0.5
    assert tail.stuck_share(final, np.zeros(3), 1_000) == 0.0


def test_names_and_parameters_of_sweeps() -> None:
    experiment = spec.parse(FILE, "mine.toml")
    assert [cell.id for cell in experiment.cells] == [
        "mine/plain/arms=2",
        "mine/plain/arms=3",
        "mine/coins/reward=bernoulli",
    ]
    assert [cell.group for cell in experiment.cells] == ["plain", "plain", "coins"]
    assert [cell.policies["quick"].noise for cell in experiment.cells] == [1.0, 1.0, 0.5]
    assert experiment.cells[2].policies["quick"].parameters()["c"] == 1.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{ noise = 0.5 }", "3", "mine.toml, line 13: parameters = 3: write a table"),
        ("{ noise = 0.5 }", "{ nois = 0.5 }", "did you mean 'noise'"),
        ('"coins"', "7", "mine.toml, line 11: name = 7: give a text"),
        ('["bernoulli"]', '["student"]\nvary.shape = ["stairs"]', "unknown shape 'stairs'"),
        ('["bernoulli"]', '["student"]\nvary.delay = [-1]', "delay must be between 0 and"),
    ],
)
def test_what_is_wrong_in_a_sweep_is_named(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        spec.parse(FILE.replace(old, new), "mine.toml")
    assert message in str(caught.value)


def test_a_ladder_goes_down_in_equal_steps() -> None:
    text = FILE.replace("vary.arms = [2, 3]", 'vary.arms = [4]\nvary.shape = ["ladder"]')
    online = spec.parse(text, "mine.toml").cells[0].bandit.online
    assert online.tolist() == pytest.approx([0.8, 0.7, 0.6, 0.5])


def outcomes(finals: dict[str, list[float]]) -> dict[tuple[str, str], Outcome]:
    found = {}
    for cell in spec.parse(FILE, "mine.toml").cells:
        for label, final in finals.items():
            values = np.array(final)
            found[cell.id, label] = Outcome(values, values[:, None], np.zeros((4, 2), np.int64))
    return found


def test_points_are_multiples_of_ts() -> None:
    finals = {"ts": [2.0, 2.0, 2.0, 2.0], "ucb": [1.0, 1.0, 1.0, 5.0], "quick": [1.0] * 4}
    drawing = figures.draw(spec.parse(FILE, "mine.toml"), outcomes(finals))
    first, second = (axes for axes in drawing.figure.get_axes() if axes.lines)
    assert (first.get_title(), second.get_title()) == ("ucb", "quick")
    x, y = (np.asarray(values) for values in first.lines[0].get_data())
    assert x.tolist() == [1.0, 1.0]  # two cells of the first sweep
    assert y == pytest.approx([2.44, 2.44])
    assert "ucb: mean at most TS's in 3 of 3, 99 % in 0" in drawing.alt
    assert "quick: mean at most TS's in 3 of 3, 99 % in 3" in drawing.alt
    assert "one point for each of 3 cells" in drawing.caption


def test_a_tradeoff_needs_ts_and_another() -> None:
    alone = spec.parse(FILE.replace('"ts", ', ""), "mine.toml")
    with pytest.raises(InvalidInput, match="a tradeoff needs 'ts' and other policies"):
        figures.draw(alone, outcomes({"ucb": [1.0] * 4, "quick": [1.0] * 4}))
