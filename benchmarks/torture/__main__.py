"""Try hostile input: `make torture`, or `python -m benchmarks.torture --help`.

A part that runs in full writes its counts into `docs/evidence/torture.md`; a shorter one only
prints them.
"""

import argparse
import sys
from collections.abc import Callable

from benchmarks.torture import (
    campaign_crowd,
    campaign_kills,
    commands,
    entries,
    logs,
    memory,
    page,
    serve_bytes,
    serve_cases,
    serve_kills,
)
from benchmarks.torture.children import Outcome

AddArguments = Callable[[argparse.ArgumentParser], None]
Part = tuple[AddArguments, Callable[[argparse.Namespace], int]]


def files(most: int) -> Part:
    """The part that compares two readers of logs."""

    def run(asked: argparse.Namespace) -> int:
        outcomes, failures = logs.run(asked)
        if asked.only is None and asked.files >= most:
            page.write({"torture-logs": page.of_logs(outcomes, len(failures), asked.seed)})
        return 1 if failures else 0

    return lambda parser: logs.add_arguments(parser, most), run


def junk(name: str, play: Callable[[int, int], Outcome], most: int) -> Part:
    """A part that plays so many cases of junk, unless another number is asked for."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--cases", type=int, default=most, help="how many cases")
        parser.add_argument("--seed", type=int, default=0)

    def run(asked: argparse.Namespace) -> int:
        outcome = play(asked.cases, asked.seed)
        print(outcome)
        if asked.cases >= most:
            page.write({f"torture-{name}": page.of_junk(outcome, asked.seed)})
        return 1 if outcome.failures else 0

    return add_arguments, run


def peaks() -> Part:
    """The part that measures memory."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--scale", type=float, default=1.0, help="size of the files")

    def run(asked: argparse.Namespace) -> int:
        found = memory.measure(asked.scale)
        if asked.scale >= 1:
            page.write({"torture-memory": page.of_memory(found)})
        return 0

    return add_arguments, run


PARTS: dict[str, Part] = {
    "logs": files(2_000),
    "commands": junk("commands", commands.run, 3_000),
    "entries": junk("entries", entries.run, 4_000),
    "memory": peaks(),
    "crowd": (campaign_crowd.add_arguments, campaign_crowd.run),
    "campaigns": (campaign_kills.add_arguments, campaign_kills.run),
    "bytes": junk("bytes", serve_bytes.run, 5_000),
    "serve": (serve_kills.add_arguments, serve_kills.run),
    "requests": (serve_cases.add_arguments, serve_cases.run),
}


def main() -> int:
    """Run one part, or all of them; 1 if something fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.torture", description=__doc__)
    parts = parser.add_subparsers(dest="part", metavar="PART")
    for name, (add_arguments, _) in PARTS.items():
        add_arguments(parts.add_parser(name))
    asked = parser.parse_args()
    chosen = list(PARTS) if asked.part is None else [asked.part]
    every = [asked if asked.part else parser.parse_args([name]) for name in chosen]
    return max(PARTS[one.part][1](one) for one in every)


if __name__ == "__main__":
    sys.exit(main())
