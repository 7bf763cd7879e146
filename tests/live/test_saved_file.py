"""A learner's file is whole, and nothing that another process saved in it is lost."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pupils import learner, play

from driftanchor import InvalidInput, Learner, UnreadableState


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
