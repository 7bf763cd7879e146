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
    "base": "mean of the other arms",
    "offline": "logged rewards in all, ΣN",
    "coverage": "coverage of the logs",
    "delta": "bias of the best arm, δ",
    "other_bias": "bias of the other arms",
    "bias_bound": "declared bias bound V",
    "bias_bound_at_least": "bias bound V, at least",
    "reward": "law of rewards",
    "noise": "noise σ",
    "reward_scale": "factor on all rewards",
    "reward_shift": "added to all rewards",
}
_COVERAGES = {
    "uniform": "logs on all arms alike",
    "optimal": "80 % of logs on the best arm",
    "suboptimal": "80 % of logs on another arm",
}
_ABOUT_LOGS = ("coverage", "delta", "other_bias", "bias_bound", "bias_bound_at_least")
_PLAIN = ("reward_scale", "reward_shift", "bias_bound_at_least")  # unsaid at their defaults
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
        "base": f"other arms' mean {shown}",
        "offline": f"{shown} logs" if value else "no logs",
        "coverage": _COVERAGES.get(shown, f"shares of the logs {shown}"),
        "delta": f"best arm under-estimated by {shown}" if value else "best arm not biased",
        "other_bias": f"others over-estimated by {shown}" if value else "others not biased",
        "bias_bound": "V = the true bias" if value == "exact" else f"V = {shown}",
        "bias_bound_at_least": f"V at least {shown}",
        "reward": f"{shown.capitalize()} rewards",
        "noise": f"noise {shown}",
        "reward_scale": f"rewards times {shown}",
        "reward_shift": f"rewards plus {shown}",
    }
    return phrases[word]


def title(varied: Mapping[str, Any]) -> str:
    """The varied values of a cell in words."""
    return ", ".join(say(word, value) for word, value in varied.items())


def describe(cells: Sequence[Cell]) -> str:
    """What these cells have in common where they do not vary it, in words."""
    common = {}
    for word in _WORDS:
        values = [getattr(cell.setting, word) for cell in cells if word not in cell.varied]
        if values and all(value == values[0] for value in values):
            common[word] = values[0]
    return _phrases(common)


def rest(cell: Cell, cells: Sequence[Cell]) -> str:
    """In words, what sets a cell apart from the others that it does not vary itself."""
    different = {
        word: getattr(cell.setting, word)
        for word in _WORDS
        if word not in cell.varied
        and any(
            word not in other.varied
            and getattr(other.setting, word) != getattr(cell.setting, word)
            for other in cells
        )
    }
    if cell.setting.offline == 0 and "offline" not in cell.varied:
        different["offline"] = 0
    return _phrases(different, no_logs=cell.setting.offline == 0)


def _phrases(words: Mapping[str, Any], *, no_logs: bool = False) -> str:
    """Settings in words, without those that say nothing."""
    hidden = {word for word in _PLAIN if words.get(word) == _DEFAULTS[word]}
    if no_logs or words.get("offline") == 0:
        hidden |= set(_ABOUT_LOGS)
    if words.get("reward") == "bernoulli":
        hidden.add("noise")  # a Bernoulli reward has its own
    phrases = [say(word, value) for word, value in words.items() if word not in hidden]
    if {"delta", "other_bias"} <= set(words) - hidden and not words["delta"]:
        unbiased = [say(word, 0.0) for word in ("delta", "other_bias")]
        if words["other_bias"] == 0:
            phrases = [p for p in phrases if p not in unbiased] + ["unbiased logs"]
    return ", ".join(phrases)


def rounds_and_runs(experiment: Experiment) -> str:
    """How long and how often.

    Example:
        >>> from driftanchor.experiments import spec
        >>> rounds_and_runs(spec.load("fig1"))
        '2,000 runs × 10,000 rounds'
    """
    runs = "1 run" if experiment.runs == 1 else f"{experiment.runs:,} runs"
    return f"{runs} × {experiment.horizon:,} rounds"
