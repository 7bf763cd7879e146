from __future__ import annotations

import pytest
from typer.testing import CliRunner

from driftanchor.cli.help_text import flowing
from driftanchor.cli.main import app


def test_paragraphs_flow_and_examples_stay() -> None:
    text = "One\n    and two.\n\n    Three.\n\n    Examples:\n      a b\n        c\n    "
    assert flowing(text) == "One and two.\n\nThree.\n\nExamples:\n  a b\n    c"


@pytest.mark.parametrize("words", [["store", "backup"], ["campaign"]])
def test_help_has_no_lines_that_break_early(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = CliRunner().invoke(app, [*words, "--help"]).stdout
    joined = {"store": "name it with --store. To restore", "campaign": "or reward is never lost"}
    assert joined[words[0]] in shown
