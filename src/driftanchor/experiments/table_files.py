"""The folder of tables: each as LaTeX and Markdown for people, and as CSV for programs."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from driftanchor.experiments import csv_export, number_tables, tail, verdicts
from driftanchor.experiments.experiment import Experiment
from driftanchor.experiments.figures.drawing import names_of
from driftanchor.experiments.reproduction import Reproduction
from driftanchor.files import write_whole
from driftanchor.render import latex, markdown
from driftanchor.render.csv_file import write_csv
from driftanchor.render.table import Table
from driftanchor.simulation.result import STATISTICS

MEANS = ("mean", "se", "runs")
TAILS = (*STATISTICS[2:], *tail.STATISTICS, "runs")
CLAIMS = ("id", "whose", "verdict", "says", "place", "contradicted_by", "statistic")
FINDINGS = ("text", "estimate", "low", "high", "runs", "verdict")


def write(found: Reproduction, folder: Path, *, escape_formulas: bool = True) -> list[Path]:
    """Write the means and tails of each experiment, and the claims; returns the paths.

    `escape_formulas` is as for `Result.to_csv`.
    """
    save = functools.partial(_write, escape_formulas=escape_formulas)
    paths = []
    for experiment in found.experiments:
        for name, table, numbers in (
            ("means", number_tables.means(experiment, found), MEANS),
            ("tails", number_tables.tails(experiment, found), TAILS),
        ):
            heading = ["cell", "cell_in_words", "policy", "policy_in_words", *numbers]
            rows = _numbers(experiment, found, numbers)
            paths += save(folder / f"{experiment.name}-{name}", [table], heading, rows)
    if found.judged:
        heading = [*CLAIMS, *(f"comparison_{name}" for name in FINDINGS)]
        tables = [group.table() for group in verdicts.groups(found)]
        paths += save(folder / "claims", tables, heading, _findings(found))
    return paths


def _write(
    stem: Path,
    tables: Sequence[Table],
    heading: list[str],
    rows: Iterable[list[Any]],
    *,
    escape_formulas: bool,
) -> list[Path]:
    texts = {
        "tex": "\n\n".join("\n".join(latex.table(table)) for table in tables) + "\n",
        "md": "\n".join(
            line for table in tables for line in (f"{table.title}:", "", *markdown.table(table))
        ),
    }
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in (*texts, "csv")]
    for path, text in zip(paths, texts.values(), strict=False):
        with write_whole(path) as scratch:
            scratch.write_text(text, encoding="utf-8")
    write_csv(paths[-1], heading, rows, escape_formulas=escape_formulas)
    return paths


def _numbers(
    experiment: Experiment, found: Reproduction, columns: Sequence[str]
) -> Iterator[list[Any]]:
    names = names_of(experiment.cells)
    for cell in experiment.cells:
        words = number_tables.cell_name(cell, experiment)
        for label, numbers in found.statistics(cell).items():
            values = (_rounded(numbers[name]) for name in columns)
            yield [cell.id, words, label, names[label], *values]


def _findings(found: Reproduction) -> Iterator[list[Any]]:
    for judged in found.judged:
        claim = judged.claim
        start = [claim.id, claim.whose, judged.verdict, claim.says, claim.place]
        for finding in judged.findings:
            values = [_rounded(getattr(finding, name)) for name in FINDINGS]
            yield [*start, claim.contradicted_by, claim.statistic, *values]


def _rounded(value: Any) -> Any:
    return round(value, csv_export.DIGITS) if isinstance(value, float) else value
