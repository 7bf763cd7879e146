"""A Google-style docstring as Markdown."""

import inspect
import re
import textwrap
from collections.abc import Iterator

# Sections whose entries are `name: text`, and the heading each gets.
LISTS = {
    "Args": "Parameters",
    "Attributes": "Attributes",
    "Raises": "Raises",
    "Columns": "Columns",
    "Filters": "Filters",
    "Limits": "Limits",
}
TEXTS = {"Returns": "Returns", "Yields": "Yields", "Note": "Note"}
SECTION = re.compile(r"^([A-Z][a-z]+):$")
ENTRY = re.compile(r"^(\*{0,2}\w[\w, ]*?): +(.*)$", re.DOTALL)


def markdown(documented: object) -> str:
    """The docstring of an object as Markdown, or an empty text."""
    text = inspect.getdoc(documented) or ""
    return "\n\n".join(part for part in map(_part, _parts(text)) if part)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """The sections of a docstring, each with its name; what comes first has none."""
    name, lines = "", list[str]()
    for line in text.splitlines():
        heading = SECTION.match(line)
        if heading and heading[1] in {*LISTS, *TEXTS, "Example", "Examples"}:
            yield name, "\n".join(lines)
            name, lines = heading[1], []
        else:
            lines.append(line)
    yield name, "\n".join(lines)


def _part(part: tuple[str, str]) -> str:
    name, body = part
    body = textwrap.dedent(body).strip("\n")
    if name in LISTS:
        return f"**{LISTS[name]}**\n\n{_entries(body)}"
    if name in TEXTS:
        return f"**{TEXTS[name]}**\n\n{_prose(body)}"
    if name:
        return f"**Example**\n\n{_examples(body)}"
    return _prose(body)


def _entries(body: str) -> str:
    """A list of `name: text`; lines that are indented go on with the entry above."""
    entries = re.split(r"\n(?=\S)", body)
    return "\n".join(f"- {_entry(' '.join(entry.split()))}" for entry in entries)


def _entry(text: str) -> str:
    match = ENTRY.match(text)
    return f"`{match[1]}`: {match[2]}" if match else text


def _prose(body: str) -> str:
    """Paragraphs as they stand; what follows `::` is a block of code."""
    paragraphs = re.split(r"\n\s*\n", body)
    shown = []
    for before, paragraph in zip(["", *paragraphs], paragraphs, strict=False):
        if before.endswith("::") or paragraph.startswith("    "):
            shown.append(f"```text\n{textwrap.dedent(paragraph)}\n```")
        else:
            shown.append(re.sub("::$", ":", paragraph))
    return "\n\n".join(shown)


def _examples(body: str) -> str:
    """Prompts as blocks of code, what stands between them as text."""
    paragraphs = re.split(r"\n\s*\n", body)
    return "\n\n".join(
        f"```pycon\n{paragraph}\n```" if paragraph.startswith(">>>") else paragraph
        for paragraph in paragraphs
    )
