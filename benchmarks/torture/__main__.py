"""Try hostile input: `make torture`, or `python -m benchmarks.torture --help`."""

import argparse
import sys
from collections.abc import Callable

from benchmarks.torture import logs

Part = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]
PARTS: dict[str, Part] = {"logs": (logs.add_arguments, logs.run)}


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
