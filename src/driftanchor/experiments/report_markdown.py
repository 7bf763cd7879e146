"""The report as Markdown, with links to the figures beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from driftanchor.experiments.report import LONG, Report, Section, Table, Verdict


def render(report: Report, figures: str = "figures") -> str:
    """The Markdown of a report; `figures` is where its PNG files are, seen from it."""
    return "\n".join(_lines(report, figures)) + "\n"


def escape(text: str) -> str:
    r"""Text that Markdown takes literally, in one line.

    Example:
        >>> print(escape("a < b | *c*"))
        a \< b \| \*c\*
    """
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", " ".join(text.split()))


def _lines(report: Report, figures: str) -> Iterator[str]:
    yield from (f"# {escape(report.title)}", "", escape(report.lead))
    for stamp in report.stamps:
        yield from ("", f"> **{escape(stamp)}**")
    yield from ("", f"**{report.counts}**", "", "## Claims", "", escape(report.method), "")
    if report.verdicts:
        yield from _verdicts(report.verdicts)
    if report.left_out:
        yield from ("Not judged, because not all their cells were run:", "")
        yield from (f"- {escape(text)}" for text in report.left_out)
        yield ""
    for section in report.sections:
        yield from _section(section, figures)
    yield from ("## Made with", "")
    yield from _pairs(report.facts)


def _verdicts(verdicts: tuple[Verdict, ...]) -> Iterator[str]:
    headings = ("claim", "place", "verdict", "least favourable comparison", "left − right", "note")
    yield from _rows(
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


def _section(section: Section, figures: str) -> Iterator[str]:
    yield from (f"## {escape(section.title)}", "", f"*{escape(section.source)}*", "")
    if section.about:
        yield from (escape(section.about), "")
    if section.picture:
        name = quote(section.picture.name)
        yield from (f"![{escape(section.picture.alt)}]({figures}/{name}.png)", "")
        yield from (escape(section.picture.caption), "")
    for table in section.tables:
        yield from _table(table)
    yield from _pairs(section.settings)


def _table(table: Table) -> Iterator[str]:
    folded = len(table.rows) > LONG
    title = escape(table.title)
    yield from (f"<details><summary>{title}</summary>", "") if folded else (title + ":", "")
    yield from _rows(
        table.headings,
        (
            [
                f"**{escape(text)}**" if (r, c) in table.best else escape(text)
                for c, text in enumerate(row)
            ]
            for r, row in enumerate(table.rows)
        ),
    )
    if folded:
        yield from ("</details>", "")


def _rows(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = [escape(text) for text in headings]
    yield f"| {' | '.join(names)} |"
    yield "|" + "---|" * len(names)
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _pairs(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in pairs:
        yield f"- {escape(name)}: {escape(text)}"
    yield ""
