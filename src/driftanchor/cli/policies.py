"""`driftanchor policies`: the policies and their parameters."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor.cli import output
from driftanchor.errors import InvalidInput
from driftanchor.render import markdown
from driftanchor.render.table import Table

if TYPE_CHECKING:
    from driftanchor.policies import Policy

LEGEND = (
    "S, T: sum and number of online rewards; m, N: mean and number of logged rewards; V: bias "
    "bound; t: plays; n: horizon; K: arms. Set a parameter with --policy NAME:PARAMETER=VALUE."
)


def policies(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a Markdown table.")
    ] = False,
) -> None:
    """List the policies: formula, parameters with their defaults, source.

    Their names are what 'driftanchor simulate --policy' takes. Policies that installed packages
    offer, in the entry point group driftanchor.policies, are listed too.

    Examples:
      driftanchor policies
      driftanchor policies --json
    """
    if as_json and as_markdown:
        raise InvalidInput("--json and --markdown are both given: choose one")
    if as_json:
        output.show_json({"policies": known() | installed()})
    elif as_markdown:
        output.show_line(markdown_table(known() | installed()))
    else:
        output.show_table(_table())


def known() -> dict[str, dict[str, Any]]:
    """Every policy of this package by name: class, summary, formula, source and parameters."""
    from driftanchor.policies import POLICIES

    return {name: _facts(cls) for name, cls in POLICIES.items()}


def installed() -> dict[str, dict[str, Any]]:
    """The same of what installed packages offer; one that cannot be loaded says why."""
    from driftanchor.policies import POLICIES, outside

    found = {}
    for name, points in outside.installed().items():
        if name in POLICIES:
            continue
        try:
            facts = _facts(outside.offered(points))
        except InvalidInput as error:
            facts = {
                "class": points[0].attr,
                "summary": f"cannot be loaded: {error.problem}",
                "formula": "",
                "source": "",
                "parameters": {},
            }
        found[name] = {**facts, "package": ", ".join(map(outside.package_of, points))}
    return found


def _facts(cls: type[Policy]) -> dict[str, Any]:
    return {
        "class": cls.__name__,
        "summary": (inspect.getdoc(cls) or "").partition("\n")[0],
        "formula": getattr(cls, "formula", ""),
        "source": getattr(cls, "source", ""),
        "parameters": {
            field.name: None if field.default is dataclasses.MISSING else field.default
            for field in dataclasses.fields(cls)
        },
    }


def markdown_table(policies: dict[str, dict[str, Any]]) -> str:
    """Policies as a Markdown table."""
    rows = []
    for name, facts in policies.items():
        parameters = ", ".join(f"`{pair}`" for pair in _pairs(facts["parameters"]))
        cells = [f"`{name}`", f"`{facts['class']}`", f"`{facts['formula']}`", parameters]
        rows.append([text.replace("|", "\\|") for text in (*cells, facts["source"])])
    headings = ("policy", "class", "index", "parameters", "source")
    return "\n".join(markdown.grid(headings, rows)).rstrip()


def _table() -> Table:
    rows: list[tuple[str, str, str]] = []
    for name, facts in (known() | installed()).items():
        source = [facts["source"], *([f"package {facts['package']}"] if "package" in facts else [])]
        rows.append((name, "rule", facts["summary"]))
        rows.append((facts["class"], "index", facts["formula"]))
        rows.append(("", "parameters", ", ".join(_pairs(facts["parameters"]))))
        rows.append(("", "source", ", ".join(filter(None, source))))
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
