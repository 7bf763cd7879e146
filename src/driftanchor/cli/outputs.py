"""Files that commands write: checked before the long work, and written before results are shown."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from driftanchor.cli import output
from driftanchor.errors import DriftanchorError, InvalidInput
from driftanchor.files import are_same, writable


class Wanted(NamedTuple):
    """A file that an option may ask for.

    Attributes:
        option: Such as `"--page"`.
        path: What was typed, if anything.
        suffixes: What its name may end in; none for anything.
    """

    option: str
    path: Path | None
    suffixes: Sequence[str] = ()


def destinations(*wanted: Wanted, reads: Iterable[str] = ()) -> list[Path | None]:
    """Where the files will be written, links followed; `None` for each that is not asked for.

    Args:
        wanted: All files that the command may write.
        reads: Names and patterns of the files that the command reads: none is written over.
    """
    targets = [_target(each) for each in wanted]
    asked = [(each.option, to) for each, to in zip(wanted, targets, strict=True) if to is not None]
    for k, (option, target) in enumerate(asked):
        refuse_inputs(option, [target], reads)
        for other, taken in asked[:k]:
            if are_same(target, taken):
                raise InvalidInput(
                    f"{other} and {option} both name {str(target)!r}: give each its own file"
                )
    return targets


def refuse_inputs(option: str, targets: Iterable[Path], reads: Iterable[str]) -> None:
    """See that nothing is written over what is read, by any of its names."""
    existing = [target for target in targets if target.exists()]
    if not existing:
        return
    for name in (
        each for pattern in reads for each in (pattern, *glob.iglob(pattern, recursive=True))
    ):
        for target in existing:
            if are_same(Path(name), target):
                raise InvalidInput(
                    f"{option} would write over {name!r}, which is read, as {str(target)!r}: name "
                    "another place"
                )


def deliver(
    show: Callable[[], None],
    *files: tuple[Path | None, Callable[[Path], object]],
    quiet: bool,
) -> None:
    """Write files, then show results: a closed pipe costs no file, and a full disk no result.

    Args:
        show: Shows the results.
        files: Where to write, if anywhere, and what writes it.
        quiet: Do not say what was written.
    """
    failed: list[DriftanchorError] = []
    with output.plain_warnings(quiet=quiet):
        for path, write in files:
            if path is not None:
                try:
                    write(path)
                    output.say(f"wrote {path}", quiet=quiet)
                except DriftanchorError as error:
                    failed.append(error)
    try:
        show()
    finally:
        if failed:
            raise failed[0]


def _target(wanted: Wanted) -> Path | None:
    option, path, suffixes = wanted
    if path is None:
        return None
    if suffixes and path.suffix.lower() not in suffixes:
        raise InvalidInput(f"{option} must end in {', '.join(suffixes)}, got {str(path)!r}")
    try:
        return writable(path)
    except InvalidInput as error:
        raise InvalidInput(f"{option} {error}") from error
