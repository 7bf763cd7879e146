"""Claims: checkable sentences of the paper, or of a user, as comparisons of regrets.

A claim is a list of comparisons such as `anchor-ts < 0.5*ts`, made in one or more cells.
`driftanchor.experiments.judging` judges them.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from driftanchor.errors import InvalidInput, UnknownName

STATISTICS = {"mean": None, "median": 0.5, "q90": 0.9, "q99": 0.99}
BEYOND = "beyond the paper"
WHOSE = {
    "paper": "of the paper",
    "package": "of this package, beyond the paper",
    "user": "of your own",
}
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

    @property
    def patterns(self) -> list[str]:
        """The patterns among its cells, such as `fig1/*`, each once."""
        return list(dict.fromkeys(term.cell for term in self.terms if "*" in term.cell))


@dataclass(frozen=True)
class Claim:
    """A sentence, its place in the paper, and what it says of the numbers.

    Attributes:
        id: Its name.
        says: The sentence.
        place: Where the paper says it; `BEYOND` if it is this package's.
        note: What a reader should know beside the verdict.
        contradicted_by: The id of a claim with which the paper contradicts this one.
        statistic: What is compared: a key of `STATISTICS`.
        comparisons: What it says of the numbers.
        file: The file of a claim of the user's; it is also its place unless another is given.
    """

    id: str
    says: str
    place: str
    note: str
    contradicted_by: str
    statistic: str
    comparisons: tuple[Comparison, ...]
    file: str = ""

    @property
    def whose(self) -> str:
        """Who claims it: a key of `WHOSE`."""
        if self.file:
            return "user"
        return "package" if self.place == BEYOND else "paper"


def paper_claims() -> list[Claim]:
    """The claims inside the package."""
    file = resources.files("driftanchor.experiments").joinpath("paper", "claims.toml")
    return parse(file.read_text(encoding="utf-8"), "claims.toml")


def parse(text: str, file: str) -> list[Claim]:
    """The claims of a TOML text, each of which names its place."""
    return _claims(_table(text, file).get("claim", []), file)


def parse_own(text: str, file: str) -> list[Claim]:
    """The claims of a file of a user's that holds nothing else."""
    table = _table(text, file)
    for key in table:
        if key != "claim":
            raise InvalidInput(f"{file}: {UnknownName('key', key, ['claim'])}")
    return own(table.get("claim"), file)


def own(entries: object, file: str, cells: Sequence[str] = ()) -> list[Claim]:
    """The claims of a user.

    Args:
        entries: What stands in the file under `[[claim]]`.
        file: Its name.
        cells: The ids of the cells that a claim is about which names none.
    """
    tables = isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)
    if not isinstance(entries, list) or not tables:
        raise InvalidInput(f"{file}: write claims as [[claim]], with id, says and holds")
    name = Path(file).name  # reports do not tell where it lies
    unsaid: dict[str, Any] = {"place": name, **({"cells": list(cells)} if cells else {})}
    return [replace(claim, file=name) for claim in _claims([unsaid | x for x in entries], file)]


def check_names(claims: Iterable[Claim], policies: Mapping[str, Collection[str]]) -> None:
    """Refuse claims about cells or policies that are nowhere: a slip would leave them out.

    Args:
        claims: What is claimed.
        policies: The labels of the policies of every cell, by the id of the cell.
    """
    for claim in claims:
        where = f"{claim.file}, claim {claim.id!r}"
        for c in claim.comparisons:
            _check_patterns(c, policies, where)
        for term in (term for c in claim.comparisons for term in c.terms if term.policy):
            cells = matches(term.cell, policies).values() if "*" in term.cell else [term.cell]
            for cell in cells or [term.cell]:
                if cell not in policies:
                    raise InvalidInput(f"{where}: {UnknownName('cell', cell, policies)}")
                if term.policy not in policies[cell]:
                    kind = f"policy of cell {cell!r}"
                    problem = UnknownName(kind, term.policy, policies[cell])
                    raise InvalidInput(f"{where}: {problem}")


def matches(pattern: str, cells: Iterable[str]) -> dict[tuple[str, ...], str]:
    """The cells that a pattern stands for, by what each `*` stands for.

    Example:
        >>> matches("a/n=*", ["a/n=1", "a/n=20", "b/n=1"])
        {('1',): 'a/n=1', ('20',): 'a/n=20'}
    """
    wanted = re.compile("(.*)".join(map(re.escape, pattern.split("*"))))
    found = ((wanted.fullmatch(cell), cell) for cell in cells)
    return {match.groups(): cell for match, cell in found if match}


def filled(pattern: str, words: Iterable[str]) -> str:
    """Return the pattern with each `*` replaced by the next word.

    Example:
        >>> filled("a/n=*", ["20"])
        'a/n=20'
    """
    parts = pattern.split("*")
    return "".join(itertools.chain(*itertools.zip_longest(parts, words, fillvalue="")))


def _check_patterns(c: Comparison, cells: Collection[str], where: str) -> None:
    """Refuse a comparison if one pattern matches a cell for which the other has no partner."""
    found = {pattern: matches(pattern, cells) for pattern in c.patterns}
    for one, other in itertools.permutations(found, 2):
        for words, cell in found[one].items():
            if found[other] and words not in found[other]:
                stands = ", ".join(map(repr, words))
                raise InvalidInput(
                    f"{where}: {c.text!r} compares {one!r} with {other!r} cell by cell, * standing "
                    f"for the same text in both: in {cell!r} it stands for {stands}, and "
                    f"{other!r} has no such cell; give both the same cells, or write one "
                    "comparison for each pair"
                )


def _table(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{file}: {error}") from error


def _claims(entries: Iterable[Mapping[str, Any]], file: str) -> list[Claim]:
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
        if key != "holds" and not isinstance(entry[key], str):
            raise InvalidInput(f"{where}: {key} = {entry[key]!r}: give a text")
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
