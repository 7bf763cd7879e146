"""What is wrong with an experiment file is named with its line."""

from __future__ import annotations

import pytest

from driftanchor.errors import InvalidInput
from driftanchor.experiments import spec

BASE = """\
title = "x"
policies = ["ts"]
horizon = 50
runs = 2
"""


def sweep(text: str) -> str:
    return f"{BASE}[[sweep]]\n{text}\n"


BAD = {  # what is wrong: (the file, where, what the message ends with)
    "unknown key": (
        BASE + "horizn = 3\n",
        "my.toml, line 5: horizn = 3: ",
        "did you mean 'horizon'?",
    ),
    "wrong type": (
        BASE.replace("50", '"long"'),
        "my.toml, line 3: horizon = 'long': ",
        "horizon must be a whole number, got 'long'",
    ),
    "none at all": (
        BASE.replace("50", "0"),
        "my.toml, line 3: horizon = 0: ",
        ", got 0",
    ),
    "checkpoint beyond the horizon": (
        BASE + "checkpoints = [10, 500, 20]\n",
        "my.toml, line 5: checkpoints = [10, 500, 20]: ",
        "checkpoints must be between 1 and 50, got 500",
    ),
    "unknown policy": (
        BASE.replace('["ts"]', '["ts",\n  "anchor_ts"]'),
        "my.toml, line 3: policies = 'anchor_ts': ",
        "unknown policy 'anchor_ts'; did you mean 'anchor-ts'?",
    ),
    "unknown parameter": (
        BASE.replace('"ts"', '{ policy = "ucb", radius = "wide" }'),
        "my.toml, line 2: policies = {'policy': 'ucb', 'radius': 'wide'}: ",
        "",
    ),
    "policy for other rewards": (
        BASE.replace('"ts"', '{ policy = "beta-ts", label = "coins" }'),
        "my.toml, line 2: policies = 'coins': policy 'beta-ts' is for rewards from 0 to 1, and ",
        "gaussian rewards go from -inf to inf: give rewards in that range, or use a policy for "
        "all rewards, such as 'ts'",
    ),
    "two of a label": (
        BASE.replace('"ts"', '"ts", "ts"'),
        "my.toml, line 2: policies = 'ts': ",
        "labels must be text and differ",
    ),
    "no policies": (
        BASE.replace('"ts"', ""),
        "my.toml, line 2: policies = []: ",
        "give a list of policies",
    ),
    "coverage that does not sum": (
        sweep("fixed.arms = 2\nvary.coverage = [[0.5, 0.5], [0.5, 0.2]]"),
        "my.toml, line 7: coverage = [0.5, 0.2]: ",
        "coverage sums to 0.7: the shares of the arms must sum to 1",
    ),
    "a relative bound without logs": (
        sweep("fixed.offline = 0\nfixed.relative_bound = 0.1"),
        "my.toml, line 7: relative_bound = 0.1: ",
        "give the logs, or leave it out",
    ),
    "a relative bound below zero": (
        sweep("fixed.relative_bound = -0.1"),
        "my.toml, line 6: relative_bound = -0.1: ",
        "must be at least 0, got -0.1",
    ),
    "a move without end": (
        sweep("fixed.common_shift = inf"),
        "my.toml, line 6: common_shift = inf: ",
        "it must be finite",
    ),
    "unknown coverage": (
        sweep('fixed.coverage = "some"'),
        "my.toml, line 6: coverage = 'some': ",
        "known: uniform, optimal, suboptimal",
    ),
    "a setting of the wrong type": (
        sweep('fixed.arms = 3\n[[sweep]]\nfixed.arms = "two"'),
        "my.toml, line 8: arms = 'two': ",
        "this setting takes no str",
    ),
    "no truth values": (
        sweep("fixed.arms = true"),
        "my.toml, line 6: arms = True: ",
        "this setting takes no bool",
    ),
    "a part of an arm": (
        sweep("fixed.arms = 2.5"),
        "my.toml, line 6: arms = 2.5: ",
        "arms must be a whole number, got 2.5",
    ),
    "endless": (sweep("fixed.gap = inf"), "my.toml, line 6: gap = inf: ", "it must be finite"),
    "unknown setting": (
        sweep("vary.gapp = [1]"),
        "my.toml, line 6: gapp = [1]: ",
        "unknown setting 'gapp'; did you mean 'gap'?",
    ),
    "unknown key of a sweep": (
        sweep("varry.gap = [1]"),
        "my.toml, line 6: varry = {'gap': [1]}: ",
        "did you mean 'vary'?",
    ),
    "a value where a list belongs": (
        sweep("vary.gap = 0.3"),
        "my.toml, line 6: gap = 0.3: ",
        "under vary, give a list of values",
    ),
    "one sweep": (
        f"{BASE}[sweep]\n",
        "my.toml, line 5: sweep = {}: ",
        "write it as [[sweep]]",
    ),
    "twice the same cell": (
        sweep("vary.gap = [0.1, 0.1]"),
        "my.toml, line 5: sweep = 'my/gap=0.1': ",
        "two cells have this id: vary something else",
    ),
    "unknown figure": (
        f'{BASE}figure = "pie"\n',
        "my.toml, line 5: figure = 'pie': ",
        "known: curves, versus, quantiles, tradeoff",
    ),
    "unknown engine": (
        f'{BASE}engine = "event"\n',
        "my.toml, line 5: engine = 'event': ",
        "unknown engine 'event'; did you mean 'events'?",
    ),
    "no TOML": ("title =", "my.toml: ", "(at end of document)"),
}


@pytest.mark.parametrize("case", BAD)
def test_an_error_names_file_line_key_and_value(case: str) -> None:
    text, start, end = BAD[case]
    with pytest.raises(InvalidInput) as caught:
        spec.parse(text, "my.toml")
    assert str(caught.value).startswith(start)
    assert str(caught.value).endswith(end)
