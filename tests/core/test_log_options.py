from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import get_type_hints

import pytest

from driftanchor.core.log_options import LOG_OPTIONS, LogOption, LogOptions, markdown_table
from driftanchor.logs.query import LogQuery

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "logs.md"


def test_every_option_is_described() -> None:
    assert list(LOG_OPTIONS) == list(get_type_hints(LogOptions))
    for option in LOG_OPTIONS.values():
        assert isinstance(option, LogOption)
        assert option.help.endswith(".")
        assert option.metavar or option.kind == "flag"


@pytest.mark.parametrize("name", LOG_OPTIONS)
def test_a_query_takes_the_option_with_its_default(name: str) -> None:
    fields = {field.name: field for field in dataclasses.fields(LogQuery)}
    default = None if name == "arm" else fields[name].default
    assert default == LOG_OPTIONS[name].default


def test_a_query_takes_no_other_options() -> None:
    names = [field.name for field in dataclasses.fields(LogQuery) if field.init]
    assert names == [*LOG_OPTIONS, "by", "within"]


def test_the_page_shows_the_table() -> None:
    begin, end = "<!-- log options -->\n", "\n<!-- end -->"
    shown = PAGE.read_text().partition(begin)[2].partition(end)[0]
    assert shown == markdown_table(), (
        "copy what driftanchor.core.log_options.markdown_table() gives"
    )
