"""Reproduce: run experiments, judge the claims, and leave everything in one folder."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from driftanchor.core import check
from driftanchor.errors import InvalidInput, require
from driftanchor.experiments import (
    claims,
    csv_export,
    judging,
    manifest,
    report,
    report_html,
    report_markdown,
    spec,
    sweep,
    table_files,
)
from driftanchor.experiments.figures import all_pages
from driftanchor.experiments.figures.print_page import PAGES
from driftanchor.experiments.judging import JudgedClaim
from driftanchor.experiments.outcome import joined
from driftanchor.experiments.reproduction import Reproduction
from driftanchor.experiments.selection import Selection, changes
from driftanchor.files import write_whole

REPORT = "report.html"
MoreRuns = Callable[[int], None]


def run(
    selection: Selection,
    out: Path,
    progress: sweep.Progress | None = None,
    finished: sweep.Finished | None = None,
    more_runs: MoreRuns | None = None,
    cluster: Any = None,
) -> Reproduction:
    """Run what `out` does not hold yet, and judge the claims about it.

    Args:
        selection: What to run.
        out: The folder of everything.
        progress: As for `sweep.run`.
        finished: As for `sweep.run`.
        more_runs: Called before runs are added, with the number of claims that they may decide.
        cluster: As for `sweep.run`.
    """
    check.whole(selection.seed, "seed")
    for name in ("runs", "horizon", "curve_runs"):
        if getattr(selection, name) is not None:
            check.whole(getattr(selection, name), name, low=1)
    require("matplotlib", extra="plot", why="plotting")  # now, and not after the long run
    files = selection.load()
    experiments = selection.apply(files)
    paper = tuple(e.name for e in experiments if selection.is_of_paper(e))
    all_claims, own = claims.paper_claims() if paper else [], selection.own_claims(files)
    known = [*_paper_cells(), *(cell.id for e in files for cell in e.cells)]
    play = functools.partial(
        sweep.run, folder=out / "cells", progress=progress, finished=finished, cluster=cluster
    )

    def judge() -> list[JudgedClaim]:
        measured = {key: x for key, x in outcomes.items() if key[0].partition("/")[0] in paper}
        judged = judging.judge(all_claims, measured, _paper_cells())
        return judged + judging.judge(own, outcomes, known)

    outcomes = play(sweep.jobs(experiments, selection.seed))
    judged = judge()
    for _ in range(1, judging.LOOKS):  # the intervals of quantiles allow no more looks
        wanted = judging.undecided(judged)
        more = sweep.more_runs(experiments, selection.seed, wanted, outcomes, judging.LOOKS)
        if not more:
            break
        if more_runs is not None:
            more_runs(sum(one.verdict == "inconclusive" for one in judged))
        outcomes |= {key: joined([outcomes[key], x]) for key, x in play(more).items()}
        judged = judge()
    done = [one.claim for one in judged]
    return Reproduction(
        tuple(experiments),
        paper,
        outcomes,
        tuple(judged),
        tuple(claim for claim in (*all_claims, *own) if claim not in done),
        selection.seed,
        selection.quick,
        changes(files, experiments),
    )


def _paper_cells() -> list[str]:
    """The ids of all cells of the paper, run or not."""
    return [cell.id for name in spec.paper_experiments() for cell in spec.load(name).cells]


def write(found: Reproduction, out: Path, *, escape_formulas: bool = True) -> Path:
    """Write numbers, tables, figures, claims, reports and manifest; returns the HTML report.

    `escape_formulas` is as for `Result.to_csv`.
    """
    try:
        folders = [out / "figures" / page.folder for page in PAGES]
        for folder in (*folders, out / "results", out / "tables"):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"cannot write to {str(out)!r}: {error}") from error
    files = csv_export.write(found, out / "results", escape_formulas=escape_formulas)
    files += table_files.write(found, out / "tables", escape_formulas=escape_formulas)
    pages = all_pages.draw_all(found.experiments, found.outcomes, out / "figures")
    files += [file for page in pages for file in page.files]
    content = report.build(found, {words.name: words for words in pages[0].words})
    texts = {
        "claims.json": json.dumps(_claims(found), indent=2, allow_nan=False) + "\n",
        "report.md": report_markdown.render(content),
        REPORT: report_html.render(content, out / "figures"),
    }
    for name, text in texts.items():
        files.append(out / name)
        with write_whole(out / name) as scratch:
            scratch.write_text(text, encoding="utf-8")
    manifest.write(found, files, out / "manifest.json")
    return out / REPORT


def _claims(found: Reproduction) -> dict[str, object]:
    return {
        "claims": found.claims(),
        "left_out": [claim.id for claim in found.left_out],
        "seed": found.seed,
        "quick": found.quick,
        "changes": found.changes,
    }
