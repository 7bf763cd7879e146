"""Tables as LaTeX, for the package booktabs."""

from __future__ import annotations

from collections.abc import Iterator

from driftanchor.render.table import Table

LONG = 45  # letters: a column with longer texts folds its lines
_CHARACTERS = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
    "−": "$-$",
    "–": "--",
    "…": r"\ldots{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "“": "``",
    "”": "''",
    "Δ": r"$\Delta$",
    "Σ": r"$\Sigma$",
    "δ": r"$\delta$",
    "ε": r"$\varepsilon$",
    "μ": r"$\mu$",
    "σ": r"$\sigma$",
    "ω": r"$\omega$",
    "₁": "$_1$",
    "₂": "$_2$",
    "₊": "$_+$",
    "²": "$^2$",
}


def escape(text: str) -> str:
    r"""Text that LaTeX takes literally, in one line.

    Example:
        >>> print(escape("80 % of a_b < −0.3"))
        80 \% of a\_b $<$ $-$0.3
    """
    return "".join(_CHARACTERS.get(letter, letter) for letter in " ".join(text.split()))


def table(content: Table) -> Iterator[str]:
    r"""The lines of a table, to be read with `\input`; its title is a comment.

    Cells to be marked are bold. Lines of long texts are folded, in columns of a part of the page.
    """
    yield f"% {' '.join(content.title.split())}"
    yield r"% Needs \usepackage{booktabs}."
    yield rf"\begin{{tabular}}{{{''.join(_columns(content))}}}"
    yield r"\toprule"
    yield _row([escape(text) for text in content.headings])
    yield r"\midrule"
    for r, row in enumerate(content.rows):
        yield _row(
            [
                rf"\textbf{{{escape(text)}}}" if (r, c) in content.best else escape(text)
                for c, text in enumerate(row)
            ]
        )
        if r in content.breaks:
            yield r"\midrule"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _columns(content: Table) -> Iterator[str]:
    longest = [
        max(map(len, (heading, *(row[c] for row in content.rows))))
        for c, heading in enumerate(content.headings)
    ]
    long = {c: size for c, size in enumerate(longest) if c in content.text and size > LONG}
    for c in range(len(longest)):
        if c in long:
            part = min(0.01 * long[c], 0.6 * long[c] / sum(long.values()))
            yield rf"p{{{part:.2f}\linewidth}}"
        else:
            yield "l" if c in content.text else "r"


def _row(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
