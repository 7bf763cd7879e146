"""The report as Markdown, with links to the figures beside it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from driftanchor.experiments.figures.drawing import Drawing
from driftanchor.experiments.report import LONG, Report, Section, Verdict
from driftanchor.render import markdown
from driftanchor.render.markdown import escape
from driftanchor.render.table import Table


def render(report: Report, figures: str = "figures") -> str:
    """The Markdown of a report; `figures` is the folder of its PNG files, seen from it."""
    return "\n".join(_lines(report, figures)) + "\n"


def _lines(report: Report, figures: str) -> Iterator[str]:
    yield from (f"# {escape(report.title)}", "", escape(report.lead))
    for stamp in report.stamps:
        yield from ("", f"> **{escape(stamp)}**")
    yield from ("", f"**{report.counts}**", "")
    if report.headline is not None:
        yield from _figure(report.headline, figures)
    yield from ("## Claims", "", escape(report.method), "")
    if report.verdicts:
        yield from _verdicts(report.verdicts)
    if report.own:
        yield from ("### Your claims", "")
        yield from _verdicts(report.own)
    if report.left_out:
        yield from ("Not judged, because not all their cells were run:", "")
        yield from (f"- {escape(text)}" for text in report.left_out)
        yield ""
    for section in report.sections:
        yield from _section(section, report.headline, figures)
    yield from ("## Made with", "")
    yield from markdown.pairs(report.facts)


def _verdicts(verdicts: tuple[Verdict, ...]) -> Iterator[str]:
    headings = ("claim", "place", "verdict", "least favourable comparison", "left − right", "note")
    yield from markdown.grid(
        headings,
        (
            (
                escape(v.says),
                escape(v.place),
                f"**{v.verdict}**",
                escape(v.comparison) + (f"; {v.tally}" if v.tally else ""),
                escape(v.estimate),
                escape(v.note),
            )
            for v in verdicts
        ),
    )


def _section(section: Section, headline: Drawing | None, figures: str) -> Iterator[str]:
    yield from (f"## {escape(section.title)}", "", f"*{escape(section.source)}*", "")
    if section.about:
        yield from (escape(section.about), "")
    if section.drawing is not None and section.drawing is headline:
        yield from ("The figure is at the top of this page.", "")
    elif section.drawing is not None:
        yield from _figure(section.drawing, figures)
    for table in section.tables:
        yield from _table(table)
    yield from markdown.pairs(section.settings)


def _figure(drawing: Drawing, figures: str) -> Iterator[str]:
    yield from (f"![{escape(drawing.alt)}]({figures}/{quote(drawing.name)}.png)", "")
    yield from (escape(drawing.caption), "")


def _table(table: Table) -> Iterator[str]:
    folded = len(table.rows) > LONG
    title = escape(table.title)
    yield from (f"<details><summary>{title}</summary>", "") if folded else (title + ":", "")
    yield from markdown.table(table)
    if folded:
        yield from ("</details>", "")
