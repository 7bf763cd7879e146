"""The counts of `docs/evidence/torture.md`, from what the parts found."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from benchmarks.pages import render
from benchmarks.torture.campaign_kills import Outcome as Kills
from benchmarks.torture.children import LIMIT, Outcome
from benchmarks.torture.memory import MB, Peak

FILE = "torture.json"
NAME = "evidence/torture.md"
LONGEST = 120  # characters of a case on the page


def of_logs(outcomes: Counter[str], failed: int, seed: int) -> render.Block:
    """How many files ended how."""
    every = {**dict(outcomes.most_common()), "**the two readers differ**": failed}
    rows = [{"label": outcome, "cells": [f"{n:,}"]} for outcome, n in every.items()]
    total = {"label": f"all, seed {seed}", "cells": [f"{sum(every.values()):,}"]}
    return {"kind": "table", "columns": ["what came of it", "files"], "rows": [*rows, total]}


def of_junk(outcome: Outcome, seed: int) -> render.Block:
    """How many cases failed, and the slowest."""
    seconds, which = outcome.slowest
    case = which[:LONGEST].replace("`", "'") + ("…" if len(which) > LONGEST else "")
    text = (
        f"{outcome.cases:,} cases of seed {seed}: {len(outcome.failures):,} failed, of which "
        f"{outcome.slow:,} took more than {LIMIT:g} s. The slowest took {seconds:.1f} s of the "
        f"processor:\n\n```text\n{case}\n```"
    )
    return {"kind": "text", "text": text}


def of_kills(outcomes: Mapping[str, Kills]) -> render.Block:
    """A row for each kind of kill."""
    rows = [
        {
            "label": what,
            "cells": [
                f"{found.kills:,}",
                f"{found.acknowledged:,}",
                f"{len(found.lost):,}",
                f"{found.doubled:,}",
                f"{found.slowest:.1f} s",
            ],
        }
        for what, found in outcomes.items()
    ]
    counts = ["kills", "acknowledged", "lost", "doubled", "working again after at most"]
    return {"kind": "table", "columns": ["what was killed", *counts], "rows": rows}


def of_requests(outcomes: Mapping[str, Outcome], seed: int) -> render.Block:
    """How many requests were tried, and how many were answered wrongly."""
    rows = [
        {"label": what, "cells": [f"{found.cases:,}", f"{len(found.failures):,}"]}
        for what, found in outcomes.items()
    ]
    columns = [f"requests of seed {seed}", "tried", "answered otherwise than documented"]
    return {"kind": "table", "columns": columns, "rows": rows}


def of_memory(peaks: Sequence[Peak]) -> render.Block:
    """A row for each file."""
    rows = [
        {
            "label": peak.file,
            "cells": [
                _size(peak.size),
                peak.limit.replace("MB", " MB"),
                f"{peak.peak / MB:,.0f} MB",
                peak.outcome,
            ],
        }
        for peak in peaks
    ]
    columns = ["file", "size", "limit", "peak", "what came of it"]
    return {"kind": "table", "columns": columns, "rows": rows}


def _size(size: int) -> str:
    return f"{size / MB:,.1f} MB" if size >= MB else f"{size / 1e3:,.1f} KB"


def write(blocks: dict[str, render.Block]) -> None:
    """Put blocks in the place of those of the same names, and bring the page up to date."""
    file = render.MEASURED / FILE
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    render.save(FILE, before | blocks)
    page = render.DOCS / NAME
    page.write_text(render.rendered(page), encoding="utf-8")
