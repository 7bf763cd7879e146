"""What error messages say: the argument, the arm or policy, the value, and what to do."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftanchor import (
    TS,
    AnchorTS,
    Arms,
    Bandit,
    DriftanchorError,
    EpsilonTS,
    InvalidInput,
    MinUCB,
    OfflineData,
    Tally,
    simulate,
)
from driftanchor.core.promises import bias_bounds
from driftanchor.policies import by_name, make
from driftanchor.simulation import cover

ARMS = Arms(["A", "B"])
TALLY = Tally(ARMS, np.array([1, 2]), np.array([1.0, 2.0]))

make_arms: Any = Arms
make_tally: Any = Tally


@pytest.mark.parametrize(
    ("call", "told"),
    [
        # each message tells the argument, the arm or policy, the value and what to do
        (lambda: make_arms(["A", 7]), ("arms", "7", "use str(label)")),
        (lambda: Arms(["A", "A"]), ("arms", "'A'", "positions 1 and 2", "must differ")),
        (lambda: ARMS.column("AB"), ("arm", "'AB'", "did you mean 'B'")),
        (lambda: make_tally(ARMS, 1, [1, math.nan]), ("totals", "'B'", "nan", "drop or fill")),
        (lambda: make_tally(ARMS, [0, 1], 2.0), ("totals", "'A'", "2", "must be 0")),
        (lambda: TALLY.add(9, 1.0), ("column", "9", "between 0 and 1")),
        (lambda: TALLY.add_many([0, 1], [1.0]), ("2 columns", "1 rewards", "one for each")),
        (
            lambda: Tally.from_json(TALLY.to_json() | {"version": 9}),
            ("tally", "version 9", "up to 1", "upgrade driftanchor"),
        ),
        (
            lambda: OfflineData.from_summary({"A": (5, 1.0), "B": (7,)}),
            ("mean", "'B'", "7 rewards", "missing", "give it, or n = 0"),
        ),
        (
            lambda: OfflineData.from_summary({"A": (5, 1.0, -2)}),
            ("variance", "'A'", "at least 0", "-2"),
        ),
        (
            lambda: bias_bounds({"A": 0.1, "B": -0.2}, ARMS),
            ("bias_bound", "'B'", ">=|at least 0", "-0.2"),
        ),
        (
            lambda: bias_bounds([0.1], ARMS),
            ("bias_bound", "1 values", "2 arms", "one for each arm"),
        ),
        (lambda: bias_bounds({"b": 1}, ARMS), ("arm", "'b'", "known: A, B")),
        (
            lambda: AnchorTS(posterior_scale=0),
            ("posterior_scale", "'anchor-ts'", "greater than 0", "0"),
        ),
        (lambda: EpsilonTS(epsilon=2), ("epsilon", "'epsilon-ts'", "between 0 and 1", "2")),
        (lambda: MinUCB(radius="ucb"), ("radius", "'min-ucb'", "'ucb'", "did you mean 'ucb1'")),
        (lambda: make("anchor_ts"), ("policy", "'anchor_ts'", "did you mean 'anchor-ts'")),
        (lambda: make("ts", sigma=1), ("parameter of policy 'ts'", "'sigma'", "known: prior_mean")),
        (lambda: by_name([TS(), TS()]), ("'ts'", "twice", "use a mapping")),
        (
            lambda: Bandit([0.5], offline_pulls=3),
            ("offline_pulls", "'1'", "3", "give the offline means"),
        ),
        (
            lambda: Bandit([0.5, 1.5], reward="bernoulli"),
            ("online", "'2'", "1.5", "between 0 and 1"),
        ),
        (lambda: cover(10, 2, "best"), ("coverage", "'best'", "known: uniform")),
        (
            lambda: simulate(["ts"], Bandit([0.5]), horizon=5, checkpoints=[9]),
            ("checkpoints", "9", "between 1 and 5"),
        ),
        (
            lambda: simulate(["ts"], Bandit([0.5]), engine="interpret"),
            ("engine", "'interpret'", "did you mean 'interpreted'"),
        ),
    ],
)
def test_a_message_tells_argument_arm_value_and_remedy(
    call: Callable[[], object], told: tuple[str, ...]
) -> None:
    with pytest.raises(DriftanchorError) as caught:
        call()
    message = str(caught.value)
    for part in told:
        assert re.search(part if "|" in part else re.escape(part), message), (part, message)
    assert "\n" not in message
    assert not message.endswith(".")


def test_every_error_is_also_the_builtin_it_stands_for() -> None:
    with pytest.raises(ValueError, match="noise"):
        AnchorTS(noise=-1)
    with pytest.raises(LookupError, match="unknown policy"):
        make("x")
    with pytest.raises(ValueError, match="not a driftanchor tally"):
        Tally.from_json({})
    assert issubclass(InvalidInput, DriftanchorError)
