import re

import pytest
from typer.testing import CliRunner, Result

from driftanchor.cli.main import app


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "120"})


def plain(text: str) -> str:
    """Text without colours, which typer forces on some build servers."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("arguments", [[], ["simulate"], ["policies"]])
def test_help_has_examples_and_json(arguments: list[str]) -> None:
    done = invoke(*arguments, "--help")
    assert done.exit_code == 0
    for word in ("Examples:", "driftanchor policies", "--json"):
        assert word in plain(done.stdout)
