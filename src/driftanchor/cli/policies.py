"""`driftanchor policies`: the policies and their parameters."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Annotated, Any

import typer

from driftanchor.cli import output
from driftanchor.errors import InvalidInput

LEGEND = (
    "S, T: sum and number of online rewards; m, N: mean and number of logged rewards; V: bias "
    "bound; t: plays; K: arms; a, h: online and hybrid mean; r: radius of a bound; n = T + 1. "
    "Set a parameter with --policy NAME:PARAMETER=VALUE."
)


def policies(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
) -> None:
    """List the policies: formula, parameters with their defaults, source.

    Their names are what 'driftanchor simulate --policy' takes.

    Examples:
      driftanchor policies
      driftanchor policies --json
    """
    if as_json and markdown:
        raise InvalidInput("--json and --markdown are both given: choose one")
    if as_json:
        output.show_json({"policies": known()})
    elif markdown:
        typer.echo(markdown_table())
    else:
        _show()


def known() -> dict[str, dict[str, Any]]:
    """Every policy by name: its class, what it does, formula, source and default parameters."""
    from driftanchor.policies import POLICIES

    return {
        name: {
            "class": cls.__name__,
            "summary": (inspect.getdoc(cls) or "").partition("\n")[0],
            "formula": cls.formula,
            "source": cls.source,
            "parameters": {field.name: field.default for field in dataclasses.fields(cls)},
        }
        for name, cls in POLICIES.items()
    }


def markdown_table() -> str:
    """The policies as a Markdown table, for the documentation."""
    rows = ["| policy | class | index | parameters | source |", "|---|---|---|---|---|"]
    for name, facts in known().items():
        parameters = ", ".join(f"`{pair}`" for pair in _pairs(facts["parameters"]))
        cells = [f"`{name}`", f"`{facts['class']}`", f"`{facts['formula']}`", parameters]
        rows.append(f"| {' | '.join(_cell(text) for text in (*cells, facts['source']))} |")
    return "\n".join(rows)


def _show() -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption=LEGEND, caption_justify="left")
    table.add_column("policy", no_wrap=True)
    table.add_column("", no_wrap=True, style="dim")
    table.add_column("what it is", overflow="fold")
    for name, facts in known().items():
        table.add_row(Text(name, "bold"), "rule", Text(facts["summary"]))
        table.add_row(Text(facts["class"]), "index", Text(facts["formula"]))
        table.add_row("", "parameters", Text(", ".join(_pairs(facts["parameters"]))))
        table.add_row("", "source", Text(facts["source"]), end_section=True)
    output.show_table(table, wrap=True)


def _pairs(parameters: dict[str, Any]) -> list[str]:
    """The parameters as they can be typed."""
    texts = {k: f"{x:g}" if isinstance(x, float) else str(x).lower() for k, x in parameters.items()}
    return [f"{name}={text}" for name, text in texts.items()]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
