"""The pages of `docs/reference` are what the code says now, and leave nothing out."""

import re
from pathlib import Path

import pytest

from benchmarks.pages import api, commands, docstrings, reference, signatures
from driftanchor.policies import POLICIES

FOLDER = Path(__file__).parents[1] / "docs" / "reference"


def headings(page: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", (FOLDER / page).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", reference.PAGES)
def test_the_page_is_up_to_date(page: str) -> None:
    text = (FOLDER / page).read_text(encoding="utf-8")
    assert text == reference.PAGES[page](), f"{page} is out of date: run make reference"


def test_every_public_name_has_an_entry() -> None:
    assert set(api.names()) <= set(headings("api.md"))
    assert sum(map(len, api.grouped().values())) == len(api.names())


def test_every_command_has_an_entry_with_its_options() -> None:
    page = (FOLDER / "commands.md").read_text(encoding="utf-8")
    for name, command in commands.root().commands.items():
        assert f"driftanchor {name}" in headings("commands.md")
        section = page.partition(f"### driftanchor {name}\n")[2].partition("\n### ")[0]
        options = set(re.findall(r"--[\w-]+", " ".join(re.findall("^- `(.+?)`", section, re.M))))
        for parameter in command.params:
            for option in parameter.opts:
                assert not option.startswith("--") or option in options, (name, option)


def test_every_policy_has_an_entry() -> None:
    assert set(POLICIES) <= set(headings("policies.md"))


def documented(first: int, second: str = "b") -> str:
    """Say one thing.

    And then another, as a formula::

        first = second

    Args:
        first: A number, which takes
            two lines.
        second: A word.

    Returns:
        What it says.

    Example:
        >>> documented(1)
        'b'
    """
    return second


def test_a_docstring_becomes_markdown() -> None:
    assert docstrings.markdown(documented).split("\n\n") == [
        "Say one thing.",
        "And then another, as a formula:",
        "```text\nfirst = second\n```",
        "**Parameters**",
        "- `first`: A number, which takes two lines.\n- `second`: A word.",
        "**Returns**",
        "What it says.",
        "**Example**",
        "```pycon\n>>> documented(1)\n'b'\n```",
    ]


def test_a_signature_is_on_one_line_where_it_fits() -> None:
    assert signatures.shown("it", documented) == "it(first: int, second: str = 'b') -> str"
    long = signatures.shown("it" * 30, documented)
    assert long.splitlines()[1:] == ["    first: int,", "    second: str = 'b',", ") -> str"]
