"""Tables on the terminal, numbers in `pages/measured/bench.json`, the page and its plot."""

import importlib.metadata
import os
import platform

from benchmarks import plot, targets
from benchmarks.pages import render
from benchmarks.tables import Blocks

FILE = "bench.json"
PLOT = render.PICTURES / "benchmarks.svg"


def sitting(rounds: int) -> Blocks:
    """Under which circumstances the numbers came about."""
    versions = [f"{name} {_version(name)}" for name in ("numpy", "numba")]
    python = f"Python {platform.python_version()}"
    text = f"Rounds: {rounds}; {python}, {', '.join(versions)}; {os.cpu_count()} cores."
    return {"bench-sitting": {"kind": "text", "text": text}}


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def show(blocks: Blocks) -> str:
    """Every block as text in columns."""
    return "\n\n".join(_text(block) for block in blocks.values())


def _text(block: render.Block) -> str:
    if block["kind"] == "text":
        return str(block["text"])
    lines = [block["columns"], *render.cells(block)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(block["columns"]))]
    sides = ["<" if text else ">" for text in render.texts(block)]
    aligned = (
        [f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, widths, strict=True)]
        for line in lines
    )
    return "\n".join([block["title"], *("  ".join(cells).rstrip() for cells in aligned)])


def write(blocks: Blocks) -> None:
    """Bring the page up to date: what was not measured now stays as it was."""
    kept = {name: block for name, block in render.load().items() if name.startswith("bench-")}
    blocks = {**kept, **blocks}
    render.save(FILE, {**blocks, **targets.judged(blocks)})
    redraw()


def write_page(name: str, blocks: Blocks) -> None:
    """The numbers of another page, and the page from them."""
    render.save(f"{name}.json", blocks)
    page = render.DOCS / "evidence" / f"{name}.md"
    page.write_text(render.rendered(page))


def redraw() -> None:
    """The page and its plot, from the numbers that are there."""
    plot.draw(render.load(), PLOT)
    for page in render.pages():
        page.write_text(render.rendered(page))
