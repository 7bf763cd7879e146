"""Reads lines of `decision,reward` and reports them to a campaign in batches."""

from __future__ import annotations

import contextlib
import io
import itertools
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from driftanchor.cli import parse
from driftanchor.errors import (
    DriftanchorError,
    InvalidInput,
    StoreUnavailable,
    excerpt,
)

if TYPE_CHECKING:
    from driftanchor.live.campaigns.campaign import Campaign

AT_ONCE = 500  # lines of one transaction
LONGEST = 1_000  # characters of a line
HEADINGS = ("decision,", "decision_id,", "id,")  # what the first line of a file may begin with


@dataclass(frozen=True, slots=True)
class RewardLine:
    """What happened to one line.

    Attributes:
        number: Its number in the file.
        decision_id: The decision.
        status: That of the receipt, or `"refused"`.
        arm: The arm of the decision, if the line is not refused.
        reward: The reward that counts, if any.
        error: Why it is refused.
        code: The exit code that this error has for a single reward.
    """

    number: int
    decision_id: str
    status: str
    arm: str | None = None
    reward: float | None = None
    error: str | None = None
    code: int = 0

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        known = {"line": self.number, "decision_id": self.decision_id, "status": self.status}
        if self.error is not None:
            return {**known, "error": self.error, "code": self.code}
        return {**known, "arm": self.arm, "reward": self.reward}


@contextlib.contextmanager
def lines_of(path: str) -> Iterator[Iterable[str]]:
    """The lines of a file, or of stdin for `-`; bytes that are no text are kept apart."""
    if path == "-":
        raw = getattr(sys.stdin, "buffer", None)
        if raw is None:
            yield sys.stdin
        else:
            yield io.TextIOWrapper(raw, "utf-8", "backslashreplace")
        return
    try:
        with open(path, encoding="utf-8", errors="backslashreplace") as file:
            yield file
    except OSError as error:
        raise InvalidInput(f"--file cannot read {path!r}: {error.strerror or error}") from error


def tell_lines(
    campaign: Campaign, lines: Iterable[str], *, allow_outside: bool = False
) -> list[RewardLine]:
    """Report all lines and return the outcome of each; skip empty lines and the header."""
    done: list[RewardLine] = []
    numbered = ((i, text.strip()) for i, text in enumerate(lines, 1))
    filled = ((i, text) for i, text in numbered if text and not _is_heading(i, text))
    while chunk := list(itertools.islice(filled, AT_ONCE)):
        try:
            done += _told(campaign, [_read(i, text) for i, text in chunk], allow_outside)
        except StoreUnavailable as error:
            before = f"the first {len(done):,} lines are recorded: " if done else ""
            raise StoreUnavailable(f"{error}; {before}give the same file again later") from error
    return done


def _is_heading(number: int, text: str) -> bool:
    return number == 1 and text.lower().startswith(HEADINGS)


def _read(number: int, text: str) -> RewardLine | tuple[int, str, float]:
    """The number, the decision and the reward of a line; or why it is refused."""
    decision, comma, reward = (part.strip().strip('"') for part in text.partition(","))
    try:
        if not comma or not decision or len(text) > LONGEST or not text.isprintable():
            raise InvalidInput(f"must be decision,reward, got {excerpt(text)!r}")
        return number, decision, parse.number(reward, "the reward")
    except InvalidInput as error:
        return _refused(number, excerpt(decision), error)


def _told(
    campaign: Campaign, read: list[RewardLine | tuple[int, str, float]], allow_outside: bool
) -> list[RewardLine]:
    """Report the lines that could be parsed; return the outcome of every line, in order."""
    pairs = [(x[1], x[2]) for x in read if not isinstance(x, RewardLine)]
    answers = iter(campaign.tell_many(pairs, allow_outside=allow_outside) if pairs else [])
    done = []
    for one in read:
        if isinstance(one, RewardLine):
            done.append(one)
            continue
        answer = next(answers)
        if isinstance(answer, DriftanchorError):
            done.append(_refused(one[0], one[1], answer))
        elif isinstance(answer, Exception):
            raise answer
        else:
            done.append(RewardLine(one[0], one[1], answer.status, answer.arm, answer.reward))
    return done


def _refused(number: int, decision: str, error: DriftanchorError) -> RewardLine:
    return RewardLine(number, decision, "refused", error=str(error), code=error.exit_code)
