from __future__ import annotations

import base64
import csv
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from html_page import Page

from driftanchor.experiments import manifest, reproduce
from driftanchor.experiments.job import Job
from driftanchor.experiments.reproduction import Reproduction, strict
from driftanchor.experiments.selection import Selection
from driftanchor.render import document
from driftanchor.render.markdown import escape

Kept = tuple[Reproduction, Path]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """The small experiment, run and written."""
    out = tmp_path_factory.mktemp("kept") / "out"
    file = Path(__file__).parent / "small.toml"
    found = reproduce.run(Selection(names=[str(file)]), out)
    reproduce.write(found, out)
    return found, out


@pytest.fixture(scope="module")
def page(kept: Kept) -> str:
    return (kept[1] / "report.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))


def test_everything_is_left_in_the_folder(kept: Kept) -> None:
    _, out = kept
    assert {path.name for path in out.iterdir()} == {
        "report.html",
        "report.md",
        "claims.json",
        "manifest.json",
        "figures",
        "tables",
        "results",
        "cells",
    }
    images = {"small.png", "small.svg", "small.pdf"}
    assert {path.name for path in (out / "figures").iterdir()} == {*images, "column"}
    assert {path.name for path in (out / "figures" / "column").iterdir()} == images
    assert {path.name for path in (out / "results").iterdir()} == {"small.csv", "summary.csv"}


def test_the_same_numbers_give_the_same_bytes(kept: Kept, tmp_path: Path) -> None:
    found, out = kept
    reproduce.write(found, tmp_path)
    names = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert len([name for name in names if name.startswith("figures")]) == 2 * 3
    for name in names:
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes(), name


def test_rows_are_tidy(kept: Kept) -> None:
    found, out = kept
    told = rows(out / "results" / "small.csv")
    assert list(told[0]) == [
        "experiment",
        "cell",
        "gap",
        "coverage",
        "policy",
        "run",
        "checkpoint",
        "regret",
    ]
    assert len(told) == 4 * 2 * (2 * 3 + 3)  # two runs with three checkpoints, three with the end
    some = [
        row
        for row in told
        if (row["gap"], row["coverage"], row["policy"]) == ("0.3", "optimal", "ts")
    ]
    places = [(int(row["run"]), int(row["checkpoint"])) for row in some]
    assert places == [
        (0, 20),
        (0, 40),
        (0, 60),
        (1, 20),
        (1, 40),
        (1, 60),
        (2, 60),
        (3, 60),
        (4, 60),
    ]
    outcome = found.outcomes["small/gap=0.3/coverage=optimal", "ts"]
    ends = [float(row["regret"]) for row in some if row["checkpoint"] == "60"]
    assert np.allclose(ends, outcome.final, rtol=0, atol=1e-9)


def test_the_summary_has_every_cell_and_policy(kept: Kept) -> None:
    found, out = kept
    told = rows(out / "results" / "summary.csv")
    assert [(row["cell"], row["policy"]) for row in told] == list(found.outcomes)
    final = found.outcomes[told[0]["cell"], told[0]["policy"]].final
    assert float(told[0]["mean"]) == pytest.approx(final.mean())
    assert float(told[0]["max"]) == pytest.approx(final.max())
    assert float(told[0]["se"]) == pytest.approx(final.std(ddof=1) / np.sqrt(5))


def test_the_manifest_has_versions_settings_keys_and_hashes(kept: Kept) -> None:
    found, out = kept
    text = (out / "manifest.json").read_text(encoding="utf-8")
    told: dict[str, Any] = json.loads(text)
    assert told["kind"] == "driftanchor/manifest"
    assert {"driftanchor", "python", "numpy", "numba"} <= set(told["versions"])
    assert told["seed"] == 0
    experiment = found.experiments[0]
    cell = experiment.cells[0]
    about = told["experiments"]["small"]["cells"][cell.id]
    assert about["setting"]["offline"] == 30
    assert about["policies"]["careful | <b>"]["parameters"]["posterior_scale"] == 2.0
    key = about["policies"]["ts"]["key"]
    assert key == Job(experiment, cell, "ts", 0, 0, 5).key()
    assert (out / "cells" / f"{key}.npz").is_file()
    files = [p for p in out.rglob("*") if p.is_file() and "cells" not in p.parts]
    assert set(told["sha256"]) == {
        p.relative_to(out).as_posix() for p in files if p.name != "manifest.json"
    }
    for name, digest in told["sha256"].items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest


def test_nothing_tells_of_the_machine(kept: Kept) -> None:
    _, out = kept
    for name in ("report.html", "report.md", "manifest.json", "claims.json"):
        text = (out / name).read_text(encoding="utf-8")
        assert str(out) not in text
        assert str(Path.home()) not in text or str(Path.home()) == "/"
        assert str(Path(__file__).parents[2]) not in text


def test_the_commit_is_of_this_package_or_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    found = manifest.commit()
    assert found is None or re.fullmatch(r"[0-9a-f]{40}\+?", found)
    monkeypatch.setattr(manifest, "_git", lambda folder, *words: "/another/project")
    assert manifest.commit() is None
    monkeypatch.setattr(manifest, "_git", lambda folder, *words: None)
    assert manifest.commit() is None


def test_the_page_asks_for_nothing_else(page: str) -> None:
    assert "http:" not in page
    assert "https:" not in page
    assert "//" not in re.sub(r'src="data:[^"]*"', "", page)
    parsed = Page(page)
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in parsed.tags}
    assert all((image["src"] or "").startswith("data:") for image in parsed.all("img"))
    assert all((link["href"] or "").startswith("#") for link in parsed.all("a"))
    assert {
        "http-equiv": "Content-Security-Policy",
        "content": document.CONTENT_SECURITY,
    } in parsed.all("meta")


def test_the_page_escapes_what_people_write(page: str) -> None:
    assert "<script>" not in page
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; co" in page
    assert "careful | &lt;b&gt;" in page


def test_the_page_can_be_read_without_seeing(page: str) -> None:
    parsed = Page(page)
    assert parsed.all("html") == [{"lang": "en"}]
    assert all(image["alt"] for image in parsed.all("img"))
    assert all(heading.get("scope") in ("col", "row") for heading in parsed.all("th"))
    ids = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {(link["href"] or "")[1:] for link in parsed.all("a")} <= set(ids)


def test_the_page_shows_the_figure_itself(page: str, kept: Kept) -> None:
    (image,), (source,) = Page(page).all("img"), Page(page).all("source")
    for data, file in ((image["src"], "small.svg"), (source["srcset"], "column/small.svg")):
        embedded = (data or "").removeprefix("data:image/svg+xml;base64,")
        assert base64.b64decode(embedded) == (kept[1] / "figures" / file).read_bytes()
    assert source["media"] == "(max-width: 40rem)"  # a phone gets the figure of a column


def test_the_reports_open_with_the_counts_and_the_figures(page: str, kept: Kept) -> None:
    markdown = (kept[1] / "report.md").read_text(encoding="utf-8")
    for text, signs in (
        (page, ("no claim judged", "<nav ", "<img ", 'id="claims"', 'id="numbers-small"')),
        (markdown, ("no claim judged", "![", "## Claims", "## Numbers")),
    ):
        places = [text.index(sign) for sign in signs]
        assert places == sorted(places)
    assert markdown.count("(figures/small.png)") == 1


def test_both_reports_have_the_numbers_the_settings_and_the_versions(page: str, kept: Kept) -> None:
    found, out = kept
    experiment = found.experiments[0]
    numbers = found.statistics(experiment.cells[0])["ts"]
    told = escape(f"{numbers['mean']:.2f}"[:3])
    markdown = (out / "report.md").read_text(encoding="utf-8")
    assert "(figures/small.png)" in markdown
    for text in (Page(page).words, markdown):
        assert told in text
        assert "5 runs × 60 rounds" in text
        assert np.__version__ in text
        assert "gap 0.3, 80 % of logs on the best arm" in text
        assert "small/gap=0.3/coverage=uniform" in text  # how ids look, for machines
        assert "logs on all arms alike" in text or "30 logs" in text


def test_markdown_escapes_what_people_write(kept: Kept) -> None:
    text = (kept[1] / "report.md").read_text(encoding="utf-8")
    assert "<script>" not in text.replace(r"\<script", "")
    assert r"careful \| \<b\>" in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) in (4, 8, 9), line


def test_strict_json_has_neither_nan_nor_infinity() -> None:
    value = {"a": [float("nan"), float("inf"), (1, 2.5)], "b": None, "c": True}
    assert json.dumps(strict(value), allow_nan=False) == (
        '{"a": [null, "inf", [1, 2.5]], "b": null, "c": true}'
    )
