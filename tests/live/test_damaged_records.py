"""However a saved learner or saved logs are damaged, they are refused or read as they were."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pupils import OFFLINE, play, without_digests

from driftanchor import (
    ArtificialReplay,
    GuardedAnchorTS,
    Learner,
    OfflineData,
    Policy,
    UnreadableState,
)
from driftanchor.core import record
from driftanchor.core.provenance import Provenance, Source

HOW = Provenance(
    (Source("a.csv", "sha256:1", 9),), (("arm", "ad"),), (("since", "1"),), 9, 1, (("x", 2),), "now"
)
LOGS = OfflineData(OFFLINE.arms, OFFLINE.n, OFFLINE.mean, [0.1, None, 0.3], "a.csv", HOW)
HUGE: list[Any] = [
    10**30,
    1e300,
    math.inf,
    10**400,
]  # json writes inf as a token, which no JSON has
WRONG: list[Any] = [None, "x", "", -1, 0.5, True, [], [[]], {}, {"a": 1}, math.nan, *HUGE]


def pupil(policy: Policy) -> Learner:
    made = Learner(policy, offline=LOGS, relative_bound=0.05, reward_range=(0, 2), seed=3)
    play(made, 6)
    made.retire_arm("C")
    return made


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every value of a record stands."""
    keys = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    for key in keys:
        yield (*path, key)
        yield from paths(value[key], (*path, key))


def damaged(saved: record.Record) -> Iterator[tuple[str, str]]:
    """The text of a record with one thing changed, and what was changed."""
    for path in paths(saved):
        changed: Any = copy.deepcopy(saved)
        place = changed
        for key in path[:-1]:
            place = place[key]
        old = place[path[-1]]
        for value in [*WRONG, *([old[:-1], old + old[:1]] if isinstance(old, list) else [])]:
            place[path[-1]] = value
            yield json.dumps(changed), f"{path} = {value!r:.30}"
        if isinstance(place, dict):
            place["again"], place[path[-1]] = old, old
            key = json.dumps(path[-1])
            yield json.dumps(changed).replace('"again"', key), f"{path} twice"
            del place["again"]
        del place[path[-1]]
        yield json.dumps(changed), f"{path} dropped"


READ: dict[str, tuple[Callable[[object], Any], Any]] = {
    "guarded": (Learner.from_json, pupil(GuardedAnchorTS(noise=0.5)).to_json()),
    "memory": (Learner.from_json, pupil(ArtificialReplay(noise=0.5)).to_json()),
    "logs": (OfflineData.from_json, LOGS.to_json()),
}


@pytest.mark.parametrize("name", READ)
def test_damage_is_refused_or_changes_nothing(name: str) -> None:
    read, saved = READ[name]
    refused = 0
    for text, what in damaged(saved):
        try:
            found = read(record.parse(text))
        except UnreadableState:
            refused += 1
        else:  # such as a digest that is gone
            assert without_digests(found.to_json()) == without_digests(saved), what
    assert refused > 300


@pytest.mark.parametrize("name", READ)
def test_damage_to_a_record_without_digests_raises_nothing_else(name: str) -> None:
    read, saved = READ[name]
    refused = 0
    for text, _ in damaged(without_digests(saved)):
        try:
            assert read(record.parse(text)).to_json()
        except UnreadableState:
            refused += 1
    assert refused > 300


def test_a_damaged_file_names_itself(tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    path.write_text(json.dumps(READ["memory"][1] | {"decisions": 7}))
    with pytest.raises(UnreadableState, match=r"learner\.json': the learner record is not what"):
        Learner.load(path)
