"""Claims: the paper's checkable sentences, as comparisons of regrets.

A claim is a list of comparisons such as `anchor-ts < 0.5*ts`, made in one or more cells.
`driftanchor.experiments.judging` judges them.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from driftanchor.errors import InvalidInput, UnknownName

STATISTICS = {"mean": None, "median": 0.5, "q90": 0.9, "q99": 0.99}
BEYOND = "beyond the paper"
_KEYS = ("id", "says", "place", "cells", "each", "statistic", "holds", "note", "contradicted_by")
_TERM = re.compile(r"^(?:(?P<factor>\d+(?:\.\d+)?)\*)?(?P<policy>[^@]+?)(?:@(?P<cell>\S+))?$")


@dataclass(frozen=True)
class Term:
    """A factor times a statistic of a policy in a cell; without a policy, a plain number."""

    factor: float
    policy: str
    cell: str


@dataclass(frozen=True)
class Comparison:
    """Left − right, claimed to be below (`sign` −1) or above (+1) zero."""

    text: str
    terms: tuple[Term, ...]
    sign: int


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper in our words, its place, and what it says of the numbers.

    Attributes:
        id: Its name.
        says: The sentence.
        place: Where the paper says it; `BEYOND` if it is ours.
        note: What a reader should know beside the verdict.
        contradicted_by: The id of a claim with which the paper contradicts this one.
        statistic: What is compared: a key of `STATISTICS`.
        comparisons: What it says of the numbers.
    """

    id: str
    says: str
    place: str
    note: str
    contradicted_by: str
    statistic: str
    comparisons: tuple[Comparison, ...]

    @property
    def is_ours(self) -> bool:
        """Whether it is not the paper's."""
        return self.place == BEYOND

    @property
    def whose(self) -> str:
        """Whose it is, as reports say it: claims of each are counted and shown apart."""
        return "of our own" if self.is_ours else "of the paper"


def paper_claims() -> list[Claim]:
    """The claims inside the package."""
    file = resources.files("driftanchor.experiments").joinpath("paper", "claims.toml")
    return parse(file.read_text(encoding="utf-8"), "claims.toml")


def parse(text: str, file: str) -> list[Claim]:
    """The claims of a TOML text."""
    try:
        entries = tomllib.loads(text).get("claim", [])
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{file}: {error}") from error
    claims = [_claim(entry, f"{file}, claim {n}") for n, entry in enumerate(entries, 1)]
    ids = [claim.id for claim in claims]
    for claim_id in ids:
        if ids.count(claim_id) > 1:
            raise InvalidInput(f"{file}: id = {claim_id!r} is given twice")
    return claims


def _claim(entry: Mapping[str, Any], where: str) -> Claim:
    for key, value in entry.items():
        if key not in _KEYS:
            raise InvalidInput(f"{where}: {key} = {value!r}: {UnknownName('key', key, _KEYS)}")
    for key in ("id", "says", "place", "holds"):
        if not entry.get(key):
            raise InvalidInput(f"{where}: {key} is missing")
    statistic = entry.get("statistic", "mean")
    if statistic not in STATISTICS:
        raise InvalidInput(
            f"{where}: statistic = {statistic!r}: {UnknownName('statistic', statistic, STATISTICS)}"
        )
    each = entry.get("each", {})
    cells = entry.get("cells", [""])
    for key, texts in (("holds", entry["holds"]), ("cells", cells)):
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise InvalidInput(f"{where}: {key} = {texts!r}: give a list of texts")
    comparisons = []
    for line, cell in itertools.product(entry["holds"], cells):
        for values in itertools.product(*each.values()):
            filled = dict(zip(each, values, strict=True))
            comparisons.append(_comparison(*_filled(line, cell, filled, where), where))
    return Claim(
        entry["id"],
        entry["says"],
        entry["place"],
        entry.get("note", ""),
        entry.get("contradicted_by", ""),
        statistic,
        tuple(comparisons),
    )


def _filled(line: str, cell: str, words: Mapping[str, str], where: str) -> tuple[str, str]:
    try:
        return line.format(**words), cell.format(**words)
    except (LookupError, ValueError) as error:
        raise InvalidInput(f"{where}: {line!r}: {{…}} must be a word of each: {error}") from error


def _comparison(line: str, cell: str, where: str) -> Comparison:
    sides = re.split(r" ([<>]) ", line)
    if len(sides) != 3:
        raise InvalidInput(f"{where}: holds = {line!r}: write it as 'a < b' or 'a > b'")
    left, sign, right = sides
    terms = [*_side(left, cell, where, 1.0), *_side(right, cell, where, -1.0)]
    return Comparison(line, tuple(terms), -1 if sign == "<" else 1)


def _side(text: str, cell: str, where: str, factor: float) -> list[Term]:
    parts = re.split(r" ([+-]) ", text)
    signs = [1.0, *(1.0 if sign == "+" else -1.0 for sign in parts[1::2])]
    return [
        _term(part.strip(), cell, where, factor * sign)
        for sign, part in zip(signs, parts[::2], strict=True)
    ]


def _term(text: str, cell: str, where: str, factor: float) -> Term:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return Term(factor * float(text), "", "")
    found = _TERM.match(text)
    if not found:
        raise InvalidInput(f"{where}: cannot read {text!r}: write [factor*]policy[@cell]")
    place = found["cell"] or cell
    if not place:
        raise InvalidInput(f"{where}: {text!r} names no cell and the claim has no cells")
    return Term(factor * float(found["factor"] or 1.0), found["policy"], place)
