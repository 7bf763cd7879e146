"""A learner whose logs moved together: promised, saved, explained."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from driftanchor import (
    POLICIES,
    TS,
    AnchorTS,
    HybridTS,
    InvalidInput,
    Learner,
    OfflineData,
    UnreadableState,
)

LOGS = OfflineData.from_summary({"A": (200, 0.5), "B": (200, 0.25), "C": (0,)})
UNITS: dict[str, Any] = {"prior_mean": 0.4, "noise": 0.5}


def learner(policy: str = "anchor-ts", **promises: Any) -> Learner:
    promises = promises or {"relative_bound": 0.05}
    return Learner(POLICIES[policy](**UNITS), offline=LOGS, seed=1, **promises)


def play(pupil: Learner, rounds: int) -> list[str]:
    """Rewards are those of the logs, 2 higher."""
    pulled = []
    for _ in range(rounds):
        pulled.append(pupil.pull())
        pupil.update(pulled[-1], {"A": 2.5, "B": 2.25, "C": 2.0}[pulled[-1]])
    return pulled


def test_a_relative_bound_is_enough_and_promises_no_level() -> None:
    pupil = learner()
    assert pupil.relative_bounds.tolist() == [0.05] * 3
    assert pupil.bias_bounds.tolist() == [math.inf] * 3
    assert learner(bias_bound=0.1).relative_bounds.tolist() == [math.inf] * 3
    both = learner(bias_bound=0.1, relative_bound={"A": 0.1, "B": 0.2, "C": math.inf})
    assert both.bias_bounds.tolist() == [0.1] * 3
    assert both.relative_bounds.tolist() == [0.1, 0.2, math.inf]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_saved_learner_goes_on_as_it_was(policy: str, tmp_path: Path) -> None:
    pupil = learner(policy)
    play(pupil, 10)
    pupil.save(tmp_path / "l.json")
    again = Learner.load(tmp_path / "l.json")
    assert again.relative_bounds.tolist() == pupil.relative_bounds.tolist()
    assert play(again, 10) == play(pupil, 10)


def test_a_record_from_before_has_no_relative_bounds() -> None:
    record = learner(bias_bound=0.1).to_json()
    assert record["version"] == 1
    del record["relative_bounds"]
    assert Learner.from_json(record).relative_bounds.tolist() == [math.inf] * 3


@pytest.mark.parametrize("rest", [{}, {"relative_bounds": None}])
def test_a_record_that_lost_its_relative_bounds_is_refused(rest: dict[str, Any]) -> None:
    record = learner().to_json()
    del record["relative_bounds"]
    with pytest.raises(UnreadableState, match="lacks 'relative_bounds': the file is damaged"):
        Learner.from_json(record | rest)


def test_a_record_that_others_would_misread_says_so() -> None:
    record = learner().to_json()
    assert record["version"] == 2
    assert json.loads(json.dumps(record, allow_nan=False))["relative_bounds"] == [0.05] * 3
    with pytest.raises(InvalidInput, match="relative_bound of arm 'B' must be at least 0"):
        Learner.from_json(record | {"relative_bounds": [0.1, -1, 0.1]})


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "l.json"
    file.write_text(json.dumps(learner().to_json() | {"relative_bounds": [0.1]}))
    with pytest.raises(UnreadableState, match="relative_bound has 1 values for 3 arms"):
        Learner.load(file)


def test_arms_are_added_with_either_promise() -> None:
    pupil = learner()
    pupil.add_arm("D", (50, 0.3), relative_bound=0.2)
    pupil.add_arm("E", (50, 0.3), bias_bound=0.1)
    pupil.add_arm("F")
    assert pupil.relative_bounds.tolist() == [0.05] * 3 + [0.2, math.inf, math.inf]
    assert pupil.bias_bounds.tolist() == [math.inf] * 4 + [0.1, math.inf]
    with pytest.raises(InvalidInput, match="bias_bound is missing and arm 'G' has 5"):
        pupil.add_arm("G", (5, 0.3))
    assert len(pupil.arms) == 6


def test_an_arm_whose_promises_contradict_each_other_is_not_added() -> None:
    pupil = learner(bias_bound=0.1)
    with pytest.raises(InvalidInput, match="relative_bound needs at least two arms with logs"):
        pupil.add_arm("D", (50, 0.3), relative_bound=0.2)
    pupil = learner(bias_bound=0.1, relative_bound=0.05)
    with pytest.raises(InvalidInput, match=r"of arm 'D' is 0\.5 and contradicts"):
        pupil.add_arm("D", (50, 0.3), bias_bound=0.1, relative_bound=0.5)
    assert (len(pupil.arms), pupil.tally.arms) == (3, pupil.arms)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"offline": LOGS}, "or give relative_bound, how far arms may have moved apart"),
        ({"arms": ["A", "B"], "relative_bound": 0.1}, "relative_bound is given and no arm has"),
        ({"offline": LOGS, "relative_bound": {"X": 0.1}}, "unknown arm 'X'"),
        ({"offline": LOGS, "relative_bound": -1}, "relative_bound of arm 'A' must be at least 0"),
        (
            {"offline": LOGS, "relative_bound": 0.3, "bias_bound": 0.1},
            "of arm 'A' is 0.3 and contradicts the bias bounds",
        ),
        (
            {"offline": OfflineData.from_summary({"A": (9, 0.5), "B": (0,)}), "relative_bound": 1},
            "with one logged arm a common move cannot be told from its own",
        ),
    ],
)
def test_what_cannot_be_promised_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Learner(AnchorTS(**UNITS), **options)


def test_an_explanation_says_what_the_common_move_is_believed_to_be() -> None:
    pupil = learner()
    pupil.retire_arm("C")
    pupil.pull()
    first = pupil.explain()
    assert first.to_json()["common_move"] == {"mean": 0.0, "sd": 0.5}
    play(pupil, 40)
    pupil.pull()
    believed = pupil.explain()
    assert believed.common_move is not None
    assert believed.common_move.mean == pytest.approx(2.0)
    assert believed.to_json()["common_move"] == believed.common_move._asdict()
    told = f"(standard deviation {believed.common_move.sd:.4g})"
    assert f"moved by 2 together since the logs {told}" in str(believed)
    json.dumps(believed.to_json(), allow_nan=False)


def test_nothing_is_said_of_a_move_that_decides_nothing() -> None:
    ignorant = Learner(TS(**UNITS), offline=LOGS, relative_bound=0.1, seed=1)
    for pupil in (ignorant, learner(bias_bound=0.1)):
        pupil.pull()
        assert pupil.explain().common_move is None
        assert pupil.explain().to_json()["common_move"] is None
        assert "common" not in str(pupil.explain())


@pytest.mark.parametrize("policy", ["anchor-ts", "hierarchical-ts", "sam-ts", "min-ucb"])
def test_the_explanation_is_of_the_pull_that_was_made(policy: str) -> None:
    pupil = learner(policy)
    for _ in range(30):
        (arm,) = play(pupil, 1)
        why = pupil.explain()
        assert why.arm == arm
        assert why.arms[arm].index == max(x.index for x in why.arms.values())


def test_logs_that_are_off_by_the_same_are_trusted_again() -> None:
    pupil = Learner(HybridTS(**UNITS), offline=LOGS, relative_bound=0.0, seed=3)
    pulled = play(pupil, 200)
    assert pulled[20:].count("B") == 0
    levels = Learner(HybridTS(**UNITS), offline=LOGS, bias_bound=0.0, seed=3)
    assert play(levels, 200)[20:].count("C") > 0  # the only arm whose logs do not mislead
