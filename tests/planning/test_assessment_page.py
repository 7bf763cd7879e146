"""The page: whole, self-contained, and readable where it is narrow."""

from __future__ import annotations

import importlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
from html_page import Page
from rich.console import Console

from driftanchor import OfflineData, plan, replay
from driftanchor.errors import InvalidInput
from driftanchor.planning.assess import Assessment
from driftanchor.planning.assessment_page import render
from driftanchor.planning.tables import losses
from driftanchor.render import terminal
from driftanchor.render.document import CONTENT_SECURITY

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
    (picture,) = page.all("img")
    assert (picture["src"] or "").startswith("data:image/svg+xml;base64,")
    assert (picture["alt"] or "").startswith("Rewards lost at shift ")
    for sentence in (found.answer, *found.details):
        assert sentence in page.words
    for table in (losses(found), *found.texts().tables):
        for cell in (table.title, *table.headings, *(x for row in table.rows for x in row)):
            assert cell in page.words
    for line in (*found.notes, *found.reasons, found.texts().how, found.limit):
        assert line in page.words


def test_its_tables_fit_a_terminal_of_80_columns(found: Assessment) -> None:
    console = Console(file=io.StringIO(), width=10_000)
    for table in (losses(found), *found.texts().tables):
        lines = terminal.lines(table, console, 80)
        assert max(map(len, lines)) <= 80
        letters = "".join("".join(lines).split())
        assert "…" not in letters


def test_the_lowest_mean_is_marked(found: Assessment) -> None:
    table, means = losses(found), [x["mean"] for x in found.summary().values()]
    ((row, column),) = table.best
    assert (row, column) == (means.index(min(means)), 1)
    assert table.rows[list(found.contenders).index(found.baseline)][-1] == "–"


def test_the_caption_has_the_number_of_runs_of_every_point(found: Assessment, text: str) -> None:
    runs = {lost.size for point in found.by_shift.lost for lost in point.values()}
    assert runs == {5}
    assert f"Means of 5 runs of {found.horizon} rounds" in Page(text).words


def test_the_same_assessment_gives_the_same_page_and_leaves_nothing_where_it_cannot_be(
    found: Assessment, text: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="cannot write"):
        found.write_page(tmp_path / "no" / "page.html")
    assert list(tmp_path.iterdir()) == []
    found.write_page(tmp_path / "page.html")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text
