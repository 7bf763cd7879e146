"""Settings in words, for the titles, axes, captions and tables of people."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.setting import DEFAULTS, INSTEAD, Setting
from driftanchor.render.numbers import count, plain
from driftanchor.simulation.instances import Law

MOST_VALUES = 6  # of a list, in words

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
    "online": "mean rewards",
    "offline_pulls": "logged rewards of each arm, N",
    "offline_means": "mean logged rewards",
    "bias": "bias of the logs",
    "horizon": "rounds T",
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
    "offline_means",
    "bias",
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
_UNSAID = tuple(word for word, value in DEFAULTS.items() if value is None)
_WORDS = tuple(_DEFAULTS)


def say(word: str, value: Any) -> str:
    """A setting in words, short enough for a panel's title.

    Example:
        >>> say("gap", 0.3), say("offline", 2000), say("coverage", "optimal")
        ('gap 0.3', '2,000 logs', '80 % of logs on the best arm')
    """
    text = value_text(word, value)
    phrases = {
        "arms": f"{text} arms",
        "gap": f"gap {text}",
        "shape": "means on a ladder" if value == "ladder" else "all others alike",
        "base": f"other arms' mean {text}",
        "offline": f"{text} logs" if value else "no logs",
        "coverage": _COVERAGES.get(text, f"shares of the logs {text}"),
        "delta": f"best arm biased by −{text}" if value else "best arm not biased",
        "other_bias": f"others biased by +{text}" if value else "others not biased",
        "bias_bound": "V = the true bias" if value == "exact" else f"V = {text}",
        "bias_bound_at_least": f"V at least {text}",
        "relative_bound": f"W = {text}",
        "common_shift": f"all arms moved by {text}",
        "reward": f"{text.capitalize()} rewards",
        "noise": f"noise {text}",
        "delay": f"rewards {text} rounds late",
        "batch": f"batches of {text}",
        "reward_scale": f"rewards times {text}",
        "reward_shift": f"rewards plus {text}",
        "online": f"means {text}",
        "offline_pulls": f"logs of each arm {text}",
        "offline_means": f"logged means {text}",
        "bias": f"logs biased by {text}",
        "horizon": f"{text} rounds",
    }
    return phrases[word]


def value_text(word: str, value: Any) -> str:
    """A value in words, a law and a long list too."""
    if isinstance(value, dict):
        return str(Law.of(value, word))
    if isinstance(value, list) and len(value) > MOST_VALUES:
        return f"{plain(value[:MOST_VALUES])}, …"
    return plain(value)


def title(varied: Mapping[str, Any]) -> str:
    """Settings in words, in the order in which `Setting` has them.

    Example:
        >>> title({"coverage": "optimal", "gap": 0.1})
        'gap 0.1, 80 % of logs on the best arm'
        >>> title({"offline": 2000, "coverage": "uniform", "delta": 0.3, "other_bias": 0.1})
        '2,000 logs on all arms alike, best arm biased by −0.3, others by +0.1'
    """
    return _phrases({word: varied[word] for word in _WORDS if word in varied})


def heading(cell: Cell, cells: Sequence[Cell], without: Collection[str] = ()) -> str:
    """In words, what sets a cell apart from the others: its group, and what `describe` leaves out.

    Args:
        cell: The cell.
        cells: All cells of its experiment.
        without: Settings that are said elsewhere.
    """
    said = {word: x for word, x in special(cell, cells).items() if word not in without}
    return ": ".join(filter(None, (cell.group, _phrases(said))))


def special(cell: Cell, cells: Sequence[Cell]) -> dict[str, Any]:
    """The settings of a cell that it varies, or that other cells have fixed differently."""
    group = [other for other in cells if other.group == cell.group]
    return {
        word: getattr(cell.setting, word)
        for word in _WORDS
        if word in cell.varied or not _is_common(word, group)
    }


def _is_common(word: str, cells: Sequence[Cell]) -> bool:
    """Whether a setting is the same in all cells that do not vary it."""
    values = [getattr(cell.setting, word) for cell in cells if word not in cell.varied]
    return all(value == values[0] for value in values)


def describe(cells: Sequence[Cell]) -> str:
    """What these cells have in common where they do not vary it, in words."""
    common = {}
    instead = [
        other
        for word, others in INSTEAD.items()
        if any(getattr(cell.setting, word) is not None for cell in cells)
        for other in others
    ]
    for word in (word for word in _WORDS if word not in instead):
        fixed = [cell for cell in cells if word not in cell.varied]
        if fixed and _is_common(word, cells):
            common[word] = getattr(fixed[0].setting, word)
    return _phrases(common)


def _phrases(words: Mapping[str, Any]) -> str:
    """Settings in words, without those that say nothing; some are joined."""
    # The settings of `_PLAIN` are left out at their defaults.
    hidden = {word for word in _PLAIN if words.get(word) == _DEFAULTS[word]}
    hidden |= {word for word in _UNSAID if words.get(word, 0) is None}
    if words.get("offline") == 0 and words.get("offline_pulls") is None:
        hidden |= set(_ABOUT_LOGS)
    hidden |= {x for word, others in INSTEAD.items() if words.get(word) is not None for x in others}
    if isinstance(words.get("online"), list):
        hidden.add("arms")
    if isinstance(words.get("online"), dict):
        hidden |= {"delta", "other_bias"}
    if words.get("reward") == "bernoulli":
        hidden.add("noise")  # a Bernoulli reward has its own
    phrases = {word: say(word, value) for word, value in words.items() if word not in hidden}
    if {"offline", "coverage"} <= set(phrases):
        spread = phrases.pop("coverage").removeprefix("logs ").replace(" of logs", "")
        phrases["offline"] += f" {spread}" if spread.startswith("on") else f", {spread}"
    if {"delta", "other_bias"} <= set(phrases):
        best, others = words["delta"], words["other_bias"]
        phrases["delta"] = f"best arm biased by −{plain(best)}, others by +{plain(others)}"
        if not best and not others:
            phrases["delta"] = "unbiased"
        del phrases["other_bias"]
    return ", ".join(phrases.values())


def rounds_and_runs(experiment: Experiment) -> str:
    """How long and how often.

    Example:
        >>> from driftanchor.experiments import spec
        >>> rounds_and_runs(spec.load("fig1"))
        '2,000 runs × 10,000 rounds'
    """
    return f"{count(experiment.runs, 'run')} × {rounds(experiment)} rounds"


def rounds(experiment: Experiment) -> str:
    """How many rounds a run has, from the shortest to the longest.

    Example:
        >>> from driftanchor.experiments import spec
        >>> rounds(spec.load("fig1"))
        '10,000'
    """
    first, *_, last = (experiment.horizons[0], experiment.horizons[-1])
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"
