from __future__ import annotations

from driftanchor.render import latex
from driftanchor.render.table import Table


def test_a_table_is_for_booktabs_with_its_best_cells_bold() -> None:
    content = Table(
        "All_\nof it", ("cell & more", "n"), (("a", "−1 ± 2"), ("b", "3")), frozenset({(0, 1)}),
        breaks=frozenset({0}),
    )  # fmt: skip
    assert list(latex.table(content)) == [
        "% All_ of it",
        r"% Needs \usepackage{booktabs}.",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"cell \& more & n \\",
        r"\midrule",
        r"a & \textbf{$-$1 $\pm$ 2} \\",
        r"\midrule",
        r"b & 3 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_long_texts_are_folded_in_parts_of_the_page() -> None:
    content = Table("t", ("a", "b"), (("x" * 50, "y" * 150),), text=frozenset({0, 1}))
    assert r"\begin{tabular}{p{0.15\linewidth}p{0.45\linewidth}}" in list(latex.table(content))


def test_what_users_write_cannot_be_a_command() -> None:
    assert latex.escape("\\input{x} $1 #a~b^c\n%") == (
        r"\textbackslash{}input\{x\} \$1 \#a\textasciitilde{}b\textasciicircum{}c \%"
    )
