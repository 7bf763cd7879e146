"""Claims: the paper's checkable sentences, each judged by numbers.

A claim is a list of comparisons such as `anchor-ts < 0.5*ts`, made in one or more cells. Left minus
right is estimated from the runs, paired run by run (every policy met the same logs and rewards),
with an interval that is right for all comparisons of all claims together. A claim

- **holds** when every interval lies on the claimed side of zero,
- **fails** when one lies on the other side,
- is **inconclusive** otherwise: more runs would tell.
"""

from __future__ import annotations

import fnmatch
import itertools
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.contrasts import Contrast, mean_contrast, quantile_contrast
from driftanchor.core.stats.student import student
from driftanchor.errors import InvalidInput, UnknownName
from driftanchor.experiments.sweep import Outcomes

VERDICTS = ("fails", "inconclusive", "holds")  # the worst of its comparisons is a claim's own
STATISTICS = {"mean": None, "median": 0.5, "q90": 0.9, "q99": 0.99}
ERROR_RATE = 0.05  # that any interval of any claim misses what it estimates
BEYOND = 5.0  # runs that must lie beyond a quantile, on average, before it says anything
_KEYS = ("id", "says", "place", "cells", "each", "statistic", "holds", "note")
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
    """A sentence of the paper in our words, its place, and what it says of the numbers."""

    id: str
    says: str
    place: str
    note: str
    statistic: str
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class Finding:
    """One comparison, measured."""

    text: str
    estimate: float
    low: float
    high: float
    verdict: str


@dataclass(frozen=True)
class JudgedClaim:
    """A claim and its verdict; `findings[0]` is the comparison that speaks most against it."""

    claim: Claim
    verdict: str
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready summary."""
        worst = self.findings[0]
        return {
            "id": self.claim.id,
            "verdict": self.verdict,
            "says": self.claim.says,
            "place": self.claim.place,
            "note": self.claim.note,
            "statistic": self.claim.statistic,
            "comparison": worst.text,
            "estimate": worst.estimate,
            "interval": [worst.low, worst.high],
            "comparisons": [vars(finding) for finding in self.findings],
        }


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


def judge(
    claims: Iterable[Claim], outcomes: Outcomes, cells: Iterable[str] = ()
) -> list[JudgedClaim]:
    """Judge the claims all of whose cells were run; the others are left out.

    Args:
        claims: What is claimed.
        outcomes: What was run.
        cells: The ids of all cells there are, run or not: a claim about `fig1/*` is not judged by
            a part of them.
    """
    known = {*cells, *(cell for cell, _ in outcomes)}
    ready = [(claim, _expand(claim, known)) for claim in claims]
    ready = [(claim, found) for claim, found in ready if found and _all_run(found, outcomes)]
    count = sum(len(found) for _, found in ready)
    return [_judge(claim, found, outcomes, ERROR_RATE / count) for claim, found in ready]


def _judge(
    claim: Claim, comparisons: list[Comparison], outcomes: Outcomes, error: float
) -> JudgedClaim:
    findings = [_measure(c, claim.statistic, outcomes, error) for c in comparisons]
    signs = {c.text: c.sign for c in comparisons}
    findings.sort(key=lambda f: (VERDICTS.index(f.verdict), signs[f.text] * f.estimate))
    return JudgedClaim(claim, findings[0].verdict, tuple(findings))


def _measure(c: Comparison, statistic: str, outcomes: Outcomes, error: float) -> Finding:
    constant = sum(term.factor for term in c.terms if not term.policy)
    terms = [term for term in c.terms if term.policy]
    values = [outcomes[term.cell, term.policy].final for term in terms]
    runs = min(len(x) for x in values)
    paired = np.stack([x[:runs] for x in values])
    factors = np.array([term.factor for term in terms])
    quantile = STATISTICS[statistic]
    estimate, se = _contrast(factors, paired, quantile)
    estimate += constant
    width = student(error, runs - 1) * se if runs > 1 else math.nan
    low, high = estimate - width, estimate + width
    needed = 2.0 if quantile is None else BEYOND / min(quantile, 1 - quantile)
    verdict = "inconclusive"
    if runs >= needed:
        if high < 0 if c.sign < 0 else low > 0:
            verdict = "holds"
        elif low > 0 if c.sign < 0 else high < 0:
            verdict = "fails"
    return Finding(c.text, estimate, low, high, verdict)


def _contrast(factors: Floats, paired: Floats, quantile: float | None) -> Contrast:
    if quantile is None:
        return mean_contrast(factors, paired)
    return quantile_contrast(factors, paired, quantile)


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
    note = entry.get("note", "")
    return Claim(entry["id"], entry["says"], entry["place"], note, statistic, tuple(comparisons))


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


def _expand(claim: Claim, cells: set[str]) -> list[Comparison]:
    """One comparison for each cell that a pattern stands for; a pattern is shared by its terms."""
    expanded = []
    for c in claim.comparisons:
        patterns = {term.cell for term in c.terms if "*" in term.cell}
        if not patterns:
            expanded.append(_named(c, {}))
        for pattern in patterns:
            for cell in sorted(fnmatch.filter(cells, pattern)):
                expanded.append(_named(c, {pattern: cell}))
    return expanded


def _named(c: Comparison, cells: Mapping[str, str]) -> Comparison:
    terms = tuple(Term(t.factor, t.policy, cells.get(t.cell, t.cell)) for t in c.terms)
    places = sorted({term.cell for term in terms if term.cell})
    text = f"{c.text}  [{places[0]}]" if len(places) == 1 and "@" not in c.text else c.text
    return Comparison(text, terms, c.sign)


def _all_run(comparisons: list[Comparison], outcomes: Outcomes) -> bool:
    terms = [term for c in comparisons for term in c.terms if term.policy]
    return all((term.cell, term.policy) in outcomes for term in terms)
