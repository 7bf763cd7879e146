from __future__ import annotations

import dataclasses

from driftanchor.render import document
from driftanchor.render.table import Table


def test_a_page_may_load_nothing() -> None:
    page = document.document("a & b", "text < markup")
    assert "<title>a &amp; b</title>" in page
    assert "<body>text &lt; markup</body>" in page
    assert "default-src 'none'" in document.CONTENT_SECURITY


def test_a_table_has_its_marks_its_badges_and_its_note() -> None:
    table = Table(
        "<title>",
        ("cell", "mean", "verdict"),
        (("a/b", "1", "holds"),),
        best=frozenset({(0, 1)}),
        note="* lowest",
    )
    html = document.table_of(table)
    assert "<caption>&lt;title&gt;</caption>" in html
    assert '<th scope="row"><code>a/<wbr>b</code></th>' in html
    assert '<td class="best"><strong>1 *</strong></td>' in html
    assert '<span class="verdict holds">holds</span>' in html
    assert '<p class="dim">* lowest</p>' in html


def test_words_are_no_code_and_columns_of_words_are_set_to_the_left() -> None:
    table = Table("t", ("cell", "policy", "n"), (("a b", "TS", "1"),), text=frozenset({0, 1}))
    assert "<code>a b</code>" in document.table_of(table)
    words = dataclasses.replace(table, words=True)
    assert '<th scope="row">a b</th><td class="words">TS</td><td>1</td>' in document.table_of(words)


def test_a_figure_has_another_for_narrow_screens_or_scrolls() -> None:
    both = document.figure(b"<svg/>", "c", "alt", narrow=b"<g/>")
    assert (
        '<source media="(max-width: 40rem)" srcset="data:image/svg+xml;base64,PGcvPg=="><img'
        in both
    )
    assert 'class="wide"' not in both
    alone = document.figure(b"<svg/>", "c", "alt")
    assert 'class="wide" tabindex="0"' in alone
    assert "<source" not in alone
