"""HTML pages: one file that loads nothing else, its tables and its figures."""

from __future__ import annotations

import base64

from driftanchor.render.markup import Html, join, tag
from driftanchor.render.table import VERDICT, Table

CONTENT_SECURITY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # nothing from elsewhere
)
NARROW = "(max-width: 40rem)"  # screens on which tables of claims are cards
CSS = """
:root { color-scheme: light dark; --ink: #1d2125; --dim: #59636e; --paper: #fff; --line: #d5dae0;
  --card: #f6f8fa; --holds: #05603a; --holds-bg: #d3f3e2; --fails: #912018; --fails-bg: #fde3df;
  --open: #6b4e00; --open-bg: #fdf0c4; --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --dim: #9aa5b1; --paper: #14171a;
  --line: #353b42; --card: #1d2126; --holds: #8fe3ba; --holds-bg: #0d3b26; --fails: #ffb4a8;
  --fails-bg: #551a12; --open: #f5d76e; --open-bg: #453500; --link: #8cc2ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 76rem; background: var(--paper);
  color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 .25rem; padding-top: .75rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2rem 0 .25rem; }
a { color: var(--link); }
p, figcaption { max-width: 62rem; }
.dim, figcaption { color: var(--dim); }
.counts { font-size: 1.35rem; font-weight: 600; margin: 1rem 0 .25rem; }
.stamp { border: 2px solid var(--fails); background: var(--fails-bg); color: var(--fails);
  padding: .6rem 1rem; border-radius: .4rem; font-weight: 700; }
.wide { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--dim); padding: .25rem 0; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
thead th { border-bottom-width: 2px; white-space: nowrap; }
tbody th { font-weight: 500; }
.numbers tbody th { min-width: 8.5rem; } .numbers th code { overflow-wrap: normal; }
.numbers td { text-align: right; white-space: nowrap; }
.numbers thead th:not(:first-child) { text-align: right; }
.best { font-weight: 700; background: var(--card); }
.verdict { display: inline-block; padding: .05rem .55rem; border-radius: 1rem; font-weight: 600; }
.holds { color: var(--holds); background: var(--holds-bg); }
.fails { color: var(--fails); background: var(--fails-bg); }
.inconclusive { color: var(--open); background: var(--open-bg); }
code { font-size: .92em; overflow-wrap: anywhere; }
figcaption { margin-top: .5rem; }
.claims { width: 100%; } .claims > tbody > tr > th { width: 30%; }
.claims > tbody > tr > td:last-child { width: 26%; }
.claims small { display: block; color: var(--dim); }
.numbers td.words { text-align: left; white-space: normal; }
.failures { padding-left: 0; list-style: none; } .failures li { margin: .4rem 0; }
figure { margin: 1rem 0; }
figure .fits img { width: 100%; max-width: 64rem; min-width: 0; }
figure img { display: block; max-width: 100%; min-width: 34rem; height: auto;
  background: #fff; padding: .5rem; border: 1px solid var(--line); border-radius: .4rem; }
details { margin: .5rem 0; } summary { cursor: pointer; color: var(--link); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; font-size: .9rem; }
dt { color: var(--dim); } dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
nav ul { padding-left: 1.2rem; columns: 18rem; }
@media (max-width: 40rem) { body { padding: 1rem .75rem 3rem; } h1 { font-size: 1.5rem; }
  .claims, .claims > tbody, .claims > tbody > tr, .claims > tbody > tr > th,
  .claims > tbody > tr > td { display: block; width: auto !important; }
  .claims > thead { display: none; }
  .claims > tbody > tr { border-bottom: 2px solid var(--line); padding: .5rem 0; }
  .claims > tbody > tr > * { border-bottom: 0; padding: .15rem 0; }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
@media print { html { font-size: 11px; } body { max-width: none; padding: 0; font-size: 1rem; }
  nav { display: none; }
  figure, tr { break-inside: avoid; } h2, h3 { break-after: avoid; } .wide { overflow: visible; }
  figure .fits img { width: auto; max-width: 7in; max-height: 7.5in; border: 0; padding: 0; }
  table { font-size: 9px; } }
"""


def document(title: str, *body: str) -> str:
    """A whole page."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=CONTENT_SECURITY),
        tag("title", title),
        tag("style", Html(CSS)),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', *body), lang='en')}\n"


def code(text: str) -> Html:
    """A comparison or a cell id, which may be folded at its slashes."""
    pieces = [join(piece, "/", tag("wbr")) for piece in text.split("/")]
    last = text.rpartition("/")[2]
    return tag("code", *pieces[:-1], last)


def badge(verdict: str) -> Html:
    """A verdict in its colour."""
    return tag("span", verdict, class_=f"verdict {verdict}")


def figure(svg: bytes, caption: str, alt: str, narrow: bytes | None = None) -> Html:
    """A figure, inside the page.

    Args:
        svg: The figure.
        caption: What stands below it.
        alt: What it shows, for readers who cannot see it.
        narrow: The same for narrow screens; without it such screens scroll sideways.
    """
    image = tag("img", src=_data(svg), alt=alt)
    if narrow is None:
        shown = tag("div", image, class_="wide", tabindex="0")
    else:
        source = tag("source", media=NARROW, srcset=_data(narrow))
        shown = tag("picture", source, image, class_="fits")
    return tag("figure", shown, tag("figcaption", caption))


def _data(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode('ascii')}"


def table_of(table: Table) -> Html:
    """A table whose first column heads its rows."""
    head = tag("thead", tag("tr", *(tag("th", text, scope="col") for text in table.headings)))
    rows = [
        tag(
            "tr",
            tag("th", row[0] if table.words else code(row[0]), scope="row"),
            *(_cell(table, r, c, text) for c, text in enumerate(row[1:], 1)),
        )
        for r, row in enumerate(table.rows)
    ]
    parts = [tag("caption", table.title), head, tag("tbody", *rows)]
    note = [tag("p", table.note, class_="dim")] if table.note else []
    shown = tag("table", *parts, class_="numbers")
    return tag("div", shown, *note, class_="wide", tabindex="0")


def _cell(table: Table, row: int, column: int, text: str) -> Html:
    if table.headings[column] == VERDICT:
        return tag("td", badge(text))
    if (row, column) in table.best:
        return tag("td", tag("strong", table.marked(row, column)), class_="best")
    return tag("td", text, class_="words") if column in table.text else tag("td", text)


def pairs_of(pairs: tuple[tuple[str, str], ...]) -> Html:
    """A list of names and what belongs to them."""
    return tag("dl", *(join(tag("dt", name), tag("dd", text)) for name, text in pairs))
