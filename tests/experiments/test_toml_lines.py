from __future__ import annotations

from driftanchor.experiments.toml_lines import line_of


def test_the_line_is_the_one_with_the_value() -> None:
    text = "runs = 3\n[[sweep]]  # gap = 7\nfixed.gap = 1\n[[sweep]]\nfixed.gap = 7\n"
    assert line_of(text, "gap", 7) == 5
    assert line_of(text, "gap", 9) == 3
    assert line_of(text, "gape", 7) is None


def test_a_number_is_not_a_part_of_another() -> None:
    assert line_of("horizon = 50\nfixed.horizon = 0\n", "horizon", 0) == 2
    assert line_of("gap = 0.5\nfixed.gap = 5\n", "gap", 5) == 2
