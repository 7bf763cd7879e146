from __future__ import annotations

from driftanchor.render.notebook import MOST_ROWS, html_table


def test_html_is_escaped_and_missing_values_are_dashes() -> None:
    shown = html_table({"<arm>": ["<b>", None], "n": [1200, float("nan")]}, caption="a & b")
    assert shown == (
        "<table><caption>a &amp; b</caption><thead><tr><th>&lt;arm&gt;</th><th>n</th></tr></thead>"
        "<tbody><tr><td>&lt;b&gt;</td><td>1,200</td></tr><tr><td>–</td><td>–</td></tr></tbody>"
        "</table>"
    )


def test_a_long_table_is_cut() -> None:
    shown = html_table({"n": list(range(MOST_ROWS + 5))})
    assert shown.count("<tr>") == MOST_ROWS + 2
    assert "… and 5 more" in shown
