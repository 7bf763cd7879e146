"""A command whose options are given once, and are not empty."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand

from driftanchor.cli import option_names, output
from driftanchor.cli.help_text import flowing
from driftanchor.errors import InvalidInput


class Command(TyperCommand):
    """A command that refuses an option that is given twice, of which Typer takes the last."""

    def __init__(self, name: str | None, *, help: str | None = None, **settings: Any) -> None:
        super().__init__(name, help=help and flowing(help), **settings)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; a request for help is answered here."""
        if not ctx.resilient_parsing:  # as in shell completion, where a line is not finished
            values, _, order = self.make_parser(ctx).parse_args(list(args))
            for parameter, times in Counter(order).items():
                _check(parameter, times, values.get(parameter.name))
        with output.to_stdout():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what it warns of names its options."""
        with option_names.command(self.params):
            return super().invoke(ctx)


def _check(parameter: Any, times: int, value: object) -> None:
    is_option = parameter.opts[0].startswith("-")
    name = parameter.opts[0] if is_option else parameter.metavar.rstrip(".")
    if times > 1 and not parameter.multiple:
        raise InvalidInput(f"{name} is given {times} times: give it once")
    if "" in (value if isinstance(value, list | tuple) else [value]):
        remedy = ", or leave the option out" if is_option else ""
        raise InvalidInput(f"{name} is empty: give a value{remedy}")
