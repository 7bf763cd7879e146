from __future__ import annotations

from driftanchor.experiments import setting_text, spec


def test_settings_in_words() -> None:
    fig2, bernoulli = spec.load("fig2").cells, spec.load("bernoulli").cells
    assert setting_text.describe(fig2) == (
        "10 arms, gap 0.3, other arms' mean 0.5, 2,000 logs, best arm biased by −0.3, others by "
        "+0.1, V = the true bias, Gaussian rewards, noise 1"
    )
    assert [setting_text.heading(cell, bernoulli) for cell in bernoulli[:3]] == [
        "no logs",
        "2,000 logs, unbiased",
        "logs on all arms alike, best arm biased by −0.3, others by +0.1",
    ]
    assert setting_text.heading(bernoulli[2], bernoulli, without=("delta", "other_bias")) == (
        "logs on all arms alike"
    )


def test_a_cell_of_a_named_sweep_is_told_apart_within_it() -> None:
    cells = {cell.id: cell for cell in spec.load("suite").cells}
    heading = setting_text.heading(cells["suite/no logs/arms=50"], tuple(cells.values()))
    assert heading == "no logs: 50 arms, gap 0.3, other arms' mean 0.5"


def test_promises_in_words() -> None:
    assert setting_text.say("relative_bound", 0.1) == "W = 0.1"
    assert setting_text.title({"common_shift": -1.0, "gap": 0.1}) == "gap 0.1, all arms moved by -1"
    assert (
        setting_text.title({"common_shift": 0.0, "relative_bound": float("inf"), "gap": 1})
        == "gap 1"
    )


def described(sweep: str) -> tuple[str, list[str]]:
    cells = spec.parse(f'policies = ["ts"]\n[[sweep]]\n{sweep}', "my.toml").cells
    return setting_text.describe(cells), [setting_text.heading(cell, cells) for cell in cells]


def test_lists_and_laws_in_words() -> None:
    """What they stand in for is not said."""
    shared, titles = described(
        "vary.online = [[0.8, 0.5], [0.8, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0]]\n"
        "fixed = { offline_means = 0.5, offline_pulls = 20, horizon = 1000, bias_bound = 0.5 }"
    )
    assert shared == (
        "logs of each arm 20, logged means 0.5, V = 0.5, Gaussian rewards, noise 1, 1,000 rounds"
    )
    assert titles == ["means 0.8, 0.5", "means 0.8, 0.5, 0.4, 0.3, 0.2, 0.1, …"]
    shared, titles = described(
        "fixed.online = { law = 'normal', mean = 0, sd = 1 }\nfixed.arms = 5\n"
        "fixed.bias = { law = 'uniform', low = 0, high = 0.5 }\nvary.horizon = [100, 1000]"
    )
    assert shared == (
        "5 arms, means normal(mean=0, sd=1), 2,000 logs on all arms alike, logs biased by "
        "uniform(low=0, high=0.5), V = the true bias, Gaussian rewards, noise 1"
    )
    assert titles == ["100 rounds", "1,000 rounds"]
    assert setting_text.rounds(spec.parse(GRID, "my.toml")) == "100 to 1,000"


GRID = 'policies = ["ts"]\n[[sweep]]\nvary.horizon = [100, 1000]\n'
