"""Measure how fast this is, beside others: `make bench`, or `python -m benchmarks --help`.

Ratios only, from jobs run in turn. A full run writes the page `docs/evidence/benchmarks.md`; with
`--quick`, chosen peers, fewer than three rounds or no Numba, the tables are only printed.
"""

import argparse
import json
import sys
import traceback
import warnings
from collections.abc import Callable

from benchmarks import (
    campaign_memory,
    campaigns,
    engines,
    live,
    logs,
    loop,
    page,
    plan,
    propensities,
    report,
    scale,
    serving,
    startup,
    targets,
)
from benchmarks.clock import say
from benchmarks.engines import has_numba
from benchmarks.peers import PEERS
from benchmarks.peers.compare import against_peers
from benchmarks.tables import Blocks

PARTS = (
    "peers",
    "live",
    "engines",
    "propensities",
    "scale",
    "default",
    "plan",
    "startup",
    "logs",
    "campaigns",
    "serving",
    "page",
)


def main() -> int:
    """Measure what is asked for; 1 when something of ours could not be run."""
    asked = arguments()
    if asked.render_only:
        report.redraw()
        return 0
    full = asked.rounds >= 3 and asked.peers == list(PEERS) and has_numba()
    if not has_numba():
        say(engines.MISSING_NUMBA)
        warnings.simplefilter("ignore")  # said once
    blocks, failed = measure(asked)
    blocks |= targets.judged(blocks)
    print(json.dumps(blocks, ensure_ascii=False) if asked.json else report.show(blocks))
    if full and not failed:
        report.write(blocks)
    return 1 if failed else 0


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=PARTS,
        default=list(PARTS),
        metavar="PART",
        help=f"of {', '.join(PARTS)}",
    )
    parser.add_argument(
        "--peers",
        nargs="+",
        choices=list(PEERS),
        default=list(PEERS),
        metavar="PEER",
        help=f"of {', '.join(PEERS)}",
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often each job is run in turn")
    parser.add_argument("--quick", action="store_true", help="one short round, to see it work")
    parser.add_argument(
        "--long",
        action="store_true",
        help="a million decisions of a campaign",
    )
    parser.add_argument("--json", action="store_true", help="the numbers instead of tables")
    parser.add_argument("--render-only", action="store_true", help="the page from its numbers")
    asked = parser.parse_args()
    if asked.rounds < 1:
        parser.error(f"--rounds must be at least 1, got {asked.rounds}")
    if asked.quick:
        asked.rounds = 1
    return asked


def measure(asked: argparse.Namespace) -> tuple[Blocks, bool]:
    """Every part that is asked for, whatever becomes of the others."""
    rounds, quick = asked.rounds, asked.quick
    c = c_loop()
    decisions = 10**6 if asked.long else 10**4 if quick else 10**5
    steps: dict[str, list[Callable[[], Blocks]]] = {
        "peers": [lambda: against_peers(asked.peers, rounds, 10 if quick else 1)],
        "live": [
            lambda: live.against_peers(asked.peers, rounds, 1_000 if quick else 20_000),
            lambda: live.against_numpy(rounds),
            lambda: live.updates(rounds),
        ],
        "engines": [lambda: engines.against_numpy(rounds)],
        "scale": [
            lambda: scale.against_horizon(rounds, 10**6 if quick else 10**8),
            lambda: scale.against_arms(rounds, 10**3 if quick else 10**4),
            lambda: scale.threads(rounds),
        ],
        "default": [lambda: scale.default_rule(rounds)],
        "plan": [],
        "propensities": [lambda: propensities.against_decisions(rounds)] if has_numba() else [],
        "startup": [lambda: startup.beginnings(rounds)],
        "logs": [lambda: logs.against_duckdb(rounds, 10**5 if quick else 10**7)],
        "campaigns": [
            lambda: campaigns.against_statements(rounds, quick),
            lambda: campaign_memory.flat(decisions),
        ],
        "serving": [lambda: serving.against_empty(rounds, quick)],
        "page": [lambda: page.against_empty_page(rounds, quick)],
    }
    if c is not None:
        steps["engines"].insert(0, lambda: engines.against_c(rounds, c))
        if has_numba():  # interpreted, a plan takes hours
            steps["plan"].append(lambda: plan.defaults(rounds, c, quick=quick))
    blocks = report.sitting(rounds)
    failed = False
    for part in PARTS:
        for step in steps[part] if part in asked.only else []:
            try:
                blocks |= step()
            except Exception:
                traceback.print_exc()
                failed = True
    return blocks, failed


def c_loop() -> loop.Loop | None:
    """The compiled C loop; without a compiler the rest is measured all the same."""
    try:
        return loop.load()
    except loop.NoCompiler as missing:
        say(str(missing))
        return None


if __name__ == "__main__":
    sys.exit(main())
