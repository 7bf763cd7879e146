from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from xml.dom import minidom

import numpy as np
import pytest

from driftanchor.errors import InvalidInput
from driftanchor.render import figure, palette

X = np.arange(3.0)


def test_one_mean_many_times_another_asks_for_a_log_axis() -> None:
    assert figure.wide_apart([10.0, 200.0], 12)
    assert not figure.wide_apart([10.0, 100.0], 12)
    assert not figure.wide_apart([0.0, 0.0], 12)


def test_only_files_that_can_be_drawn_are_taken() -> None:
    assert figure.check_suffix("a/b.PNG") == ".png"
    with pytest.raises(InvalidInput, match="plot file must end in"):
        figure.check_suffix("a/b.gif")
    no_path: Any = b"a.png"
    with pytest.raises(InvalidInput, match=r"path must be the name of a file, got b'a\.png'"):
        figure.check_suffix(no_path)


def test_labels_with_controls_halves_of_characters_and_rare_letters_are_drawn(
    tmp_path: Path,
) -> None:
    with figure.sheet():
        drawn = figure.blank(3, 2)
        axes = drawn.subplots()
        axes.set_title("red\x1b[31m\nname\udcff")
        figure.legend_above(drawn, [figure.key("漢字\x07", color="black")])
        for name in ("a.svg", "a.png", "a.pdf"):
            figure.write(drawn, tmp_path / name)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert r"name\udcff" in text
    assert minidom.parseString(text).documentElement is not None


def test_a_figure_is_laid_out_and_drawn_as_by_savefig(tmp_path: Path) -> None:
    def drawn() -> Any:
        made = figure.blank(3, 2)
        axes = made.subplots()
        figure.line(axes, X, X + 1, X / 10, palette.POLICY_LOOKS["ts"])
        axes.set_title("a")
        return made

    def by_savefig(kind: str, **options: Any) -> bytes:
        file = io.BytesIO()
        drawn().savefig(file, format=kind, metadata=figure._UNDATED[kind], **options)
        return file.getvalue()

    with figure.sheet():
        for kind in ("svg", "png", "pdf"):
            figure.write(drawn(), tmp_path / f"a.{kind}")
            assert (tmp_path / f"a.{kind}").read_bytes() == by_savefig(kind, dpi=figure.DPI)
        assert figure.svg(drawn()) == by_savefig("svg")
        one = drawn()
        saved = figure.save(one, tmp_path, "saved")
        for path in saved:
            figure.write(one, tmp_path / f"written{path.suffix}")
    assert [path.suffix for path in saved] == [".png", ".svg", ".pdf"]
    for path in saved:
        assert path.read_bytes() == (tmp_path / f"written{path.suffix}").read_bytes()
    assert one.dpi == 100


def test_the_sizes_of_a_sheet_follow_its_text() -> None:
    for text in (figure.SCREEN, figure.PRINT):
        with figure.sheet(text):
            axes = figure.blank(3.3, 2.0).subplots()
            figure.line(axes, X, X + 1, None, palette.POLICY_LOOKS["ts"])
            figure.tidy(axes)
            assert axes.lines[0].get_markersize() == pytest.approx(0.45 * text)
            assert axes.get_xticklabels()[0].get_fontsize() == pytest.approx(0.8 * text)
    assert figure.PRINT * min(figure.TICKS, figure.TITLES, figure.LABELS) >= 6


def test_a_line_drawn_aside_counts_where_it_belongs() -> None:
    axes = figure.blank(3.3, 2.0).subplots()
    figure.line(axes, X, X + 1, X / 10, palette.POLICY_LOOKS["ts"], aside=3.0)
    low, high = axes.get_xlim()
    assert (low, high) == pytest.approx((-0.1, 2.1))
    drawn, data = axes.lines[0].get_transform(), axes.transData
    moved = drawn.transform((1.0, 1.0)) - data.transform((1.0, 1.0))
    assert moved == pytest.approx((3.0 * 100 / 72, 0.0))


def test_dashed_lines_are_drawn_over_solid_ones_and_bands_below_all() -> None:
    axes = figure.blank(3.3, 2.0).subplots()
    for name in ("ts", "anchor-ts"):  # dashed, then wide and solid
        figure.line(axes, X, X + 1, X / 10, palette.POLICY_LOOKS[name])
    dashed, solid = axes.lines
    assert dashed.get_zorder() > solid.get_zorder()
    assert solid.get_zorder() > max(band.get_zorder() for band in axes.collections)


@pytest.mark.parametrize(
    ("limits", "shown"), [((600, 1900), 4), ((50, 1900), 5), ((5, 19000), 4), ((510, 590), 2)]
)
def test_a_log_axis_has_labels_however_much_it_spans(
    limits: tuple[float, float], shown: int
) -> None:
    axes = figure.blank(3.3, 2.0).subplots()
    axes.set_yscale("log")
    axes.set_ylim(limits[0] * 0.99, limits[1] * 1.01)
    figure.log_ticks(axes.yaxis, room=60.0)
    seen = [tick for tick in axes.get_yticks() if limits[0] <= tick <= limits[1]]
    assert len(seen) == shown


def test_a_legend_has_as_few_rows_as_its_labels_need() -> None:
    looks = {f"policy number {i}": palette.POLICY_LOOKS["ts"] for i in range(4)}
    for width, columns in ((9.0, 4), (5.0, 2), (2.0, 1)):
        drawing = figure.blank(width, 2.0)
        figure.legend(drawing, looks)
        assert drawing.legends[0]._ncols == columns
