"""Any instance in a file: lists, laws, noise of each arm, horizons."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from driftanchor.errors import InvalidInput
from driftanchor.experiments import spec, sweep
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.simulation.instances import Law

BASE = 'policies = ["ts", "anchor-ts"]\nhorizon = 50\nruns = 2\n[[sweep]]\n'


def experiment(text: str) -> Experiment:
    return spec.parse(BASE + text, "my.toml")


def cells(text: str) -> list[Cell]:
    return list(experiment(text).cells)


def test_means_logs_bounds_and_noise_of_each_arm() -> None:
    (cell,) = cells(
        "fixed = { online = [0.2, 0.8, 0.5], offline_means = [0.3, 0.7, 0.5], noise = [1, 2, 1],"
        "offline_pulls = [10, 0, 5], bias_bound = [0.1, inf, 0.2], reward_scale = 2 }"
    )
    bandit = cell.bandit
    assert bandit.online.tolist() == [0.4, 1.6, 1.0]
    assert bandit.offline.tolist() == [0.6, 1.4, 1.0]
    assert bandit.offline_pulls.tolist() == [10, 0, 5]
    assert bandit.bias_bound.tolist() == [0.2, math.inf, 0.4]
    assert bandit.arm_noise.tolist() == [2.0, 4.0, 2.0]
    assert cell.setting.arms == 3


def test_the_words_of_the_paper_go_on_with_a_list_of_means() -> None:
    (cell,) = cells("fixed = { online = [0.2, 0.8], delta = 0.3, other_bias = 0.1, offline = 9 }")
    assert cell.bandit.offline.round(9).tolist() == [0.3, 0.5]  # the best arm is the second
    assert cell.bandit.bias_bound.round(9).tolist() == [0.1, 0.3]
    assert cell.bandit.offline_pulls.tolist() == [5, 4]
    (cell,) = cells(
        "fixed = { online = [0.2, 0.8], relative_bound = [0.1, 0.2], offline_pulls = 7 }"
    )
    assert cell.bandit.relative_bound.tolist() == [0.1, 0.2]
    assert cell.bandit.offline_pulls.tolist() == [7, 7]


def test_lists_and_laws_can_be_varied() -> None:
    found = cells(
        "vary.online = [[0.8, 0.5], { law = 'normal', mean = 0, sd = 1 }]\n"
        "vary.noise = [1.0, [0.5, 2.0]]\nfixed.arms = 2\n"
    )
    assert [cell.id for cell in found] == [
        "my/online=0.8,0.5/noise=1",
        "my/online=0.8,0.5/noise=0.5,2",
        "my/online=normal(mean=0,sd=1)/noise=1",
        "my/online=normal(mean=0,sd=1)/noise=0.5,2",
    ]
    keys = {job.key() for job in sweep.jobs([experiment("vary.noise = [1.0, 2.0]\n")], 0)}
    assert len(keys) == 4


def test_random_means_with_logs_around_them() -> None:
    (cell,) = cells(
        "fixed = { online = { law = 'uniform', low = 0, high = 1 }, arms = 4, offline = 40,"
        "bias = { law = 'normal', mean = 0, sd = 0.1 }, bias_bound = 0.2, noise = 0.5 }"
    )
    bandit = cell.bandit
    assert (bandit.means, bandit.bias) == (Law.uniform(0, 1), Law.normal(0, 0.1))
    assert bandit.offline_pulls.tolist() == [10] * 4
    assert bandit.bias_bound.tolist() == [0.2] * 4
    assert not bandit.exact
    (cell,) = cells("fixed.online = { law = 'beta', a = 1, b = 9 }\nfixed.reward = 'bernoulli'\n")
    assert cell.bandit.exact
    assert len(cell.bandit.online) == 10


@pytest.mark.parametrize("word", ["means", "bias", "noise", "exact"])
def test_what_is_kept_of_a_cell_is_found_again_for_the_same_bandit_alone(word: str) -> None:
    law = "fixed = {{ online = {{ law = 'normal', mean = 0, sd = {} }}, arms = 2, noise = {}, {} }}"
    bias = "bias = { law = 'normal', mean = 0, sd = %s }"
    texts = {
        "means": [law.format(1, 1, bias % 1), law.format(2, 1, bias % 1)],
        "bias": [law.format(1, 1, bias % 1), law.format(1, 1, bias % 2)],
        "noise": [law.format(1, "[1, 2]", bias % 1), law.format(1, "[2, 2]", bias % 1)],
        "exact": [law.format(1, 1, bias % 1), law.format(1, 1, f"bias_bound = 0, {bias % 1}")],
    }[word]
    one, other = ([job.key() for job in sweep.jobs([experiment(text)], 0)] for text in texts)
    assert one[1] != other[1]  # of anchor-ts, which uses logs
    assert (one[0] == other[0]) == (word in ("bias", "exact"))


def test_a_grid_of_horizons() -> None:
    found = experiment("vary.horizon = [20, 80]\nfixed.arms = 2\n[[sweep]]\nname = 'x'\n")
    assert [cell.id for cell in found.cells] == ["my/horizon=20", "my/horizon=80", "my/x"]
    assert (found.horizon, found.horizons) == (80, (20, 80))
    horizons = [job.experiment.horizon for job in sweep.jobs([found], 0)]
    assert horizons == [20, 20, 80, 80, 80, 80]
    ends = [found.at(cell).checkpoints[-1] for cell in found.cells]
    assert ends == [20, 80, 80]
    shorter = found.resized(None, 30)
    assert [shorter.at(cell).horizon for cell in shorter.cells] == [20, 30, 30]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("online = [0.5, 0.2], gap = 0.1", "line 5: gap = 0.1: gap says nothing beside online"),
        ("online = [0.5, 0.2], arms = 3", "arms is 3, and online has 2"),
        ("online = [0.5, '0.2']", "a list here holds numbers, and not '0.2'"),
        ("online = [0.5, true]", "a list here holds numbers, and not True"),
        ("online = [0.5, inf]", "it must be finite"),
        ("online = 0.5", "this setting takes no float"),
        ("online = []", "arms must be between 1 and 1e+06, got 0"),
        ("online = { mean = 3 }", "online must name a law, such as law = 'normal'"),
        ("online = { law = 'normal', mean = 0 }", "online has a law 'normal' without sd"),
        (
            "online = { law = 'normal', mean = 0, sd = 1 }, delta = 0.1",
            "delta speaks of means that",
        ),
        ("online = { law = 'beta', a = 1, b = 1 }, reward_scale = 2", "reward_scale is for means"),
        ("bias = { law = 'beta', a = 1, b = 1 }", "bias is a law, and online is none"),
        ("offline_pulls = 3, coverage = 'optimal'", "coverage says nothing beside offline_pulls"),
        ("offline_means = 0.5, delta = 0.1", "delta says nothing beside offline_means"),
        ("offline_means = [0.5]", "offline_means has 1 values for 10 arms"),
        ("bias_bound = [0.1]", "bias_bound has 1 values for 10 arms"),
        ("bias_bound = 'true'", "bias_bound must be a number or 'exact', got 'true'"),
        ("noise = [1, 0], arms = 2", "noise of arm '2' must be greater than 0, got 0"),
        ("gap = [0.1]", "this setting takes no list"),
        ("gap = { law = 'normal' }", "this setting takes no dict"),
        ("horizon = 0", "horizon must be between 1 and 1e+12, got 0"),
    ],
)
def test_what_cannot_be_is_named(text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        cells(f"fixed = {{ {text} }}\n")
    assert message in str(caught.value)
    assert str(caught.value).startswith("my.toml, line 5: ")


def test_a_random_bandit_is_the_mean_over_many_instances(tmp_path: Path) -> None:
    """Two arms of means uniform on [0, 1]: the gap is 1/3 on average; 4,000 runs, 5 errors."""
    text = "fixed = { online = { law = 'uniform', low = 0, high = 1 }, arms = 2, noise = 1e-9 }"
    found = experiment(text).resized(4_000, 1)
    final = sweep.run(sweep.jobs([found], 0)[:1], tmp_path).popitem()[1].final
    error = float(final.std() / np.sqrt(final.size))
    assert abs(final.mean() - 1 / 6) < 5 * error  # the first pull is a guess


def test_a_checkpoint_that_no_cell_reaches_is_refused() -> None:
    base = f"checkpoints = [10, 50]\n{BASE}vary.horizon = "
    with pytest.raises(InvalidInput, match="checkpoints must be between 1 and 40, got 50"):
        spec.parse(f"{base}[20, 40]\n", "my.toml")
    found = spec.parse(f"{base}[20, 80]\n", "my.toml")
    assert found.checkpoints == (10, 50, 80)
