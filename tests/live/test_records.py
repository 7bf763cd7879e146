"""A saved learner goes on as it was, and a damaged file is refused."""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pupils import (
    OFFLINE,
    learner,
    moved_learner,
    neglected,
    play,
    play_moved,
    without_digests,
)

from driftanchor import (
    POLICIES,
    TS,
    AnchorTS,
    ArmEvidence,
    ArtificialReplay,
    Draws,
    DriftanchorError,
    GuardedAnchorTS,
    InvalidInput,
    Learner,
    OfflineData,
    Policy,
    Round,
    UnreadableState,
)
from driftanchor.core import record
from driftanchor.core.posterior import Posterior
from driftanchor.core.provenance import Provenance, Source
from driftanchor.live.records import GAINED


def waiting(learner: Learner) -> dict[str, int]:
    return dict(zip(learner.arms, learner.pending.tolist(), strict=True))


@pytest.mark.parametrize("name", POLICIES)
def test_a_saved_learner_goes_on_exactly_where_it_was(name: str, tmp_path: Path) -> None:
    pupil = learner(POLICIES[name]())
    play(pupil, 50)
    pupil.add_arm("D", (10, 0.4), bias_bound=math.inf)
    pupil.retire_arm("C")
    pupil.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")
    assert loaded.to_json() == pupil.to_json()
    assert play(loaded, 50) == play(pupil, 50)
    assert loaded.to_json() == pupil.to_json()


@pytest.mark.parametrize("policy", [name for name in POLICIES if POLICIES[name]().accepts((0, 3))])
def test_a_relative_bound_is_saved(policy: str, tmp_path: Path) -> None:
    pupil = moved_learner(policy)
    play_moved(pupil, 10)
    pupil.save(tmp_path / "l.json")
    again = Learner.load(tmp_path / "l.json")
    assert again.relative_bounds.tolist() == pupil.relative_bounds.tolist()
    assert play_moved(again, 10) == play_moved(pupil, 10)


def test_what_waits_is_saved(tmp_path: Path) -> None:
    learner = neglected(4_000)
    for _ in range(3):
        learner.pull()
    learner.add_arm("D")
    learner.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")
    assert waiting(loaded) == waiting(learner)
    assert sum(waiting(loaded).values()) == 3
    assert [loaded.pull() for _ in range(10)] == [learner.pull() for _ in range(10)]


@dataclass(frozen=True, kw_only=True)
class Greedy(Policy):
    """A policy of one's own."""

    name = "greedy"
    formula = "S/T"
    source = "this test"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return arm.total / arm.pulls if arm.pulls else math.inf


def test_a_learner_with_a_policy_of_ones_own_is_loaded_with_it(tmp_path: Path) -> None:
    pupil = Learner(Greedy(), arms=["A", "B"], seed=2)
    play(pupil, 10)
    pupil.save(tmp_path / "greedy.json")
    with pytest.raises(UnreadableState, match=r"'greedy' of your own: give it to load"):
        Learner.load(tmp_path / "greedy.json")
    with pytest.raises(UnreadableState, match="saved with 'greedy'"):
        Learner.load(tmp_path / "greedy.json", policy=TS())
    assert play(Learner.load(tmp_path / "greedy.json", policy=Greedy()), 5) == play(pupil, 5)


@dataclass(frozen=True, kw_only=True)
class Eager(TS):
    """A rule of one's own under the name of its parent."""

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        return belief.mean + 9.0 * belief.sd


def test_a_subclass_under_its_parents_name_is_not_swapped_for_it(tmp_path: Path) -> None:
    Learner(Eager(), arms=["A", "B"], seed=2).save(tmp_path / "eager.json")
    with pytest.raises(UnreadableState, match="give it to load"):
        Learner.load(tmp_path / "eager.json")
    with pytest.raises(UnreadableState, match="'noise': 7"):
        Learner.load(tmp_path / "eager.json", policy=Eager(noise=7))
    assert isinstance(Learner.load(tmp_path / "eager.json", policy=Eager()).policy, Eager)


@pytest.mark.parametrize("name", POLICIES)
def test_a_record_that_lacks_a_parameter_of_its_policy_is_refused(name: str) -> None:
    """A default in its place would be another policy."""
    for parameter in POLICIES[name]().parameters().keys() - GAINED.get(name, {}):
        record = without_digests(learner(POLICIES[name]()).to_json())
        del record["policy"]["parameters"][parameter]
        with pytest.raises(UnreadableState, match=f"lacks '{parameter}' of policy '{name}'"):
            Learner.from_json(record)


@dataclass(frozen=True, kw_only=True)
class Levelled(Greedy):
    """A policy with a parameter that JSON turns into something else, or cannot hold."""

    name = "levelled"
    levels: Any = (1, 2.0)


def test_parameters_of_ones_own_come_back_or_are_refused(tmp_path: Path) -> None:
    read: Any = Learner.from_json
    record = json.loads(json.dumps(Learner(Levelled(), arms=["A"], seed=1).to_json()))
    assert Learner.from_json(record, policy=Levelled()).policy == Levelled()
    with pytest.raises(UnreadableState, match="but the learner was saved with 'levelled'"):
        Learner.from_json(record, policy=Levelled(levels=(1, 3)))
    for levels in (np.int64(3), math.nan):
        with pytest.raises(InvalidInput, match="'levelled' has parameters that JSON cannot hold"):
            Learner(Levelled(levels=levels), arms=["A"]).save(tmp_path / "l.json")
    with pytest.raises(InvalidInput, match="policy must be a Policy such as"):
        read(record, policy="ts")


def test_a_loaded_learner_keeps_the_default_it_was_made_with() -> None:
    logs = OfflineData.from_summary({"A": (200, 50.0, 90.0), "B": (100, 56.0, 120.0)})
    pupil = Learner(offline=logs, bias_bound=5.0, bias_bound_source="guessed")
    loaded = Learner.from_json(pupil.to_json())
    assert loaded.policy == pupil.policy
    assert loaded.reasons == pupil.reasons
    assert "the bounds are guessed" in loaded.reasons[3]


def test_a_record_from_before_has_no_relative_bounds() -> None:
    record = without_digests(moved_learner(bias_bound=0.1).to_json())
    assert record["version"] == 1
    del record["relative_bounds"]
    assert Learner.from_json(record).relative_bounds.tolist() == [math.inf] * 3


@pytest.mark.parametrize("rest", [{}, {"relative_bounds": None}])
def test_a_record_that_lost_its_relative_bounds_is_refused(rest: dict[str, Any]) -> None:
    record = moved_learner().to_json()
    del record["relative_bounds"]
    with pytest.raises(UnreadableState, match="lacks 'relative_bounds': the file is damaged"):
        Learner.from_json(record | rest)


def test_a_record_that_others_would_misread_says_so() -> None:
    record = moved_learner().to_json()
    assert record["version"] == 2
    assert json.loads(json.dumps(record, allow_nan=False))["relative_bounds"] == [0.05] * 3
    with pytest.raises(UnreadableState, match="relative_bound of arm 'B' must be at least 0"):
        Learner.from_json(record | {"relative_bounds": [0.1, -1, 0.1]})


def test_a_file_with_too_few_relative_bounds_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "l.json"
    file.write_text(json.dumps(moved_learner().to_json() | {"relative_bounds": [0.1]}))
    with pytest.raises(UnreadableState, match="relative_bound has 1 values for 3 arms"):
        Learner.load(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 3}, "reads up to 2: upgrade driftanchor"),
        ({"version": "x"}, "no usable version, got 'x'"),
        ({"kind": "driftanchor/tally"}, "its kind is 'driftanchor/tally'"),
        ({"policy": {"name": "anchor_ts", "parameters": {}}}, "give it to load"),
        ({"policy": 3}, "no usable policy"),
        ({"decisions": -1}, "decisions must be at least 0, got -1"),
        ({"playable": [True]}, "true or false for each of 3 arms, got .True."),
        ({"playable": [1, 1, 1]}, "true or false for each of 3 arms, got .1, 1, 1."),
        ({"seed": 2}, "not what its digest says"),
        ({"memory": [[]]}, "memory has 1 rows for 3 arms"),
        ({"pending": [1]}, "pending has 1 values for 3 arms"),
        ({"pending": [0, 0, -1]}, "pending of arm 'C' must be at least 0, got -1"),
        ({"bias_bounds": [0, 0, -1]}, "bias_bound of arm 'C' must be at least 0, got -1"),
        ({"seed": None}, "seed must be a whole number, got None"),
        ({"tally": {}}, "not a driftanchor tally record"),
    ],
)
def test_a_damaged_file_is_refused(change: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    path.write_text(json.dumps(learner().to_json() | change))
    with pytest.raises(UnreadableState, match=message):
        Learner.load(path)


RECORDS = Path(__file__).parent / "records"
NEXT = {  # the pulls that follow; those of the driftanchor which wrote the record, if not said
    "version-1": "AADDBBDDADDD",
    "version-1-first": "AADDBBDDADDD",  # before there were relative bounds
    "version-1-memory": "BAABBAABAAAB",
    "version-2": "DDDDDDDABBDB",  # as of the guard that gives every arm a little hope
}


@pytest.mark.parametrize("name", NEXT)
def test_records_of_earlier_versions_go_on_as_they_would_have(name: str) -> None:
    pupil = Learner.load(RECORDS / f"{name}.json")
    assert pupil.reasons == ()  # they were not written then
    assert pupil.playable == ("A", "B", "D")
    assert pupil.decisions == 49
    assert np.isfinite(pupil.relative_bounds).any() == (name == "version-2")
    pulled = []
    for t in range(12):
        pulled.append(pupil.pull())
        if t % 4:
            reward = {"A": 0.4, "B": 0.5, "D": 0.45}[pulled[-1]] + 0.1 * (t % 3)
            pupil.update(pulled[-1], reward)
    assert "".join(pulled) == NEXT[name]


@pytest.mark.parametrize("name", ["version-1", "version-1-memory", "version-2"])
def test_a_record_of_an_earlier_version_is_written_again_as_it_was(name: str) -> None:
    old = json.loads((RECORDS / f"{name}.json").read_text())
    again = without_digests(Learner.from_json(old).to_json())
    gained = GAINED.get(old["policy"]["name"], {})
    assert {again["policy"]["parameters"].pop(name) for name in gained} == set(gained.values())
    assert again == old | {"reasons": []}


@pytest.mark.parametrize("policy", [None, ArtificialReplay(base="ts"), GuardedAnchorTS()])
def test_what_is_loaded_equals_what_was_saved(policy: Policy | None, tmp_path: Path) -> None:
    pupil = Learner(policy, offline=OFFLINE, bias_bound=0.05, reward_range=(0, 2), seed=3)
    play(pupil, 20)
    pupil.add_arm("D", (10, 0.4), bias_bound=math.inf)
    pupil.pull()
    pupil.retire_arm("C")
    pupil.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")
    assert (loaded.terms, loaded.state) == (pupil.terms, pupil.state)
    assert bool(loaded.reasons) is (policy is None)


def test_loading_warns_of_nothing(tmp_path: Path) -> None:
    far = OfflineData.from_summary({"A": (200, 50.0, 90.0), "B": (100, 56.0, 120.0)})
    with pytest.warns(UserWarning, match="rewards are in other units than AnchorTS expects"):
        pupil = Learner(AnchorTS(), offline=far, bias_bound=5.0, seed=1)
    pupil.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")  # warnings are errors in tests
    assert (loaded.terms, loaded.state) == (pupil.terms, pupil.state)


def test_reasons_that_are_no_texts_are_refused() -> None:
    for reasons in ([1], "text", None):
        with pytest.raises(DriftanchorError, match="reasons must be"):
            Learner.from_json(learner().to_json() | {"reasons": reasons})


def test_a_truncated_or_missing_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    with pytest.raises(InvalidInput, match="cannot read"):
        Learner.load(path)
    path.write_text(json.dumps(learner().to_json())[:100])
    with pytest.raises(UnreadableState, match="not valid JSON"):
        Learner.load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="cannot read"):
        Learner.load(path)


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    learner().save(path)
    old = path.read_bytes()
    for place in (tmp_path / "missing" / "learner.json", tmp_path, "\0"):
        with pytest.raises(InvalidInput, match="cannot write"):
            learner().save(place)
    assert path.read_bytes() == old
    assert [file.name for file in tmp_path.iterdir()] == ["learner.json"]


def test_a_learner_saves_again_where_it_saved_or_was_loaded(tmp_path: Path) -> None:
    path, link = tmp_path / "learner.json", tmp_path / "link.json"
    link.symlink_to(path)
    pupil = learner()
    for place in (path, link, tmp_path / "backup.json", path):
        play(pupil, 2)
        pupil.save(place)
    loaded = Learner.load(link)
    for twin in (loaded, copy.deepcopy(loaded), pickle.loads(pickle.dumps(loaded))):
        Learner.load(path).save(path)  # the same again: nothing is lost
        twin.save(path)
    play(loaded, 1)
    loaded.save(path)
    assert Learner.load(path).decisions == 9
    path.unlink()
    loaded.save(path)


def test_what_another_process_saved_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    learner().save(path)
    mine, theirs = Learner.load(path), Learner.load(path)
    play(theirs, 3)
    theirs.save(path)
    play(mine, 1)
    kept = path.read_bytes()
    with pytest.raises(
        InvalidInput,
        match=r"path '.*learner\.json' has changed since this learner was loaded.*one process",
    ):
        mine.save(path)
    assert path.read_bytes() == kept
    mine.save(path, overwrite=True)
    assert Learner.load(path).decisions == 1
    play(mine, 1)
    mine.save(path)  # from now on it is this learner's


def test_a_new_learner_does_not_write_over_a_file_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    pupil = learner()
    play(pupil, 5)
    pupil.save(path)
    for stranger in (learner(), Learner.from_json(learner(seed=2).to_json())):
        with pytest.raises(InvalidInput, match="is there already, and this learner was not loaded"):
            stranger.save(path)
    assert Learner.load(path).decisions == 5
    learner().save(path, overwrite=True)
    assert Learner.load(path).decisions == 0


def test_two_updates_that_are_alike_are_two(tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    learner().save(path)
    mine, theirs = Learner.load(path), Learner.load(path)
    for pupil in (mine, theirs):
        pupil.update(pupil.pull(), 0.5)
    theirs.save(path)
    assert mine.to_json() == theirs.to_json()
    with pytest.raises(InvalidInput, match="has changed since this learner was loaded"):
        mine.save(path)
    assert Learner.load(path).decisions == 1


LOOP = """
import sys
from driftanchor import InvalidInput, Learner
for _ in range(25):
    while True:
        pupil = Learner.load("learner.json")
        pupil.update(pupil.pull(), 0.5)
        try:
            pupil.save("learner.json")
            break
        except InvalidInput as error:
            assert "has changed since" in str(error), error
"""


def test_two_processes_lose_nothing_where_each_tries_again(tmp_path: Path) -> None:
    learner().save(tmp_path / "learner.json")
    both = [subprocess.Popen([sys.executable, "-c", LOOP], cwd=tmp_path) for _ in range(2)]
    assert [process.wait(120) for process in both] == [0, 0]
    kept = Learner.load(tmp_path / "learner.json")
    assert kept.decisions == kept.tally.pulls.sum() == 50


@pytest.mark.parametrize("value", ["no", 1, None])
def test_a_file_is_only_written_over_when_that_is_said(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "a.json"
    path.write_text("mine")
    with pytest.raises(InvalidInput, match="overwrite must be True or False, got "):
        learner().save(path, overwrite=value)
    assert path.read_text() == "mine"


class Unprintable:
    """A value whose text cannot be had."""

    def __repr__(self) -> str:
        raise ValueError("no text")


def test_what_is_no_path_is_refused_even_if_it_cannot_be_shown() -> None:
    strange: Any = Unprintable()
    with pytest.raises(InvalidInput, match="cannot write a Unprintable without a text"):
        learner().save(strange)
    with pytest.raises(InvalidInput, match="cannot read a Unprintable without a text"):
        Learner.load(strange)


def test_links_in_a_ring_are_no_file(tmp_path: Path) -> None:
    ring = tmp_path / "ring.json"
    ring.symlink_to(ring)
    with pytest.raises(InvalidInput, match="cannot read"):
        Learner.load(ring)
    with pytest.raises(InvalidInput, match="cannot write"):
        learner().save(ring)


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
