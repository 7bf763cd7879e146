"""The report as one HTML file that loads nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from driftanchor.experiments.figures.drawing import Drawing
from driftanchor.experiments.report import LONG, Report, Section, Verdict
from driftanchor.render.document import badge, code, document, figure, pairs_of, table_of
from driftanchor.render.markup import Html, tag

HEADLINE = "headline"


def render(report: Report, figures: Path) -> str:
    """The HTML of a report; `figures` is the folder of its SVG files."""
    return document(
        report.title,
        tag("header", *_opening(report, figures)),
        tag("main", *_main(report, figures)),
        tag("footer", tag("h2", "Made with", id="facts"), pairs_of(report.facts)),
    )


def _opening(report: Report, figures: Path) -> list[Html]:
    """What fits on one screen: the verdicts counted and the first figure; then the contents."""
    links = [("claims", "Claims"), *((_anchor(s), s.title) for s in report.sections)]
    items = [tag("li", tag("a", text, href=f"#{name}")) for name, text in links]
    parts = [
        tag("h1", report.title),
        tag("p", report.lead, class_="dim"),
        *(tag("p", stamp, class_="stamp", role="note") for stamp in report.stamps),
        tag("p", report.counts, class_="counts"),
    ]
    if report.headline:
        parts.append(tag("div", _figure(report.headline, figures), id=HEADLINE))
    return [*parts, tag("nav", tag("ul", *items), aria_label="Contents")]


def _main(report: Report, figures: Path) -> list[Html]:
    parts = [tag("h2", "Claims", id="claims"), tag("p", report.method)]
    if report.verdicts:
        parts.append(_verdicts(report.verdicts, "The paper's claims and what the runs say"))
    if report.own:
        parts.append(tag("h3", "Your claims", id="your-claims"))
        parts.append(_verdicts(report.own, "Your claims and what the runs say"))
    if report.left_out:
        items = [tag("li", text) for text in report.left_out]
        summary = f"{len(items)} claims not judged: not all their cells were run"
        parts.append(tag("details", tag("summary", summary), tag("ul", *items)))
    parts += [_section(section, report.headline, figures) for section in report.sections]
    return parts


def _verdicts(verdicts: tuple[Verdict, ...], title: str) -> Html:
    headings = ("claim", "place", "verdict", "least favourable comparison", "note")
    head = tag("thead", tag("tr", *(tag("th", text, scope="col") for text in headings)))
    rows = [_verdict(verdict) for verdict in verdicts]
    caption = tag("caption", title)
    table = tag("table", caption, head, tag("tbody", *rows), class_="claims")
    return tag("div", table, class_="wide", tabindex="0")


def _verdict(verdict: Verdict) -> Html:
    comparison = [code(verdict.comparison), tag("br"), verdict.estimate]
    if verdict.tally:
        summary = tag("summary", verdict.tally)
        comparison.append(tag("details", summary, table_of(verdict.details)))
    return tag(
        "tr",
        tag("th", verdict.says, scope="row", id=f"claim-{verdict.id}"),
        tag("td", verdict.place),
        tag("td", badge(verdict.verdict)),
        tag("td", *comparison),
        tag("td", verdict.note),
    )


def _section(section: Section, headline: Drawing | None, figures: Path) -> Html:
    parts = [tag("h2", section.title, id=_anchor(section)), tag("p", section.source, class_="dim")]
    if section.about:
        parts.append(tag("p", section.about))
    if section.drawing is not None:
        first = section.drawing is headline
        link = tag("p", tag("a", "The figure is at the top of this page.", href=f"#{HEADLINE}"))
        parts.append(link if first else _figure(section.drawing, figures))
    for table in section.tables:
        html = table_of(table)
        long = len(table.rows) > LONG
        parts.append(tag("details", tag("summary", table.title), html) if long else html)
    if section.settings:
        parts.append(pairs_of(section.settings))
    return tag("section", *parts)


def _anchor(section: Section) -> str:
    return "experiment-" + re.sub(r"[^\w-]", "-", section.name)


def _figure(drawing: Drawing, figures: Path) -> Html:
    return figure((figures / f"{drawing.name}.svg").read_bytes(), drawing.caption, drawing.alt)
