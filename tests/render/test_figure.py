from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.dom import minidom

import pytest

from driftanchor.errors import InvalidInput
from driftanchor.render import figure


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
        figure.legend_above(drawn, [figure.key("漢字\x07", color="black")], columns=1)
        for name in ("a.svg", "a.png", "a.pdf"):
            figure.write(drawn, tmp_path / name)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert r"name\udcff" in text
    assert minidom.parseString(text).documentElement is not None
