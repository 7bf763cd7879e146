"""Figures: blank ones, what their panels share, and how they are saved.

Matplotlib's own types are not named here. The package `shift` draws through this file, and
import-linter checks that it needs NumPy alone: Matplotlib is imported when a figure is drawn.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from driftanchor.errors import InvalidInput, require, shown
from driftanchor.files import write_whole
from driftanchor.render.palette import Look
from driftanchor.render.printable import printable

SUFFIXES = (".png", ".pdf", ".svg")  # of a file that a user names
FORMATS = ("png", "svg")  # of a figure in a report's folder
DPI = 160


def matplotlib(module: str) -> Any:
    """A module of Matplotlib, such as `"figure"`; an error names the extra that installs it."""
    return require(f"matplotlib.{module}", extra="plot", why="plotting")


@contextlib.contextmanager
def sheet() -> Iterator[None]:
    """Within it, Matplotlib has its own defaults, whatever the machine's configuration says."""
    settings = {"svg.fonttype": "path", "svg.hashsalt": "driftanchor"}
    with matplotlib("style").context(["default", settings]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # it is drawn as a box
        yield


def blank(width: float, height: float) -> Any:
    """A figure to draw on, in inches, which lays itself out."""
    return matplotlib("figure").Figure(figsize=(width, height), layout="constrained")


def check_suffix(path: str | os.PathLike[str]) -> str:
    """The ending of a plot's file in lower case; an error for a kind that cannot be drawn."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(f"must be the name of a file, got {shown(path)}", argument="path")
    suffix = Path(str(path)).suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInput(f"plot file must end in one of {', '.join(SUFFIXES)}, got {str(path)!r}")
    return suffix


def write(figure: Any, path: str | os.PathLike[str]) -> None:
    """Save a figure where the user asked for it; nothing is left behind if writing fails."""
    kind = check_suffix(path)[1:]
    _make_readable(figure)
    with write_whole(path) as file:
        figure.savefig(file, format=kind, dpi=DPI)


def save(figure: Any, folder: Path, name: str) -> list[Path]:
    """Save a figure as PNG and SVG; the same figure always gives the same bytes."""
    paths = [folder / f"{name}.{suffix}" for suffix in FORMATS]
    _make_readable(figure)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once is enough
    for path in paths:
        kind = path.suffix[1:]
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        with write_whole(path) as file:
            figure.savefig(file, format=kind, dpi=DPI, metadata=metadata)
    return paths


def svg(figure: Any) -> bytes:
    """The figure as SVG; the same figure always gives the same bytes."""
    file = io.BytesIO()
    _make_readable(figure)
    figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def _make_readable(figure: Any) -> None:
    """Write as escapes what Matplotlib cannot draw, or what would break an SVG."""
    for text in figure.findobj(matplotlib("text").Text):
        text.set_text("\n".join(map(printable, text.get_text().split("\n"))))


def line(
    axes: Any,
    x: npt.NDArray[np.float64],
    mean: npt.NDArray[np.float64],
    error: npt.NDArray[np.float64] | None,
    look: Look,
    **options: Any,
) -> None:
    """A line with a band of ± one standard error; a log axis leaves out what is not above 0."""
    if axes.get_yscale() == "log":
        mean = np.where(mean > 0, mean, np.nan)
    axes.plot(x, mean, **{**look.line(), **options})
    if error is None or not np.isfinite(error).any():  # a single run has no standard error
        return
    low = mean - error
    if axes.get_yscale() == "log":
        low = np.where(low > 0, low, mean / 2)
    axes.fill_between(x, low, mean + error, color=look.colour, alpha=0.2, linewidth=0)


def tidy(axes: Any) -> None:
    """Give a panel its common look: two spines, a light grid, plain numbers on the axis."""
    frame(axes)
    axes.tick_params(labelsize=8)
    _plain_numbers(axes)


def frame(axes: Any) -> None:
    """Two spines and a light grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)


def literal_ticks(axes: Any) -> None:
    """Show tick labels that users wrote as they are."""
    _no_math((*axes.get_xticklabels(), *axes.get_yticklabels()))


def _plain_numbers(axes: Any) -> None:
    """2,000 and not 2·10³."""
    if axes.get_yscale() == "log":
        log_ticks(axes.yaxis, room=500.0)
    axes.yaxis.set_major_formatter(matplotlib("ticker").FuncFormatter(tick_label))


def log_ticks(axis: Any, *, room: float) -> None:
    """Plain numbers on a log axis: 1, 2, 5 and 10 where it spans less than `room`, else 1 and 10.

    Args:
        axis: The x or y axis of a panel, with its limits set.
        room: How many times its lowest value its highest may be, if there is room for all labels.
    """
    ticker = matplotlib("ticker")
    low, high = axis.get_view_interval()
    between = (1.0, 2.0, 5.0) if high < room * low else (1.0,)
    axis.set_major_locator(ticker.LogLocator(10, subs=between, numticks=20))
    axis.set_minor_formatter(ticker.NullFormatter())
    axis.set_major_formatter(ticker.FuncFormatter(tick_label))


def tick_label(value: float, _: object = None) -> str:
    """A number on an axis.

    Example:
        >>> [tick_label(x) for x in (2000.0, -0.5)]
        ['2,000', '−0.5']
    """
    return f"{value:,g}".replace("-", "−")


def wide_apart(means: Iterable[float], ratio: float) -> bool:
    """Whether the largest is so many times the smallest that a linear axis would hide most."""
    positive = [mean for mean in means if mean > 0]
    return bool(positive) and max(positive) > ratio * min(positive)


def legend(figure: Any, looks: Mapping[str, Look], *, inside: Any = None) -> None:
    """One legend for the whole figure: above it, or inside a panel that is empty."""
    options: dict[str, Any] = {"handlelength": 3.6}  # long enough to tell dashes apart
    handles = [key(label, **look.line()) for label, look in looks.items()]
    if inside is not None:
        shown = inside.legend(
            handles=handles, loc="center", title="policies", frameon=False, fontsize=9, **options
        )
        _no_math(shown.get_texts())
        return
    inches = [0.75 + 0.07 * len(label) for label in looks]
    rows = math.ceil(sum(inches) / (figure.bbox.width / figure.dpi - 0.3))
    legend_above(figure, handles, columns=math.ceil(len(handles) / rows), **options)


def legend_above(figure: Any, handles: list[Any], *, columns: int, **options: Any) -> None:
    """A legend above all panels."""
    shown = figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=columns,
        frameon=False,
        fontsize=9,
        **options,
    )
    _no_math(shown.get_texts())


def key(label: str, **line: Any) -> Any:
    """An entry of a legend, drawn like this line."""
    return matplotlib("lines").Line2D([], [], label=label, **line)


def _no_math(texts: Iterable[Any]) -> None:
    for text in texts:
        text.set_parse_math(False)  # a dollar in a label is a dollar


def folded(text: str, width: int = 42) -> str:
    r"""A text in lines that end at commas.

    Example:
        >>> folded("2,000 logs on all arms alike, best arm biased by −0.3, others by +0.1")
        '2,000 logs on all arms alike,\nbest arm biased by −0.3, others by +0.1'
    """
    lines = [""]
    for phrase in text.split(", "):
        longer = f"{lines[-1]}, {phrase}" if lines[-1] else phrase
        if len(longer) > width and lines[-1]:
            lines[-1] += ","
            lines.append(phrase)
        else:
            lines[-1] = longer
    return "\n".join(lines)
