"""The report as Markdown, with links to the figures beside it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from driftanchor.experiments.report import LONG, Report, Section
from driftanchor.experiments.verdicts import Verdict, VerdictGroup
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
    for group in report.groups:
        yield from ("", f"**{escape(group.counts)}**", "")
        for verdict in group.failures:
            yield f"- {verdict.verdict}: {escape(f'{verdict.says} {verdict.contradiction}')}"
    if not report.groups:
        yield from ("", f"**{escape(report.counts)}**")
    yield ""
    for section in report.sections:
        yield from _figure(section, figures)
    yield from ("## Claims", "", escape(report.method), "")
    for group in report.groups:
        yield from _group(group)
    if report.left_out:
        yield from ("Not judged, because not all their cells were run:", "")
        yield from (f"- {escape(text)}" for text in report.left_out)
        yield ""
    for section in report.sections:
        yield from _numbers(section)
    yield from ("## Made with", "")
    yield from markdown.pairs(report.facts)


def _figure(section: Section, figures: str) -> Iterator[str]:
    drawing = section.drawing
    if drawing is not None:
        yield from (f"## {escape(section.title)}", "", f"*{escape(section.source)}*", "")
        yield from (f"![{escape(drawing.alt)}]({figures}/{quote(drawing.name)}.png)", "")
        yield from (escape(drawing.caption), "")


def _group(group: VerdictGroup) -> Iterator[str]:
    headings = (
        *("claim", "verdict", "least favourable comparison", "left − right", "runs"),
        *("place", "note"),
    )
    yield from (f"### {escape(group.counts)}", "")
    yield from markdown.grid(
        headings,
        (
            (
                escape(v.says),
                f"**{v.verdict}**",
                escape(v.comparison) + (f"; {v.tally}" if v.tally else ""),
                escape(v.estimate),
                v.runs,
                escape(v.place),
                _note(v),
            )
            for v in group.verdicts
        ),
    )


def _note(verdict: Verdict) -> str:
    against = f"**{escape(verdict.contradiction)}** " if verdict.contradiction else ""
    return (against + escape(verdict.note)).rstrip()


def _numbers(section: Section) -> Iterator[str]:
    if not section.tables:
        return
    yield from (f"## Numbers: {escape(section.title)}", "")
    if section.about:
        yield from (escape(section.about), "")
    for table in section.tables:
        yield from _table(table)
    yield from markdown.pairs(section.settings)


def _table(table: Table) -> Iterator[str]:
    folded = len(table.rows) > LONG
    title = escape(table.title)
    yield from (f"<details><summary>{title}</summary>", "") if folded else (title + ":", "")
    yield from markdown.table(table)
    if folded:
        yield from ("</details>", "")
