"""Try hostile input: `make torture`, or `python -m benchmarks.torture --help`."""

import argparse
import sys
from collections.abc import Callable

from benchmarks.torture import campaign_crowd, campaign_kills, commands, entries, logs
from benchmarks.torture.children import Outcome

Part = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]


def junk(play: Callable[[int, int], Outcome], cases: int) -> Part:
    """A part that plays so many cases of junk, unless another number is asked for."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--cases", type=int, default=cases, help="how many cases")
        parser.add_argument("--seed", type=int, default=0)

    def run(asked: argparse.Namespace) -> int:
        outcome = play(asked.cases, asked.seed)
        print(outcome)
        return 1 if outcome.failures else 0

    return add_arguments, run


PARTS: dict[str, Part] = {
    "logs": (logs.add_arguments, logs.run),
    "commands": junk(commands.run, 3_000),
    "entries": junk(entries.run, 4_000),
    "crowd": (campaign_crowd.add_arguments, campaign_crowd.run),
    "campaigns": (campaign_kills.add_arguments, campaign_kills.run),
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
