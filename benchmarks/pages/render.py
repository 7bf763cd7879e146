"""Measured numbers into pages: what stands between `<!-- measured:name -->` and `<!-- end -->`.

The pages' numbers are never typed in: `measure.py` writes JSON into `measured/`, and this turns it
into tables.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

README = Path(__file__).parents[2] / "README.md"
DOCS = README.parent / "docs"
PICTURES = DOCS / "pictures"
MEASURED = Path(__file__).parent / "measured"
BLOCK = re.compile(r"(<!-- measured:(\S+) -->\n).*?(<!-- end -->)", re.DOTALL)

Block = dict[str, Any]


def pages() -> list[Path]:
    """The pages with measured blocks."""
    every = [README, *sorted(DOCS.rglob("*.md"))]
    return [page for page in every if BLOCK.search(page.read_text())]


def rendered(page: Path) -> str:
    """The page with its blocks made anew from the JSON files."""
    measured = load()

    def fill(match: re.Match[str]) -> str:
        begin, name, end = match.groups()
        return f"{begin}\n{block(measured[name])}\n\n{end}"

    return BLOCK.sub(fill, page.read_text())


def load() -> dict[str, Block]:
    """Every measured block by name."""
    blocks: dict[str, Block] = {}
    for file in sorted(MEASURED.glob("*.json")):
        blocks |= json.loads(file.read_text())
    return blocks


def save(file: str, blocks: dict[str, Block]) -> None:
    """Write blocks where `load` finds them."""
    MEASURED.mkdir(exist_ok=True)
    text = json.dumps(blocks, indent=1, ensure_ascii=False)
    (MEASURED / file).write_text(f"{text}\n")


def block(measured: Block) -> str:
    """One block as Markdown."""
    kinds: dict[str, Callable[[Block], str]] = {
        "readings": _readings,
        "worlds": _worlds,
        "samples": _samples,
        "calibration": _calibration,
        "verdict": _verdict,
        "exactness": _exactness,
        "suite": _suite,
        "table": _table,
        "text": lambda text: str(text["text"]),
    }
    return kinds[measured["kind"]](measured)


def _readings(measured: Block) -> str:
    """Policies by worlds."""
    lines = _head(["", *measured["columns"]])
    for row in measured["rows"]:
        cells = [
            f"{_pm(cell['mean'], cell['se'])} ({cell['median']:,.0f}; {cell['q99']:,.0f})"
            for cell in row["cells"]
        ]
        lines.append(_line([row["label"], *cells]))
        if "difference" in row["cells"][0]:
            cells = [_pm(cell["difference"], cell["difference_se"], "+") for cell in row["cells"]]
            lines.append(_line(["… minus ours, run by run", *cells]))
    note = f"Mean ± standard error (median; 99 % quantile) of {measured['runs']:,} runs"
    return "\n".join([*lines, "", f"{note}; {measured['note']}."])


def _worlds(measured: Block) -> str:
    """Worlds by policies."""
    lines = _head(["", *measured["columns"]])
    for row in measured["rows"]:
        cells = [f"{_pm(cell['mean'], cell['se'])} ({cell['q99']:,.0f})" for cell in row["cells"]]
        lines.append(_line([row["label"], *cells]))
    runs = measured["runs"]
    note = f"Mean ± standard error (99 % quantile) of {runs:,} runs"
    more = f"{measured['more'] * runs:,} where there are two arms; seed {measured['seed']}"
    return "\n".join([*lines, "", f"{note}, {more}."])


def _samples(measured: Block) -> str:
    """What an experiment of few runs would have reported."""
    size = measured["size"]
    lines = _head(
        [
            "setting",
            "all runs",
            "median run",
            f"means of {size} runs, from – to",
            "their standard errors, from – to",
            f"{size} runs put it behind",
        ]
    )
    for row in measured["rows"]:
        lines.append(
            _line(
                [
                    row["label"],
                    _pm(row["mean"], row["se"]),
                    f"{row['median']:,.0f}",
                    f"{row['low']:,.0f} – {row['high']:,.0f}",
                    f"{row['se_low']:,.0f} – {row['se_high']:,.0f}",
                    f"{row['rival']} in {row['behind']} of {row['samples']}",
                ]
            )
        )
    return "\n".join([*lines, "", f"Anchor-TS, {measured['runs']:,} runs; {measured['note']}."])


def _calibration(measured: Block) -> str:
    """Ours against the reference, cell by cell."""
    lines = _head(["logs", "policy", "ours", "reference", "z", "agrees"], words=2)
    for cell in measured["cells"]:
        star = "" if cell["reference_se_noted"] else "*"
        lines.append(
            _line(
                [
                    cell["coverage"],
                    cell["policy"],
                    _pm(cell["mean"], cell["se"]),
                    f"{cell['reference']:,} ± {cell['reference_se']:,.0f}{star}",
                    _signed(cell["z"]),
                    "yes" if cell["agrees"] else "**no**",
                ]
            )
        )
    return "\n".join(lines)


def _verdict(measured: Block) -> str:
    """All cells in two sentences."""
    worst = measured["worst"]
    return (
        f"{measured['agree']} of {measured['cells']} numbers agree within {measured['limit']:g} "
        f"standard errors, from {measured['runs']:,} runs each with seed {measured['seed']}. "
        f"The largest difference is z = {_signed(worst['z'])}: {worst['policy']}, "
        f"{worst['setting'].lower()}, logs {worst['coverage']}. The root of the mean of z² is "
        f"{measured['rms']:.2f}; 1 is what chance gives."
    )


def _table(measured: Block) -> str:
    """A table of ratios with their spread."""
    rule = ["---" if text else "---:" for text in texts(measured)]
    return "\n".join(map(_line, [measured["columns"], rule, *cells(measured)]))


def texts(measured: Block) -> list[bool]:
    """Which columns of such a table are text and not numbers."""
    columns = zip(*(row["cells"] for row in measured["rows"]), strict=True)
    return [True, *(not any(isinstance(cell, dict) for cell in column) for column in columns)]


def cells(measured: Block) -> list[list[str]]:
    """The lines of such a table, cell by cell."""
    return [[row["label"], *map(_ratio, row["cells"])] for row in measured["rows"]]


def _ratio(cell: Any) -> str:
    """A median with its least and most; text as it stands; a dash where nothing was measured."""
    if not isinstance(cell, dict):
        return cell or "–"
    unit = f" {cell['unit']}" if "unit" in cell else ""
    median, low, high = (_digits(cell[x]) for x in ("median", "low", "high"))
    return f"{median}{unit} ({low}–{high})"


def _suite(measured: Block) -> str:
    """Mean and tail of policies, cell by cell."""
    heads = ["cell", "policy", "mean", "median", "90 %", "99 % (interval)", "worst", "stuck, %"]
    lines = _head(heads, words=2)
    for before, row in zip([None, *measured["rows"]], measured["rows"], strict=False):
        same = before is not None and before["cell"] == row["cell"]
        numbers = [f"{row[name]:,.0f}" for name in ("median", "q90", "q99", "max")]
        end = "?" if row["q99_high"] > row["max"] else f"{row['q99_high']:,.0f}"
        numbers[2] += f" ({row['q99_low']:,.0f}–{end})"
        share, low, high = (
            f"{100 * row[name]:.2g}" for name in ("stuck", "stuck_low", "stuck_high")
        )
        cells = [_pm(row["mean"], row["se"]), *numbers, f"{share} ({low}–{high})"]
        lines.append(_line(["" if same else row["cell"], row["policy"], *cells]))
    note = f"{measured['runs']:,} runs of {measured['horizon']:,} rounds; intervals of 95 %"
    if any(row["q99_high"] > row["max"] for row in measured["rows"]):
        note += "; ? is an end beyond the worst run, which this many runs do not show"
    return "\n".join([*lines, "", f"{note}."])


def _digits(x: float) -> str:
    """Three digits, more would be noise; all of a larger number's."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def _head(cells: list[str], words: int = 1) -> list[str]:
    """The first lines of a table whose first `words` columns are text and the rest numbers."""
    return [_line(cells), _line(["---"] * words + ["---:"] * (len(cells) - words))]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _pm(mean: float, se: float, sign: str = "") -> str:
    """Mean ± standard error, with as many digits as the error is good for."""
    digits = 0 if se >= 1 else 1 if se >= 0.1 else 2
    return f"{mean:{sign}z,.{digits}f} ± {se:,.{digits}f}".replace("-", "−")


def _signed(z: float) -> str:
    return f"{z:+z.1f}".replace("-", "−")


def _exactness(measured: Block) -> str:
    """The least chance of each comparison, and what to expect of so many."""
    rows = measured["rows"]
    checks = sum(row["checks"] for row in rows)
    least = min(min(row["regret"], row["pulls"]) for row in rows)
    lines = [
        f"{measured['runs']:,} runs of each engine, {checks:,} checks; the smallest chance is "
        f"{least:.1g}, and {1 / checks:.1g} would be no surprise.",
        "",
        "| setting | rounds | policy | engine | regret | pulls |",
        "|---|--:|---|---|--:|--:|",
    ]
    lines += [
        f"| {row['setting']} | {row['horizon']:,} | {row['policy']} | {row['engine']} "
        f"| {row['regret']:.2g} | {row['pulls']:.2g} |"
        for row in rows
    ]
    return "\n".join(lines)
