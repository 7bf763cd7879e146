"""Measure what the pages say: errata, calibration, engines, choice, suite, intervals and more.

    python -m benchmarks.pages.measure [--runs N] [--seed S] [--render-only] [one of MEASURES]

The same runs and seed give the same files.
"""

import argparse
import sys

from benchmarks.pages import (
    alarm_delays,
    alarms,
    calibration,
    campaigns,
    choice,
    delays,
    errata,
    exactness,
    front,
    identify,
    intervals,
    live_decisions,
    promises,
    render,
    rules,
    suite,
)

MEASURES = {
    "front": front.measure,
    "errata": errata.measure,
    "calibration": calibration.measure,
    "engines": exactness.measure,
    "choice": choice.measure,
    "suite": suite.measure,
    "intervals": intervals.measure,
    "rules": rules.measure,
    "promises": promises.measure,
    "identify": identify.measure,
    "campaigns": campaigns.measure,
    "live": live_decisions.measure,
    "alarms": alarms.measure,
    "delays": delays.measure,
    "alarm_delays": alarm_delays.measure,
}


def main() -> None:
    """Measure what is asked for, then bring the pages up to date."""
    parser = argparse.ArgumentParser(description="Measure what the pages say.")
    parser.add_argument("what", nargs="?", choices=list(MEASURES))
    parser.add_argument("--runs", type=int, default=2_000, help="runs behind each number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--render-only", action="store_true", help="pages from the JSON files")
    asked = parser.parse_args()
    for what, measure in MEASURES.items():
        if not asked.render_only and asked.what in (None, what):
            render.save(f"{what}.json", measure(asked.runs, asked.seed, say))
    for page in render.pages():
        page.write_text(render.rendered(page))


def say(step: str) -> None:
    """Tell people what goes on."""
    print(step, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
