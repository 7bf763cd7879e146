"""The page of policies: every rule with its formula, parameters and source."""

from collections.abc import Iterator
from typing import Any

from driftanchor.cli.policies import LEGEND, known
from driftanchor.core.promises import ANYTHING
from driftanchor.policies import POLICIES, Policy

HEAD = """# Policies

`driftanchor simulate --policy` takes the names; Python takes the classes. Each class is one file in
`src/driftanchor/policies`. [Which policy?](../how-to/which-policy.md) helps to choose. The page is
generated from the code by `make reference`.
"""


def page() -> str:
    """The whole page."""
    rows = ["| policy | class | uses logs | rewards |", "|---|---|---|---|"]
    rows += [
        f"| [`{name}`](#{name}) | `{cls.__name__}` | {'yes' if cls.uses_logs else 'no'} | "
        f"{_rewards(cls())} |"
        for name, cls in POLICIES.items()
    ]
    sections = ["\n\n".join(_section(name, facts)) for name, facts in known().items()]
    return "\n".join([HEAD, *rows, "", f"{LEGEND}\n", "\n\n".join(sections), ""])


def _rewards(policy: Policy) -> str:
    """The rewards that a policy with its default parameters is made for."""
    return "any" if policy.accepts(ANYTHING) else "from {:g} to {:g}".format(*policy.reward_range)


def _section(name: str, facts: dict[str, Any]) -> Iterator[str]:
    yield f"## {name}"
    yield facts["summary"]
    yield f"```text\nindex = {facts['formula']}\n```"
    parameters = ", ".join(f"`{key}={value!r}`" for key, value in facts["parameters"].items())
    yield f"`{facts['class']}`, with {parameters}."
    yield f"Source: {facts['source']}."
