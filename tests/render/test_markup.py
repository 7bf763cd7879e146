from __future__ import annotations

from driftanchor.render import markup


def test_tags_escape_text_and_attributes() -> None:
    made = markup.tag("p", "a<b", markup.tag("br"), title='"x"', class_="c", aria_label="d")
    assert made == '<p title="&quot;x&quot;" class="c" aria-label="d">a&lt;b<br></p>'


def test_controls_and_halves_of_characters_are_written_as_escapes() -> None:
    made = markup.tag("p", "a\x1b\nb\udcff", title="\x00")
    assert made == '<p title="\\x00">a\\x1b\nb\\udcff</p>'
