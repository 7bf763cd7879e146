from __future__ import annotations

from pathlib import Path

from driftanchor.experiments import report_html, report_markdown
from driftanchor.experiments.report import Report, Section
from driftanchor.experiments.verdicts import Verdict, VerdictGroup
from driftanchor.render import document
from driftanchor.render.table import Table


def verdict(word: str) -> Verdict:
    table = Table("t", ("comparison", "verdict"), (("a < b", word),), words=True)
    return Verdict(
        id=f"id-{word}",
        says=f"a <says> that {word}",
        place="Section 5",
        verdict=word,
        comparison="Anchor-TS < TS",
        estimate="1 (0 to 2)",
        runs="4,000",
        tally="1 of 2 comparisons hold",
        contradiction="The paper contradicts it: “no”" if word == "fails" else "",
        note="",
        details=table,
    )


def test_summary_and_groups_of_claims_come_with_failures_first(tmp_path: Path) -> None:
    words = ("fails", "inconclusive", "holds")
    groups = [
        VerdictGroup(f"of {who}", f"3 claims of {who}", tuple(map(verdict, words)))
        for who in ("the paper", "our own", "yours")
    ]
    section = Section("fig1", "Unbiased", "Figure 1", "", None, (), ())
    stamp = "smoke run: no evidence"
    content = Report(
        "T",
        "L",
        (stamp,),
        "",
        "method",
        tuple(groups),
        ("left: out",),
        (section,),
        (("seed", "0"),),
    )
    page = report_html.render(content, tmp_path)
    for word in words:
        assert f'<span class="verdict {word}">{word}</span>' in page
        assert f".{word} {{" in document.CSS
    said = page.index("3 claims of the paper")
    order = (stamp, "3 claims of the paper", "3 claims of our own", "3 claims of yours", "method")
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert page.index('href="#claim-id-fails"') > said  # the summary names what fails
    assert page.count("The paper contradicts it: “no”") == 2 * 3  # there, and in the table
    table = page[page.index("<h3>3 claims of our own") :]
    assert table.index("that fails") < table.index("that inconcl") < table.index("that holds")
    assert "1 (0 to 2)</strong>, 4,000 runs" in table
    markdown = report_markdown.render(content)
    assert f"> **{stamp}**" in markdown
    assert markdown.index("- fails: a") < markdown.index("### 3 claims of the paper")
    assert "| 4,000 |" in markdown
