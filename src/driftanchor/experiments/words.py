"""What the words of `Setting` mean to people: panel titles, axes, captions and tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from driftanchor.experiments.setting import Setting
from driftanchor.experiments.spec import Cell, Experiment

AXES = {
    "arms": "number of arms K",
    "gap": "gap Δ",
    "shape": "how the means go down",
    "base": "mean of the other arms",
    "offline": "logged rewards in all, ΣN",
    "coverage": "coverage of the logs",
    "delta": "bias of the best arm, δ",
    "other_bias": "bias of the other arms",
    "bias_bound": "declared bias bound V",
    "bias_bound_at_least": "bias bound V, at least",
    "relative_bound": "declared relative bound W",
    "common_shift": "common move of all arms",
    "reward": "law of rewards",
    "noise": "noise σ",
    "delay": "rounds until a reward is seen",
    "batch": "rounds chosen for at once",
    "reward_scale": "factor on all rewards",
    "reward_shift": "added to all rewards",
}
_COVERAGES = {
    "uniform": "logs on all arms alike",
    "optimal": "80 % of logs on the best arm",
    "suboptimal": "80 % of logs on another arm",
}
_ABOUT_LOGS = (
    "coverage",
    "delta",
    "other_bias",
    "bias_bound",
    "bias_bound_at_least",
    "relative_bound",
)
_PLAIN = (
    "shape",
    "delay",
    "batch",
    "reward_scale",
    "reward_shift",
    "bias_bound_at_least",
    "relative_bound",
    "common_shift",
)
_DEFAULTS = dataclasses.asdict(Setting())
_WORDS = tuple(_DEFAULTS)


def number(value: Any) -> str:
    """A value as people write it: 2,000 and 0.3."""
    if isinstance(value, list):
        return ", ".join(map(number, value))
    if isinstance(value, float) and not value.is_integer():
        return f"{value:g}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


def say(word: str, value: Any) -> str:
    """A setting in words, short enough for a panel's title.

    Example:
        >>> say("gap", 0.3), say("offline", 2000), say("coverage", "optimal")
        ('gap 0.3', '2,000 logs', '80 % of logs on the best arm')
    """
    shown = number(value)
    phrases = {
        "arms": f"{shown} arms",
        "gap": f"gap {shown}",
        "shape": "means on a ladder" if value == "ladder" else "all others alike",
        "base": f"other arms' mean {shown}",
        "offline": f"{shown} logs" if value else "no logs",
        "coverage": _COVERAGES.get(shown, f"shares of the logs {shown}"),
        "delta": f"best arm biased by −{shown}" if value else "best arm not biased",
        "other_bias": f"others biased by +{shown}" if value else "others not biased",
        "bias_bound": "V = the true bias" if value == "exact" else f"V = {shown}",
        "bias_bound_at_least": f"V at least {shown}",
        "relative_bound": f"W = {shown}",
        "common_shift": f"all arms moved by {shown}",
        "reward": f"{shown.capitalize()} rewards",
        "noise": f"noise {shown}",
        "delay": f"rewards {shown} rounds late",
        "batch": f"batches of {shown}",
        "reward_scale": f"rewards times {shown}",
        "reward_shift": f"rewards plus {shown}",
    }
    return phrases[word]


def title(varied: Mapping[str, Any]) -> str:
    """Settings in words, in the order in which `Setting` has them.

    Example:
        >>> title({"coverage": "optimal", "gap": 0.1})
        'gap 0.1, 80 % of logs on the best arm'
        >>> title({"offline": 2000, "coverage": "uniform", "delta": 0.3, "other_bias": 0.1})
        '2,000 logs on all arms alike, best arm biased by −0.3, others by +0.1'
    """
    return _phrases({word: varied[word] for word in _WORDS if word in varied})


def heading(cell: Cell, cells: Sequence[Cell]) -> str:
    """In words, what sets a cell apart from the others."""
    different = {
        word: getattr(cell.setting, word)
        for word in _WORDS
        if word in cell.varied
        or any(getattr(other.setting, word) != getattr(cell.setting, word) for other in cells)
    }
    return _phrases(different)


def describe(cells: Sequence[Cell]) -> str:
    """What these cells have in common where they do not vary it, in words."""
    common = {}
    for word in _WORDS:
        values = [getattr(cell.setting, word) for cell in cells if word not in cell.varied]
        if values and all(value == values[0] for value in values):
            common[word] = values[0]
    return _phrases(common)


def _phrases(words: Mapping[str, Any]) -> str:
    """Settings in words, without those that say nothing; some are told together."""
    # What is plain is unsaid at its default.
    hidden = {word for word in _PLAIN if words.get(word) == _DEFAULTS[word]}
    if words.get("offline") == 0:
        hidden |= set(_ABOUT_LOGS)
    if words.get("reward") == "bernoulli":
        hidden.add("noise")  # a Bernoulli reward has its own
    told = {word: say(word, value) for word, value in words.items() if word not in hidden}
    if {"offline", "coverage"} <= set(told):
        spread = told.pop("coverage").removeprefix("logs ").replace(" of logs", "")
        told["offline"] += f" {spread}" if spread.startswith("on") else f", {spread}"
    if {"delta", "other_bias"} <= set(told):
        best, others = words["delta"], words["other_bias"]
        told["delta"] = f"best arm biased by −{number(best)}, others by +{number(others)}"
        if not best and not others:
            told["delta"] = "unbiased"
        del told["other_bias"]
    return ", ".join(told.values())


def rounds_and_runs(experiment: Experiment) -> str:
    """How long and how often.

    Example:
        >>> from driftanchor.experiments import spec
        >>> rounds_and_runs(spec.load("fig1"))
        '2,000 runs × 10,000 rounds'
    """
    runs = "1 run" if experiment.runs == 1 else f"{experiment.runs:,} runs"
    return f"{runs} × {experiment.horizon:,} rounds"
