"""What we set out to reach, and whether the tables show it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.campaign_memory import GROWTH as MEMORY_GROWTH
from benchmarks.campaign_memory import PLAYED
from benchmarks.campaigns import ARMS as CAMPAIGN_ARMS
from benchmarks.campaigns import OVER_BARE as OVER_STATEMENTS
from benchmarks.campaigns import ask_label, reward_label
from benchmarks.clock import Cell
from benchmarks.engines import OVER_C
from benchmarks.live import arms_label, over
from benchmarks.logs import KINDS, OVER_DUCKDB, PEAK
from benchmarks.peers.compare import column, label
from benchmarks.peers.live import ARMS
from benchmarks.plan import CPU as PLAN_CPU
from benchmarks.plan import USUAL, row
from benchmarks.scale import GROWTH, TWO_THREADS
from benchmarks.serving import MOST as MOST_CLIENTS
from benchmarks.serving import RATE as OVER_EMPTY
from benchmarks.serving import label as serving_label
from benchmarks.startup import CPU as STARTUP_CPU
from benchmarks.startup import DEFAULT, first_run
from benchmarks.tables import Blocks, table


class Target(NamedTuple):
    """A number of a table, and the limit it should keep."""

    text: str
    block: str
    row: str
    column: str
    limit: float
    at_least: bool = True


TARGETS = (
    *(
        Target(
            f"{policy.upper()}: times as fast as {label('pymab')}",
            "bench-peers",
            label("pymab"),
            column(policy, "auto"),
            150.0,
        )
        for policy in ("ts", "ucb")
    ),
    Target("`every-round`: time over the C loop's", "bench-c", "every-round", OVER_C, 1.4, False),
    Target("`events`: cost of 10⁶ rounds over 10⁴", "bench-horizon", "events", GROWTH, 5.0, False),
    *(
        Target(
            f"live decision of {arms} arms: time over {label('river')}",
            "bench-live",
            arms_label(arms),
            over("river"),
            1.5,
            False,
        )
        for arms in ARMS
    ),
    *(
        Target(f"{first}: CPU time", "bench-startup", first, STARTUP_CPU, 10_000.0, False)
        for first in (first_run("every-round"), first_run("events"), DEFAULT)
    ),
    *(
        Target(
            f"10 million rows of {kind}: time over DuckDB's",
            "bench-logs",
            kind,
            OVER_DUCKDB,
            1.3,
            False,
        )
        for kind in KINDS
    ),
    *(
        Target(f"10 million rows of {kind}: peak memory", "bench-logs", kind, PEAK, 500.0, False)
        for kind in KINDS
    ),
    *(
        Target(
            f"{store}: rewards, speed over the bare statements",
            "bench-campaigns",
            reward_label(store),
            OVER_STATEMENTS,
            0.6,
        )
        for store in ("SQLite", "PostgreSQL")
    ),
    *(
        Target(
            f"{store}: durable `ask` of {arms:,} arms, speed over the bare statements",
            "bench-campaigns",
            ask_label(store, arms),
            OVER_STATEMENTS,
            0.4,
        )
        for store in ("SQLite", "PostgreSQL")
        for arms in CAMPAIGN_ARMS
    ),
    Target(
        "memory of a campaign: at the end over a tenth of the way",
        "bench-campaign-memory",
        PLAYED,
        MEMORY_GROWTH,
        1.1,
        False,
    ),
    *(
        Target(
            f"{store}: `{kind}` over HTTP, {MOST_CLIENTS} clients: rate over an empty endpoint's",
            "bench-serving",
            serving_label(store, kind, MOST_CLIENTS),
            OVER_EMPTY,
            limit,
        )
        for store in ("SQLite", "PostgreSQL")
        for kind, limit in (("ask", 0.4), ("tell", 0.4))
    ),
    Target(
        "`plan` with defaults, four arms: CPU time, for 10 s on two cores",
        "bench-plan",
        row(USUAL),
        PLAN_CPU,
        20.0,
        False,
    ),
    Target("two threads: times as fast as one", "bench-threads", "every-round", TWO_THREADS, 1.7),
)


def judged(blocks: Mapping[str, Any]) -> Blocks:
    """Every target with what was measured for it."""
    rows = {}
    for target in TARGETS:
        cell = found(blocks, target)
        sign = "≥" if target.at_least else "≤"
        unit = f" {cell['unit']}" if cell and "unit" in cell else ""
        rows[target.text] = [f"{sign} {target.limit:g}{unit}", cell, verdict(target, cell)]
    columns = ["one core, K = 10, 10,000 rounds unless said", "target", "measured", "verdict"]
    return table("bench-targets", "Targets", columns, rows)


def found(blocks: Mapping[str, Any], target: Target) -> Cell | None:
    """The cell that a target is about, where it was measured."""
    block = blocks.get(target.block)
    if block is None or target.column not in block["columns"]:
        return None
    position = block["columns"].index(target.column) - 1  # the first column is the rows' labels
    cells = (row["cells"][position] for row in block["rows"] if row["label"] == target.row)
    return next(cells, None)


def verdict(target: Target, cell: Cell | None) -> str:
    """By the median: a single round may be disturbed."""
    if cell is None:
        return "not measured"
    kept = cell["median"] >= target.limit if target.at_least else cell["median"] <= target.limit
    return "met" if kept else "missed"
