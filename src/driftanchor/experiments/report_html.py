"""The report as one HTML file that loads nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from driftanchor.experiments.figures.print_page import NARROW, WIDE
from driftanchor.experiments.report import LONG, Report, Section
from driftanchor.experiments.verdicts import Verdict, VerdictGroup
from driftanchor.render.document import badge, document, figure, pairs_of, table_of
from driftanchor.render.markup import Html, tag


def render(report: Report, figures: Path) -> str:
    """The HTML of a report; `figures` is the folder of its SVG files."""
    page = document(
        report.title,
        tag("header", *_summary(report)),
        tag("main", *_main(report, figures)),
        tag("footer", tag("h2", "Made with", id="facts"), pairs_of(report.facts)),
    )
    return page.replace(" %", "\N{NO-BREAK SPACE}%")  # a number and its per cent in one line


def _summary(report: Report) -> list[Html]:
    """The verdicts counted, with those that fail, and the contents."""
    parts = [
        tag("h1", report.title),
        tag("p", report.lead, class_="dim"),
        *(tag("p", stamp, class_="stamp", role="note") for stamp in report.stamps),
    ]
    for group in report.groups:
        parts.append(tag("p", group.counts, class_="counts"))
        if group.failures:
            parts.append(tag("ul", *map(_failure, group.failures), class_="failures"))
    if not report.groups:
        parts.append(tag("p", report.counts, class_="counts"))
    links = [("figures", "Figures"), ("claims", "Claims")]
    links += [(_anchor("numbers", s), f"Numbers: {s.title}") for s in report.sections if s.tables]
    items = [tag("li", tag("a", text, href=f"#{name}")) for name, text in links]
    return [*parts, tag("nav", tag("ul", *items), aria_label="Contents")]


def _failure(verdict: Verdict) -> Html:
    says = tag("a", verdict.says, href=f"#{_claim(verdict.id)}")
    return tag("li", badge(verdict.verdict), " ", says, f" {verdict.contradiction}".rstrip())


def _main(report: Report, figures: Path) -> list[Html]:
    drawn = [_figure(section, figures) for section in report.sections if section.drawing]
    parts = [tag("h2", "Figures", id="figures"), *drawn] if drawn else []
    parts += [tag("h2", "Claims", id="claims"), tag("p", report.method)]
    parts += [_group(group) for group in report.groups]
    if report.left_out:
        items = [tag("li", text) for text in report.left_out]
        summary = f"{len(items)} claims not judged: not all their cells were run"
        parts.append(tag("details", tag("summary", summary), tag("ul", *items)))
    return [*parts, *(_numbers(section) for section in report.sections if section.tables)]


def _figure(section: Section, figures: Path) -> Html:
    assert section.drawing is not None
    wide, narrow = (
        (figures / page.folder / f"{section.drawing.name}.svg").read_bytes()
        for page in (WIDE, NARROW)
    )
    drawing = section.drawing
    title = tag("h3", f"{section.title} ", tag("span", section.source, class_="dim"))
    shown = figure(wide, drawing.caption, drawing.alt, narrow)
    return tag("section", title, shown, id=_anchor("figure", section))


def _group(group: VerdictGroup) -> Html:
    headings = ("claim", "verdict", "least favourable comparison", "place and note")
    head = tag("thead", tag("tr", *(tag("th", text, scope="col") for text in headings)))
    rows = [_verdict(verdict) for verdict in group.verdicts]
    table = tag("table", head, tag("tbody", *rows), class_="claims")
    return tag("section", tag("h3", group.counts), tag("div", table, class_="wide", tabindex="0"))


def _verdict(verdict: Verdict) -> Html:
    estimate = tag("strong", verdict.estimate)
    comparison = [
        verdict.comparison,
        tag("br"),
        "left − right: ",
        estimate,
        f", {verdict.runs} runs",
    ]
    if verdict.tally:
        summary = tag("summary", verdict.tally)
        comparison.append(tag("details", summary, table_of(verdict.details)))
    notes = [tag("small", verdict.place), verdict.note]
    if verdict.contradiction:
        notes.insert(1, tag("p", tag("strong", verdict.contradiction)))
    return tag(
        "tr",
        tag("th", verdict.says, scope="row", id=_claim(verdict.id)),
        tag("td", badge(verdict.verdict)),
        tag("td", *comparison),
        tag("td", *notes),
    )


def _numbers(section: Section) -> Html:
    parts = [tag("h2", f"Numbers: {section.title}", id=_anchor("numbers", section))]
    parts.append(tag("p", section.source, class_="dim"))
    if section.about:
        parts.append(tag("p", section.about))
    if section.drawing is not None:
        parts.append(tag("p", tag("a", "The figure", href=f"#{_anchor('figure', section)}")))
    for table in section.tables:
        html = table_of(table)
        long = len(table.rows) > LONG
        parts.append(tag("details", tag("summary", table.title), html) if long else html)
    return tag("section", *parts, pairs_of(section.settings))


def _anchor(part: str, section: Section) -> str:
    return f"{part}-" + re.sub(r"[^\w-]", "-", section.name)


def _claim(claim_id: str) -> str:
    return "claim-" + re.sub(r"[^\w-]", "-", claim_id)
