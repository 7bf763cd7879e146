"""`driftanchor policies`: the policies and their parameters."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Annotated, Any

import typer

from driftanchor.cli import output
from driftanchor.errors import InvalidInput
from driftanchor.render import markdown
from driftanchor.render.table import Table

LEGEND = (
    "S, T: sum and number of online rewards; m, N: mean and number of logged rewards; V: bias "
    "bound; t: plays; K: arms; a, h: online and hybrid mean; r: radius of a bound; n = T + 1. "
    "Set a parameter with --policy NAME:PARAMETER=VALUE."
)


def policies(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a Markdown table.")
    ] = False,
) -> None:
    """List the policies: formula, parameters with their defaults, source.

    Their names are what 'driftanchor simulate --policy' takes.

    Examples:
      driftanchor policies
      driftanchor policies --json
    """
    if as_json and as_markdown:
        raise InvalidInput("--json and --markdown are both given: choose one")
    if as_json:
        output.show_json({"policies": known()})
    elif as_markdown:
        output.show_line(markdown_table())
    else:
        output.show_table(_table())


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
    rows = []
    for name, facts in known().items():
        parameters = ", ".join(f"`{pair}`" for pair in _pairs(facts["parameters"]))
        cells = [f"`{name}`", f"`{facts['class']}`", f"`{facts['formula']}`", parameters]
        rows.append([text.replace("|", "\\|") for text in (*cells, facts["source"])])
    headings = ("policy", "class", "index", "parameters", "source")
    return "\n".join(markdown.grid(headings, rows)).rstrip()


def _table() -> Table:
    rows: list[tuple[str, str, str]] = []
    for name, facts in known().items():
        rows.append((name, "rule", facts["summary"]))
        rows.append((facts["class"], "index", facts["formula"]))
        rows.append(("", "parameters", ", ".join(_pairs(facts["parameters"]))))
        rows.append(("", "source", facts["source"]))
    return Table(
        "",
        ("policy", "", "what it is"),
        tuple(rows),
        note=LEGEND,
        text=frozenset({0, 1, 2}),
        breaks=frozenset(range(3, len(rows), 4)),
    )


def _pairs(parameters: dict[str, Any]) -> list[str]:
    """The parameters as they can be typed."""
    texts = {k: f"{x:g}" if isinstance(x, float) else str(x).lower() for k, x in parameters.items()}
    return [f"{name}={text}" for name, text in texts.items()]
