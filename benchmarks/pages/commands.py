"""The command reference: every command with its usage, its examples and its options."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import typer.main

from driftanchor.cli.main import app

HEAD = """# Commands

What `driftanchor COMMAND --help` says. The page is generated from the code by `make reference`.

Results go to stdout, messages to stderr. Files are written before results are shown, whole or not
at all. Nothing is written over what a command reads, and a file that is replaced keeps its mode. If
nobody reads the results on, as in `driftanchor plan … --page plan.html | head -1`, the command ends
without a message, and its files are there. Every other failure is one line on stderr. An option is
given once, unless it can be repeated, and is not empty. Control characters in names and data are
shown as escapes such as `\\x1b`, and `--json` is strict JSON.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, "\n\n".join(_sections("driftanchor", root(), 2)), ""])


def root() -> Any:
    """The group of all commands."""
    return typer.main.get_command(app)


def _sections(name: str, command: Any, level: int) -> Iterator[str]:
    """A command, and those below it."""
    yield f"{'#' * level} {name}"
    yield _usage(name, command)
    yield from _help(command.help or "")
    yield from _parameters(command)
    for inner, below in getattr(command, "commands", {}).items():
        yield from _sections(f"{name} {inner}", below, level if level > 2 else 3)


def _usage(name: str, command: Any) -> str:
    if hasattr(command, "commands"):
        return f"```text\n{name} COMMAND [OPTIONS]\n```"
    words = [p.metavar or p.name.upper() for p in command.params if not _is_option(p)]
    needed = [_spelled(p) for p in command.params if _is_option(p) and p.required]
    return f"```text\n{' '.join([name, *words, *needed, '[OPTIONS]'])}\n```"


def _help(text: str) -> Iterator[str]:
    """Paragraphs, and the examples as a block of code."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if paragraph.startswith("Examples:"):
            lines = [line[2:] for line in paragraph.splitlines()[1:]]
            yield "```sh\n" + "\n".join(lines).replace("\n  ", " \\\n    ") + "\n```"
        else:
            yield paragraph


def _parameters(command: Any) -> Iterator[str]:
    """Arguments first, then options by panel, in the order of the help."""
    arguments = [p for p in command.params if not _is_option(p) and not p.hidden]
    if arguments:
        yield "\n".join(_line(parameter) for parameter in arguments)
    options = [p for p in command.params if _is_option(p) and not p.hidden]
    panels = list(dict.fromkeys(p.rich_help_panel or "Options" for p in options))
    options.sort(key=lambda p: panels.index(p.rich_help_panel or "Options"))
    for panel, members in groupby(options, key=lambda p: p.rich_help_panel or "Options"):
        yield f"**{panel}**"
        yield "\n".join(_line(parameter) for parameter in members)


def _line(parameter: Any) -> str:
    notes = [note for note in (_needed(parameter), _default(parameter)) if note]
    more = f" ({'; '.join(notes)})" if notes else ""
    return f"- `{_spelled(parameter)}`: {(parameter.help or '').removesuffix('.')}{more}."


def _spelled(parameter: Any) -> str:
    """An option as it is typed, an argument by its name."""
    if not _is_option(parameter):
        return str(parameter.metavar or parameter.name.upper())
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    if parameter.is_flag:
        return names
    return f"{names} {parameter.metavar or 'VALUE'}"


def _needed(parameter: Any) -> str:
    often = "can be repeated" if getattr(parameter, "multiple", False) else ""
    return "needed" if parameter.required and _is_option(parameter) else often


def _default(parameter: Any) -> str:
    """What holds when the option is not given, where help says it too."""
    if isinstance(parameter.show_default, str):
        return f"default: {parameter.show_default}"
    value = parameter.default
    if not _is_option(parameter) or parameter.is_flag or value is None or value == ():
        return ""
    return f"default: `{value}`"


def _is_option(parameter: Any) -> bool:
    return bool(parameter.opts[0].startswith("-"))
