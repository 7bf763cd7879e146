"""OfflineData: the logs as four numbers for each arm."""

import json
import math
from typing import Any

import numpy as np
import pytest
from any_text import any_text
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import Arms, InvalidInput, OfflineData, UnreadableState

NUMBERS = st.floats(-1e9, 1e9)
ROWS = (
    st.tuples(st.just(0))
    | st.tuples(st.integers(1, 10**6), NUMBERS)
    | st.tuples(st.integers(1, 10**6), NUMBERS, st.none() | st.floats(0, 1e9))
)
SUMMARIES = st.dictionaries(st.sampled_from("ABCDEF"), ROWS, min_size=1)
LOGS = OfflineData.from_summary({"A": (200, 0.5), "B": (300, 0.4, 0.25), "C": (0,)}, source="x.csv")


def test_a_summary_gives_counts_means_variances_and_source() -> None:
    assert list(LOGS.arms) == ["A", "B", "C"]
    assert LOGS.n.tolist() == [200, 300, 0]
    np.testing.assert_array_equal(LOGS.mean, [0.5, 0.4, math.nan])
    np.testing.assert_array_equal(LOGS.variance, [math.nan, 0.25, math.nan])
    assert LOGS.source == "x.csv"


@pytest.mark.parametrize(
    "row", [(0,), (0, None), (0, math.nan), (0, 7.0), [0, None, None], (0, 1.0, 1.0)]
)
def test_an_arm_without_logs_has_no_mean_and_no_variance(row: Any) -> None:
    logs = OfflineData.from_summary({"A": row})
    assert logs == OfflineData.from_summary({"A": (0,)})
    assert math.isnan(logs.mean[0])
    assert math.isnan(logs.variance[0])


def test_whole_floats_count_as_counts() -> None:
    assert OfflineData.from_summary({"A": (2.0, 1)}) == OfflineData.from_summary({"A": (2, 1.0)})


def test_no_logs_for_any_arm() -> None:
    logs = OfflineData.empty(Arms(["A", "B"]))
    assert logs.n.tolist() == [0, 0]
    assert math.isnan(logs.pooled_mean())
    assert math.isnan(logs.pooled_noise())


def test_the_pooled_mean_weighs_arms_by_their_logs() -> None:
    assert LOGS.pooled_mean() == pytest.approx((200 * 0.5 + 300 * 0.4) / 500, rel=1e-15)


def test_the_pooled_noise_weighs_variances_by_degrees_of_freedom() -> None:
    logs = OfflineData.from_summary(
        {"A": (11, 0.0, 4.0), "B": (31, 5.0, 8.0), "C": (50, 1.0), "D": (1, 2.0, 9.0), "E": (0,)}
    )
    assert logs.pooled_noise() == pytest.approx(math.sqrt((10 * 4 + 30 * 8) / 40), rel=1e-15)
    assert math.isnan(OfflineData.from_summary({"A": (50, 1.0)}).pooled_noise())
    assert math.isnan(OfflineData.from_summary({"A": (1, 1.0, 3.0)}).pooled_noise())


@given(SUMMARIES)
def test_the_pooled_mean_lies_among_the_means(summary: dict[str, Any]) -> None:
    logs = OfflineData.from_summary(summary)
    means = logs.mean[logs.n > 0]
    if means.size:
        slack = 1e-9 * (1 + np.abs(means).max())
        assert means.min() - slack <= logs.pooled_mean() <= means.max() + slack


@given(SUMMARIES, any_text(5))
def test_json_keeps_every_bit(summary: dict[str, Any], source: str) -> None:
    logs = OfflineData.from_summary(summary, source)
    back = OfflineData.from_json(json.loads(json.dumps(logs.to_json(), allow_nan=False)))
    assert back == logs
    assert hash(back) == hash(logs)
    for name in ("n", "mean", "variance"):
        assert getattr(back, name).tobytes() == getattr(logs, name).tobytes()
    assert back.source == source


def test_equal_data_hash_alike_even_with_a_negative_zero() -> None:
    plus, minus = (OfflineData.from_summary({"A": (1, zero)}) for zero in (0.0, -0.0))
    assert plus == minus
    assert hash(plus) == hash(minus)
    assert plus != OfflineData.from_summary({"A": (2, 0.0)})


def test_nothing_in_offline_data_can_be_changed() -> None:
    counts = np.array([1, 1])
    logs: Any = OfflineData(Arms(["A", "B"]), counts, [1.0, 2.0])
    counts[0] = 9
    assert logs.n.tolist() == [1, 1]
    for name in ("n", "mean", "variance"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(logs, name)[0] = 5
    with pytest.raises(AttributeError):
        logs.source = "elsewhere"


def test_a_new_arm_comes_last_with_or_without_logs() -> None:
    assert LOGS.with_arm("D").n.tolist() == [200, 300, 0, 0]
    wider = LOGS.with_arm("D", (5, 1.5, 2.5))
    assert (wider.n[3], wider.mean[3], wider.variance[3]) == (5, 1.5, 2.5)
    assert wider.source == LOGS.source
    assert len(LOGS.arms) == 3
    with pytest.raises(InvalidInput, match="arms has the label 'A' twice"):
        LOGS.with_arm("A")


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        ({}, "arms is empty: name at least one arm"),
        ([("A", 1)], r"summary must map labels to \(n, mean\), got \[\('A', 1\)\]"),
        ({"A": 3}, "summary of arm 'A' must be a list of values, got 3"),
        ({"A": "ab"}, "summary of arm 'A' must be a list of values, got 'ab'"),
        ({"A": ()}, r"summary of arm 'A' must be \(n, mean\) or \(n, mean, variance\), got \[\]"),
        ({"A": (1, 2, 3, 4)}, r"summary of arm 'A' must be .* got \[1, 2, 3, 4\]"),
        ({"A": {1, 0.5}}, "summary of arm 'A' must be in order, got the set"),
        ({"A": (-1, 0.5)}, "n of arm 'A' must be at least 0, got -1"),
        ({"A": (1.5, 0.5)}, r"n of arm 'A' must be a whole number, got 1\.5"),
        ({"A": (None, 0.5)}, "n of arm 'A' must be a whole number, got None"),
        ({"A": (5,)}, "mean of arm 'A' is missing, with 5 rewards: give it, or n = 0"),
        (
            {"A": (5, math.nan)},
            "mean of arm 'A' is missing, with 5 rewards: give it, or n = 0",
        ),
        ({"A": (5, math.inf)}, "mean of arm 'A' must be finite, got inf"),
        ({"A": (5, "x")}, "mean of arm 'A' must be a number, got 'x'"),
        ({"A": (5, 1.0, -1)}, "variance of arm 'A' must be at least 0, got -1"),
        ({3: (5, 1.0)}, r"arms must be text, got the label 3: use str\(label\)"),
    ],
)
def test_an_impossible_summary_is_refused(summary: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        OfflineData.from_summary(summary)


def test_lists_of_the_wrong_length_and_odd_sources_are_refused() -> None:
    arms = Arms(["A", "B"])
    with pytest.raises(InvalidInput, match="mean has 1 values for 2 arms: give one for each"):
        OfflineData(arms, 1, [1.0])
    junk: Any = 3
    with pytest.raises(InvalidInput, match=r"arms must be Arms such as .* got 3"):
        OfflineData.empty(junk)
    with pytest.raises(InvalidInput, match="source must be text, got 3"):
        OfflineData(arms, 0, None, source=junk)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version 2, this driftanchor reads up to 1: upgrade driftanchor"),
        ({"version": None}, "no usable version, got None"),
        ({"kind": "driftanchor/tally"}, "its kind is 'driftanchor/tally'"),
        ({"arms": ["A", "B"]}, "record is damaged: n has 3 values for 2 arms"),
        (
            {"n": [200, 300, 1]},
            "record is damaged: mean of arm 'C' is missing, with 1 rewards",
        ),
        ({"n": "many"}, "record is damaged: n must be a list of values, got 'many'"),
        ({"mean": [1, 2]}, "record is damaged: mean has 2 values for 3 arms"),
        ({"mean": ["inf", 0, 0]}, "record is damaged: mean of arm 'A' must be a number, got 'inf'"),
        ({"variance": [0, -1, 0]}, "record is damaged: variance of arm 'B' must be at least 0"),
        ({"source": None}, "record is damaged: source must be text, got None"),
    ],
)
def test_a_damaged_or_newer_record_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(UnreadableState, match=message):
        OfflineData.from_json(LOGS.to_json() | change)


def test_counts_that_do_not_add_up_in_64_bits_are_refused() -> None:
    assert OfflineData.from_summary({"A": (2**61, 0.5), "B": (2**61, 0.4)}).n.sum() == 2**62
    with pytest.raises(InvalidInput, match=r"n of all arms together is .*, and must be at most"):
        OfflineData.from_summary({"A": (2**62, 0.5), "B": (2**62, 0.4)})


def test_the_smallest_and_the_largest_reward_are_kept() -> None:
    logs = OfflineData(
        Arms(["A", "B"]), [3, 2], [1.0, 4.0], smallest=[0.0, 3.0], largest=[2.5, 5.0]
    )
    assert logs.reward_ends() == (0.0, 5.0)
    back = OfflineData.from_json(json.loads(json.dumps(logs.to_json())))
    assert (back, back.largest.tolist()) == (logs, [2.5, 5.0])
    assert logs.over(["B", "C"]).smallest.tolist()[0] == 3.0
    wider = logs.with_arm("C", (10, 9.0))
    assert wider.reward_ends() == (0.0, 9.0)  # the mean of the new arm is all that is known
    assert "smallest" not in LOGS.to_json()  # as records were before
    assert all(map(math.isnan, LOGS.reward_ends()))
    with pytest.raises(InvalidInput, match="smallest of arm 'A' is 2 and largest is 1"):
        OfflineData(Arms(["A"]), [3], [1.0], smallest=[2.0], largest=[1.0])


@pytest.mark.parametrize(
    ("values", "binary"),
    [([0, 1, 1, 0], True), ([0, 1, 0.5, 0], False), ([0, 0, 0], False), ([0, 2, 0], False)],
)
def test_rewards_of_0_and_1_are_known_by_their_variance(values: list[float], binary: bool) -> None:
    ends: Any = {"smallest": [min(values)], "largest": [max(values)]}
    numbers = [np.mean(values)], [np.var(values, ddof=1)]
    assert OfflineData(Arms(["A"]), [len(values)], *numbers, **ends).all_binary() is binary
