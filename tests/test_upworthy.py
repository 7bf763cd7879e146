"""The benchmark on retests, on a small made archive: which pairs, which V, which numbers."""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb
import numpy as np
import pytest

from benchmarks import upworthy, upworthy_moves, upworthy_play, upworthy_tables
from benchmarks.retests import Pair, Retests

NAMES = ("data", "own", "policies", "logs", "order", "times-v", "times-w")
COLUMNS = "test_week, clickability_test_id, headline, eyecatcher_id, impressions, clicks"


def archive(path: Path, *, later: int = 60) -> Path:
    """Two pairs of tests that share two packages, and packages tested alone and once again."""
    rows = [
        (201402, "a1", "x", "1", 3_000, 45),
        (201402, "a1", "y", "1", 3_000, 60),
        (201402, "a1", "z", "1", 3_000, 50),
        (201403, "a2", "x", "1", 2_000, 40),
        (201403, "a2", "y", "1", 1_000, 10),
        (201403, "a2", "y", "1", 1_000, 20),  # the same package twice in one test
        (201403, "a2", "y", "2", 2_000, 30),  # the same headline with another image
        (201401, "b2", "p", None, 3_000, 30),
        (201401, "b2", "q", None, 3_000, 20),
        (201401, "b1", "p", None, 4_000, later),
        (201401, "b1", "q", None, 4_000, 45),
    ]
    rows += [
        (201410 + i, f"c{i}", f"solo {i % 6}", "1", 3_000, 40 + 7 * (i % 5)) for i in range(12)
    ]
    values = ", ".join(str(row).replace("None", "NULL") for row in rows)
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT * FROM (VALUES {values}) t({COLUMNS})) TO '{path}'")
    return path


@pytest.fixture
def data(tmp_path: Path) -> Retests:
    return Retests(archive(tmp_path / "archive.parquet"))


def test_pairs_share_two_packages_and_the_earlier_test_comes_first(data: Retests) -> None:
    first, second = data.pairs()
    assert (first.tests, second.tests) == (("a1", "a2"), ("b1", "b2"))  # in one week by their ids
    assert sorted(first.later.values()) == [(2_000, 30), (2_000, 40)]
    assert first.impressions == 4_000
    assert sorted(first.offline.mean.tolist()) == [0.015, 0.02]
    assert len(data.pairs(1)) == 2 + 6


def test_v_does_not_know_the_pair_it_is_for(data: Retests, tmp_path: Path) -> None:
    _, second = data.pairs()
    other = Retests(archive(tmp_path / "other.parquet", later=400))
    assert other.pairs()[1].earlier != second.earlier
    assert other.bias_bound(other.pairs()[1]) == data.bias_bound(second) > 0
    assert other.bias_bound(other.pairs()[0]) > 2 * data.bias_bound(data.pairs()[0])
    assert data.history().n.shape == (2 + 2 + 6, 2)
    assert data.history(second.tests).n.shape == (2 + 6, 2)


def test_w_is_of_contrasts_within_the_other_pairs(data: Retests, tmp_path: Path) -> None:
    first, second = data.pairs()
    both, one = data.contrasts(), data.contrasts(second.tests)
    assert (both.mean.shape, both.components, both.df) == ((4, 4), 2, 2)
    assert (one.mean.shape, one.df, one.common_df) == ((2, 2), 1, 1)
    other = Retests(archive(tmp_path / "other.parquet", later=400))
    assert other.relative_bound(other.pairs()[1]) == data.relative_bound(second) > 0
    assert other.relative_bound(other.pairs()[0]) > 2 * data.relative_bound(first)
    for pair in (first, second):  # one contrast in each: of differences, with twice the variances
        table = data.contrasts(*(x.tests for x in (first, second) if x is not pair))
        moves = pair.online - pair.offline.mean
        assert table.own_q(0.0) == pytest.approx(np.diff(moves)[0] ** 2 / table.noise.sum())


def test_every_block_of_the_page_is_measured(data: Retests) -> None:
    asked = argparse.Namespace(runs=2, seed=1, most=20, engine="interpreted")
    blocks = upworthy.measure(data, asked)
    assert set(blocks) == {f"upworthy-{x}" for x in NAMES}
    rows = {row["label"]: row["cells"] for row in blocks["upworthy-policies"]["rows"]}
    assert list(rows) == [*upworthy_play.ENTRIES, "an arm at random", "always the log's best"]
    assert rows["an arm at random"][1] == "50.0"
    assert "2 pairs of tests share two packages or more" in blocks["upworthy-data"]["text"]
    for letter in "VW":  # once times the bound is the bound itself
        label = f"anchor-ts, {letter}"
        at_once = blocks[f"upworthy-times-{letter.lower()}"]["curves"][letter][label]
        assert at_once == blocks["upworthy-policies"]["measured"][label]["share_apart"]


def test_own_moves_are_those_seen_without_noise_and_none_where_all_is_noise() -> None:
    rng = np.random.default_rng(3)
    counts = ([10, 20, 30], [30, 30, 80])
    for times, tau in ((10**9, 0.01), (1, 1e-6)):
        earlier, later = (
            {f"{i}": (1_000 * times, x * times) for i, x in enumerate(clicks)} for clicks in counts
        )
        draws = upworthy_moves.own_moves(Pair(("a", "b"), earlier, later), tau, rng)
        apart = draws - draws.mean(axis=1, keepdims=True)
        seen = np.array([-0.02, -0.05, 0.07]) / 3 if times > 1 else np.zeros(3)
        # What is left of noise and of own moves has a standard deviation near 1e-5 at most.
        assert np.abs(apart - seen).max() < 1e-4


def test_w_is_covered_when_arms_move_together(data: Retests) -> None:
    asked = argparse.Namespace(seed=1)
    pairs = data.pairs()
    for bound, covered in ((1.0, 2), (0.0, 0)):
        text = upworthy_moves.of_own_moves(data, pairs, np.full(2, bound), asked)["upworthy-own"][
            "text"
        ]
        assert f"common move in {covered} of 2 pairs" in text
        assert f"W covers {covered}.0 of 2 pairs" in text


def test_intervals_are_those_of_the_mean_over_pairs() -> None:
    values = np.random.default_rng(2).normal(3.0, 1.0, 400)
    middle, low, high = upworthy_tables.resampled(values, seed=0)
    assert middle == values.mean()
    # The interval is near mean ± 1.96 · 0.05, the ends are of 10,000 resamples.
    assert (low, high) == pytest.approx((middle - 0.098, middle + 0.098), abs=0.01)
