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
        "2,000 logs on all arms alike, unbiased",
        "2,000 logs on all arms alike, best arm biased by −0.3, others by +0.1",
    ]


def test_promises_in_words() -> None:
    assert setting_text.say("relative_bound", 0.1) == "W = 0.1"
    assert setting_text.title({"common_shift": -1.0, "gap": 0.1}) == "gap 0.1, all arms moved by -1"
    assert (
        setting_text.title({"common_shift": 0.0, "relative_bound": float("inf"), "gap": 1})
        == "gap 1"
    )
