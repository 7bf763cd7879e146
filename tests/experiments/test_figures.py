from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from driftanchor.experiments import curves, figures, panels, saved, spec, style, versus, words
from driftanchor.experiments.spec import Experiment
from driftanchor.experiments.sweep import Outcome, Outcomes
from driftanchor.policies import POLICIES

SIZE = {"runs": 3, "horizon": 50}


def measured(experiment: Experiment) -> Outcomes:
    """Outcomes of the right shape that nothing was run for."""
    rng = np.random.default_rng(0)
    found = {}
    for cell in experiment.cells:
        for label in cell.policies:
            steps = rng.uniform(0, 9, (experiment.runs, len(experiment.checkpoints)))
            regret = steps.cumsum(axis=1)
            pulls = rng.integers(0, 50, (experiment.runs, len(cell.bandit.online)))
            found[cell.id, label] = Outcome(regret[:, -1], regret[: experiment.curve_runs], pulls)
    return found


def test_every_policy_has_a_look_of_its_own() -> None:
    looks = style.looks({name: name for name in POLICIES})  # also of one the table lacks
    for part in ("colour", "marker"):
        assert len({getattr(look, part) for look in looks.values()}) == len(POLICIES)


def test_a_variant_keeps_its_colour_and_changes_its_line() -> None:
    looks = style.looks(
        {"ts": "ts", "anchor-ts": "anchor-ts", "anchor-ts, told": "anchor-ts", "mine": "anchor-ts"}
    )
    assert looks["ts"] == style.POLICIES["ts"]
    same = [looks[label] for label in ("anchor-ts", "anchor-ts, told", "mine")]
    assert len({look.colour for look in same}) == 1
    assert len({look.dash for look in same}) == 3
    assert [look.hollow for look in same] == [False, True, True]


def test_unknown_policies_get_further_looks_always_the_same() -> None:
    asked = {"x": "x", "y": "y", "x again": "x"}
    looks = style.looks(asked)
    assert looks == style.looks(asked)
    assert looks["x"].colour == looks["x again"].colour != looks["y"].colour
    known = {look.colour for look in style.POLICIES.values()}
    assert not known & {look.colour for look in looks.values()}


@pytest.mark.parametrize("name", ["fig1", "fig2", "location", "tails", "bernoulli"])
def test_a_figure_of_the_paper_is_drawn(name: str) -> None:
    experiment = spec.load(name, **SIZE)
    drawing = figures.draw(experiment, measured(experiment))
    shown = [axes for axes in drawing.figure.get_axes() if axes.lines]
    columns = 5 if name == "tails" else 1
    panels_due = {"fig2": 12, "location": 2}.get(name, len(experiment.cells) * columns)
    assert len(shown) == panels_due
    assert experiment.title in drawing.caption
    assert "± one standard error" in drawing.caption
    assert "Gaussian" in drawing.caption or "Bernoulli" in drawing.caption
    assert "lowest mean regret" in drawing.alt


def test_curves_stand_in_rows_of_the_first_value() -> None:
    rows = curves.grid(spec.load("fig7").cells)
    assert [len(row) for row in rows] == [4, 4]
    assert {cell.varied["gap"] for cell in rows[0]} == {0.3}


def test_fig2_has_the_papers_four_blocks_of_three() -> None:
    blocks = versus.blocks(spec.load("fig2").cells)
    assert [block.word for block in blocks] == ["offline", "delta", "bias_bound_at_least", "arms"]
    assert [len(block.panels) for block in blocks] == [3] * 4


def test_sweeps_that_vary_the_same_words_are_one_block() -> None:
    (block,) = versus.blocks(spec.load("location").cells)
    assert block.word == "reward_shift"
    assert {title: len(cells) for title, cells in block.panels.items()} == {
        "no logs": 3,
        "2,000 logs": 3,
    }


def test_one_run_and_words_on_the_axis_can_be_drawn() -> None:
    text = """
policies = ["ts"]
runs = 1
horizon = 20
figure = "versus"
[[sweep]]
vary.coverage = ["uniform", "optimal"]
"""
    experiment = spec.parse(text, "words.toml")
    (axes,) = figures.draw(experiment, measured(experiment)).figure.get_axes()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["uniform", "optimal"]


def test_no_regret_at_all_can_be_drawn() -> None:
    experiment = spec.load("tails", **SIZE)
    nothing = {
        key: Outcome(found.final * 0, found.curves * 0, found.pulls)
        for key, found in measured(experiment).items()
    }
    for kind in spec.FIGURES:
        drawn = Experiment(**{**vars(experiment), "figure": kind})
        figures.draw(drawn, nothing).figure.draw_without_rendering()


def test_a_policy_ten_times_worse_makes_the_axis_logarithmic() -> None:
    assert panels.wide_apart([10.0, 200.0], 12)
    assert not panels.wide_apart([10.0, 100.0], 12)
    assert not panels.wide_apart([0.0, 0.0], 12)


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    experiment = spec.load("bernoulli", **SIZE)
    written = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        with style.sheet():
            drawing = figures.draw(experiment, measured(experiment))
            paths = style.save(drawing.figure, folder, drawing.name)
        assert [path.name for path in paths] == ["bernoulli.png", "bernoulli.svg"]
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1]


def test_theory_is_drawn_against_the_pulls_of_fig1_and_fig2() -> None:
    experiments = [spec.load(name, **SIZE) for name in ("fig1", "fig2", "fig7")]
    outcomes = {key: x for e in experiments for key, x in measured(e).items()}
    drawing = saved.draw(experiments, outcomes)
    assert drawing is not None
    assert len(drawing.figure.get_axes()) == 9
    assert "Theorem 1 promises Anchor-TS nothing" in drawing.caption
    alone = saved.draw(experiments[:1], outcomes)
    assert alone is not None
    assert "fig2" not in alone.caption
    assert saved.draw(experiments[2:], outcomes) is None


def test_the_promises_are_those_of_the_theorems() -> None:
    cells = {cell.id: cell.bandit for name in ("fig1", "fig2") for cell in spec.load(name).cells}
    biased = cells["fig2/offline=2000/coverage=uniform"]  # N = 200, ω = 0.2, Δ = 0.3
    assert saved.promised(biased, 10_000, "anchor-ts") == 0.0
    assert saved.promised(biased, 10_000, "min-ucb") == pytest.approx(200 / 9)
    unbiased = cells["fig1/gap=0.3/coverage=uniform"]  # ω = 0: all of N
    assert saved.promised(unbiased, 10_000, "anchor-ts") == pytest.approx(200)
    many = saved.promised(unbiased, 100, "min-ucb")  # never more than there is to save
    assert many == pytest.approx(2 / 0.09 * np.log(100))


def test_settings_are_told_in_words() -> None:
    fig2, bernoulli = spec.load("fig2").cells, spec.load("bernoulli").cells
    assert words.describe(fig2) == (
        "10 arms, gap 0.3, other arms' mean 0.5, 2,000 logs, best arm biased by −0.3, others by "
        "+0.1, V = the true bias, Gaussian rewards, noise 1"
    )
    assert [words.heading(cell, bernoulli) for cell in bernoulli[:3]] == [
        "no logs",
        "2,000 logs on all arms alike, unbiased",
        "2,000 logs on all arms alike, best arm biased by −0.3, others by +0.1",
    ]
