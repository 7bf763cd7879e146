import pytest

from driftanchor.render.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b]0;title\x07", r"\x1b[31mred\x1b]0;title\x07"),
        ("a\r\n\tb", r"a\r\n\tb"),
        ("\x9b2J\x7f\x00", r"\x9b2J\x7f\x00"),
        ("abc\u202egpj.exe", r"abc\u202egpj.exe"),
        ("name\udcff", r"name\udcff"),
        ("\u2028", r"\u2028"),
    ],
)
def test_what_a_terminal_would_obey_is_written_as_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(printable(text)) == shown


@pytest.mark.parametrize("text", ["", "é ∞ 漢字", "two  blanks\u00a0", "👩\u200d💻", r"C:\x1b"])
def test_other_text_stays(text: str) -> None:
    assert printable(text) == text
