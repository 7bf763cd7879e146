from __future__ import annotations

import pytest

from driftanchor.render.folding import Foldable, column_widths


@pytest.mark.parametrize(
    ("text", "words", "width", "lines"),
    [
        ("a rule of thumb", True, 20, ["a rule of thumb"]),
        ("a rule of thumb", True, 9, ["a rule of", "thumb"]),
        ("guarded-anchor-ts-cold", True, 15, ["guarded-anchor-", "ts-cold"]),
        ("counterpart", True, 8, ["counterp", "art"]),
        ("21.2 ± 2.09", False, 11, ["21.2 ± 2.09"]),
        ("−1.23 (−2.29 to −0.163)", False, 18, ["−1.23", "(−2.29 to −0.163)"]),
        ("21.2 ± 2.09", False, 6, ["21.2 ±", "2.09"]),
    ],
)
def test_a_text_is_folded_where_it_reads_best(
    text: str, words: bool, width: int, lines: list[str]
) -> None:
    assert Foldable(text, words).fold(width).split("\n") == lines


def test_nothing_is_lost() -> None:
    text = "hybrid-ucb@fig1/gap=0.1/coverage=optimal - ucb > 0.5*ts"
    for width in range(1, 60):
        folded = Foldable(text, words=True).fold(width)
        assert "".join(folded.split()) == "".join(text.split())
        assert max(map(len, folded.split("\n"))) <= width


def test_letters_of_two_columns_count_twice() -> None:
    folded = Foldable("日本語のラベル", words=True).fold(8)
    assert folded == "日本語の\nラベル"


def test_columns_are_folded_only_as_much_as_needed() -> None:
    columns = [[Foldable("a b c d", words=True)], [Foldable("1,000 (1 to 2)", words=False)]]
    assert column_widths(columns, None) == [7, 14]
    assert column_widths(columns, 21) == [7, 14]
    assert column_widths(columns, 16) == [7, 9]
    assert column_widths(columns, 3) == [1, 5]
