from __future__ import annotations

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
