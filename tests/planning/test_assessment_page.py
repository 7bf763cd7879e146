"""The page: whole, self-contained, and readable where it is narrow."""

from __future__ import annotations

import dataclasses
import importlib
import io
import math
import re
from pathlib import Path
from typing import Any

import pytest
from html_page import Page
from rich.console import Console

from driftanchor import OfflineData, plan, replay
from driftanchor.core.stats.intervals import Estimate
from driftanchor.errors import InvalidInput
from driftanchor.planning.assess import Assessment
from driftanchor.planning.assessment_page import reach, render
from driftanchor.planning.tables import even_of, evens, losses
from driftanchor.render import terminal
from driftanchor.render.document import CONTENT_SECURITY
from driftanchor.render.numbers import rounded

pyarrow: Any = importlib.import_module("pyarrow")
NAMES = ["<b>A</b>", "B & C", "$x$"]


@pytest.fixture(scope="module", params=["plan", "replay"])
def found(request: pytest.FixtureRequest) -> Assessment:
    if request.param == "plan":
        summary = {label: (90, 5.0 - i, 4.0) for i, label in enumerate(NAMES)}
        return plan(OfflineData.from_summary(summary), bias_bound=0.5, horizon=60, worlds=5)
    logs = pyarrow.table(
        {
            "arm": NAMES * 20,
            "reward": [i % 7 for i in range(60)],
            "at": [1.77e9 + 86_400 * i for i in range(60)],
        }
    )
    options: Any = {"arm": "arm", "reward": "reward", "time": "at"}
    return replay(logs, split="2026-03-01", bias_bound=0.5, worlds=5, **options)


@pytest.fixture(scope="module")
def text(found: Assessment) -> str:
    """Its page."""
    return render(found)


def test_the_page_says_everything_and_asks_for_nothing(found: Assessment, text: str) -> None:
    page = Page(text)
    assert "//" not in re.sub(r'src="data:[^"]*"', "", text)
    assert not {"script", "link", "iframe", "object", "b"} & {tag for tag, _ in page.tags}
    assert any(given.get("content") == CONTENT_SECURITY for _, given in page.tags)
    pictures = page.all("img")
    assert len(pictures) == 2
    for picture in pictures:
        assert (picture["src"] or "").startswith("data:image/svg+xml;base64,")
        assert (picture["alt"] or "").startswith("Rewards lost at ")
    for sentence in (found.answer, *found.details):
        assert sentence in page.words
    for table in (losses(found), evens(found), *found.texts().tables):
        for cell in (table.title, *table.headings, *(x for row in table.rows for x in row)):
            assert cell in page.words
    for line in (*found.notes, *found.reasons, found.texts().how, reach(found)):
        assert line in page.words


def test_its_tables_fit_a_terminal_of_80_columns(found: Assessment) -> None:
    console = Console(file=io.StringIO(), width=10_000)
    for table in (losses(found), evens(found), *found.texts().tables):
        lines = terminal.lines(table, console, 80)
        assert max(map(len, lines)) <= 80
        letters = "".join("".join(lines).split())
        assert "…" not in letters


def test_the_lowest_mean_is_marked(found: Assessment) -> None:
    table, means = losses(found), [x["mean"] for x in found.summary().values()]
    ((row, column),) = table.best
    assert (row, column) == (means.index(min(means)), 1)
    assert table.rows[list(found.contenders).index(found.baseline)][-1] == "–"


@pytest.mark.parametrize(
    ("even", "says"),
    [
        (Estimate(0.0, 0.0, 0.0), "does not gain by the logs here, even if no mean has moved."),
        (Estimate(0.0, 0.0, 0.01), "does not gain by the logs here, even if no mean has moved."),
        (Estimate(1e-14, 0.0, 0.01), "does not gain by the logs here, even if no mean has moved."),
        (Estimate(math.inf, 1.0, math.inf), "gains by the logs at every shift that was tried."),
        (Estimate(0.01, 0.01, 0.01), "gains by the logs up to a shift of 0.01: from there on"),
    ],
)
def test_what_the_page_says_of_the_break_even(found: Assessment, even: Estimate, says: str) -> None:
    compared = dataclasses.replace(found.compared, break_even=even)
    told = reach(dataclasses.replace(found, compared=compared))
    assert told.startswith(f"{found.break_even_policy} {says}")


def test_no_break_even_is_told_as_none(found: Assessment) -> None:
    assert even_of(found, Estimate(0.0, 0.0, 0.0)) == ("none", "–")
    most = f"over {rounded(found.largest_shift)}"
    assert even_of(found, Estimate(math.inf, 0.01, math.inf)) == (most, f"0.01 to {most}")


def test_the_same_assessment_gives_the_same_page_and_leaves_nothing_where_it_cannot_be(
    found: Assessment, text: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="cannot write"):
        found.write_page(tmp_path / "no" / "page.html")
    assert list(tmp_path.iterdir()) == []
    found.write_page(tmp_path / "page.html")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text
