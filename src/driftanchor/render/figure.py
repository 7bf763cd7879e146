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
FORMATS = ("png", "svg", "pdf")  # of a figure in a report's folder
DPI = 160
PAGE, COLUMN = 7.0, 3.3  # inches: the text of a double-column page is so wide, and a column of it
SCREEN, PRINT = 10.0, 7.7  # points: the size of text, which all other sizes are parts of
TICKS, TITLES, LABELS = 0.8, 0.85, 0.9  # of the size of text: in print all are above 6 points
# What would make the bytes of a file depend on when and with which release it was written.
_UNDATED = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_CANVASES = {  # what writes a format, and in which of Matplotlib's modules it is
    "png": ("backend_agg", "FigureCanvasAgg"),
    "svg": ("backend_svg", "FigureCanvasSVG"),
    "pdf": ("backend_pdf", "FigureCanvasPdf"),
}


def matplotlib(module: str = "") -> Any:
    """A module of Matplotlib, such as `"figure"`; an error names the extra that installs it."""
    return require(f"matplotlib.{module}".rstrip("."), extra="plot", why="plotting")


@contextlib.contextmanager
def sheet(text: float = SCREEN) -> Iterator[None]:
    """Within it, Matplotlib has its own defaults, whatever the machine's configuration says.

    Args:
        text: The size of text in points: `SCREEN`, or `PRINT` for a figure of a page's width.
    """
    settings = {
        "font.size": text,
        "svg.fonttype": "path",
        "svg.hashsalt": "driftanchor",
        "pdf.fonttype": 42,  # whole fonts, which publishers ask for
    }
    with matplotlib("style").context(["default", settings]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # it is drawn as a box
        yield


def points(part: float) -> float:
    """A part of the size of text on this sheet, in points."""
    return part * float(matplotlib().rcParams["font.size"])


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
        _print(figure, file, kind)


def save(figure: Any, folder: Path, name: str) -> list[Path]:
    """Save a figure in all `FORMATS`; the same figure always gives the same bytes."""
    paths = [folder / f"{name}.{suffix}" for suffix in FORMATS]
    _make_readable(figure)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once is enough
    for path in paths:
        kind = path.suffix[1:]
        with write_whole(path) as file:
            _print(figure, file, kind)
    return paths


def _print(figure: Any, file: Path | io.BytesIO, kind: str, dpi: float = DPI) -> None:
    """Lay a figure out, and write it: `savefig` would draw all of it twice, to lay it out."""
    backend, canvas = _CANVASES[kind]
    sheet = getattr(matplotlib(f"backends.{backend}"), canvas)(figure)
    usual, engine = figure.dpi, figure.get_layout_engine()
    figure.dpi = dpi
    try:
        engine.execute(figure)
        figure.set_layout_engine("none")
        figure.dpi = dpi  # laid out for SVG, it has another
        getattr(sheet, f"print_{kind}")(file, metadata=_UNDATED[kind])
    finally:
        figure.dpi = usual
        figure.set_layout_engine(engine)


def svg(figure: Any) -> bytes:
    """The figure as SVG; the same figure always gives the same bytes."""
    file = io.BytesIO()
    _make_readable(figure)
    _print(figure, file, "svg", figure.dpi)
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
    *,
    aside: float = 0.0,
    **options: Any,
) -> None:
    """A line with a band of ± one standard error; a log axis leaves out what is not above 0.

    Bands are below all lines, and wide or solid lines below thin and dashed ones: where two lines
    are the same, both can be seen. Lines with different `aside`, in points, do not meet at all.
    """
    if axes.get_yscale() == "log":
        mean = np.where(mean > 0, mean, np.nan)
    height = 2.5 - 0.1 * look.width + (0.2 if look.dash[1] else 0.0)
    drawn = axes.plot(x, mean, **{**style(look), "zorder": height, **options})
    if error is not None and np.isfinite(error).any():  # a single run has no standard error
        low = mean - error
        if axes.get_yscale() == "log":
            low = np.where(low > 0, low, mean / 2)
        band = {"color": look.colour, "alpha": 0.2, "linewidth": 0, "zorder": 1.5}
        drawn.append(axes.fill_between(x, low, mean + error, **band))
    for artist in drawn if aside else ():  # when the limits of the axes have counted it
        artist.set_transform(_sideways(axes, aside))


def _sideways(axes: Any, place: float) -> Any:
    """Data to the right of where it belongs, by this many points."""
    inches = axes.get_figure(root=True).dpi_scale_trans
    return axes.transData + matplotlib("transforms").ScaledTranslation(place / 72, 0.0, inches)


def style(look: Look) -> dict[str, Any]:
    """The keyword arguments for Matplotlib's `plot`, to the size of text on this sheet."""
    return look.line(points(1 / SCREEN))


def tidy(axes: Any, room: float = 500.0) -> None:
    """Give a panel its common look: two spines, a light grid, plain numbers on the axis.

    Args:
        axes: The panel.
        room: As for `log_ticks`, if its regret axis is logarithmic.
    """
    frame(axes)
    axes.tick_params(labelsize=points(TICKS), width=points(0.08), length=points(0.35))
    if axes.get_yscale() == "log":
        log_ticks(axes.yaxis, room=room)
    axes.yaxis.set_major_formatter(matplotlib("ticker").FuncFormatter(tick_label))  # 2,000, not 10³


def frame(axes: Any) -> None:
    """Two spines and a light grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)


def literal_ticks(axes: Any) -> None:
    """Show tick labels that users wrote as they are."""
    _no_math((*axes.get_xticklabels(), *axes.get_yticklabels()))


def log_ticks(axis: Any, *, room: float) -> None:
    """Plain numbers on a log axis: 1, 2, 5 and 10 where it spans less than `room`, else 1 and 10.

    An axis that spans very little has more of them.

    Args:
        axis: The x or y axis of a panel, with its limits set.
        room: How many times its lowest value its highest may be, if there is room for all labels.
    """
    ticker = matplotlib("ticker")
    low, high = axis.get_view_interval()
    between: tuple[float, ...] = (1.0, 2.0, 5.0) if high < room * low else (1.0,)
    if high < 4 * low:
        between = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    few = high < 1.4 * low  # as good as linear
    log = ticker.LogLocator(10, subs=between, numticks=20)
    axis.set_major_locator(ticker.MaxNLocator(3) if few else log)
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
    """Whether the largest is so much more than the smallest that a linear axis would hide most."""
    positive = [mean for mean in means if mean > 0]
    return bool(positive) and max(positive) > ratio * min(positive)


def legend(figure: Any, looks: Mapping[str, Look]) -> None:
    """One legend for the whole figure, above it."""
    legend_above(figure, [key(label, **style(look)) for label, look in looks.items()])


def legend_above(figure: Any, handles: list[Any], **options: Any) -> None:
    """A legend above all panels, in as few rows as its labels need."""
    options = {"handlelength": 3.6, "columnspacing": 1.5, **options}  # to tell dashes apart
    size, beside = points(LABELS) / 72, options["handlelength"] + 2.4
    inches = [(beside + 0.54 * len(handle.get_label())) * size for handle in handles]
    room = figure.bbox.width / figure.dpi - 2 * size
    columns = len(handles) if sum(inches) <= room else max(1, int(room / max(inches)))
    columns = math.ceil(len(handles) / math.ceil(len(handles) / columns))  # rows alike in length
    shown = figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=columns,
        frameon=False,
        fontsize=points(LABELS),
        **options,
    )
    _no_math(shown.get_texts())


def key(label: str, **line: Any) -> Any:
    """An entry of a legend, drawn like this line."""
    return matplotlib("lines").Line2D([], [], label=label, **line)


def _no_math(texts: Iterable[Any]) -> None:
    for text in texts:
        text.set_parse_math(False)  # a dollar in a label is a dollar
