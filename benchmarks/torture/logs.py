"""Reads damaged logs with the package and with a plain reader, and compares all the numbers.

A file passes if both refuse it, or if both find the same rows: as many read and rejected, and for
each arm as many used, with the same sum.
"""

import argparse
import math
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

from benchmarks.clock import say
from benchmarks.torture import log_writer, plain_reader
from benchmarks.torture.log_writer import Case
from benchmarks.torture.plain_reader import Found, Refused
from driftanchor import DriftanchorError, read_logs

EVERY = 200  # files between two lines about the progress
# After a flipped byte two readers may differ about what is JSON, or what a Parquet page says:
# then only the number of rows is compared.
GUESSWORK = {"jsonl": {"flip"}, "parquet": {"packed flip", "packed tail"}}


def add_arguments(parser: argparse.ArgumentParser, files: int) -> None:
    """What can be asked for; so many `files` unless another number is."""
    parser.add_argument("--files", type=int, default=files, help="how many files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of one file, to look at it")
    parser.add_argument("--keep", type=Path, help="a folder for the files that fail")


def run(asked: argparse.Namespace) -> tuple[Counter[str], dict[int, str]]:
    """Try the files and print what came of them; see `torture`."""
    numbers = range(asked.files) if asked.only is None else [asked.only]
    outcomes, failures = torture(asked.seed, numbers, asked.keep)
    for number, problem in failures.items():
        print(f"file {number} of seed {asked.seed}: {problem}")
    told = ", ".join(f"{n:,} {outcome}" for outcome, n in outcomes.most_common())
    print(f"{len(numbers):,} files: {told or 'nothing'}; {len(failures):,} failed")
    return outcomes, failures


def torture(
    seed: int, numbers: range | list[int], keep: Path | None = None
) -> tuple[Counter[str], dict[int, str]]:
    """How many files ended how, and what is wrong with those that failed."""
    outcomes, failures = Counter[str](), dict[int, str]()
    with tempfile.TemporaryDirectory() as name:
        for i, number in enumerate(numbers):
            case = log_writer.write(Path(name), seed, number)
            outcome, problem = compare(case)
            if problem:
                failures[number] = f"{problem} ({case.format}: {', '.join(case.damage) or 'whole'})"
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / case.path.name).write_bytes(case.path.read_bytes())
            else:
                outcomes[outcome] += 1
            case.path.unlink()
            if (i + 1) % EVERY == 0:
                say(f"{i + 1:,} files, {len(failures):,} failed")
    return outcomes, failures


def compare(case: Case) -> tuple[str, str]:
    """How a file ended, and the difference between the two readers; none if all is well."""
    expected = _plain(case)
    ours = _ours(case.path)
    if isinstance(ours, str) and not ours.startswith("refused: "):
        return "", ours
    guesswork = bool(GUESSWORK.get(case.format, set()) & set(case.damage))
    if isinstance(ours, str) or isinstance(expected, str):
        both = isinstance(ours, str) and isinstance(expected, str)
        if both or (guesswork and case.format == "parquet"):
            return "refused", ""
        if guesswork:
            return "read with guesswork", ""
        return "", f"plain reader {_shown(expected)}, ours {_shown(ours)}"
    if ours.read != expected.read or (not guesswork and ours.rejected != expected.rejected):
        return "", f"plain reader {_shown(expected)}, ours {_shown(ours)}"
    if guesswork:
        return "read with guesswork", ""
    if ours.n != expected.n:
        return "", f"rows by arm: {dict(expected.n)} and {dict(ours.n)}"
    for arm, total in expected.sums.items():
        if not math.isclose(total, ours.sums[arm], rel_tol=1e-9, abs_tol=1e-6):
            return "", f"sum of {arm!r}: {total} and {ours.sums[arm]}"
    return "read, some rows rejected" if ours.rejected else "read", ""


def _plain(case: Case) -> Found | str:
    try:
        return plain_reader.read(case.path, case.format)
    except Refused as error:
        return f"refused: {error}"


def _ours(path: Path) -> Found | str:
    """What the package finds; a message that starts with "refused" if it refuses the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            summary = read_logs(path, arm="arm", reward="reward", allow_rejects=True)
    except DriftanchorError as error:
        return f"refused: {error}"
    except Exception:
        return traceback.format_exc()
    arms = {label: arm for label, arm in summary.arms.items() if arm.n}
    told = summary.provenance
    found = Found(sum(n for _, n in told.rows_rejected))
    found.n.update({label: arm.n for label, arm in arms.items()})
    found.sums.update({label: arm.n * arm.mean for label, arm in arms.items()})
    if (told.rows_read, told.rows_used) != (found.read, sum(found.n.values())):
        return f"{told.rows_read} rows read, and {found.read} accounted for"
    return found


def _shown(found: Found | str) -> str:
    if isinstance(found, str):
        return found[:300]
    return f"read {found.read} rows and rejected {found.rejected}"
