"""Judging: each claim gets a verdict from the runs.

Left minus right of a comparison is estimated from the runs, paired run by run (every policy met the
same logs and rewards), with an interval that is right for all comparisons of all claims together.
A claim

- **holds** when every interval lies on the claimed side of zero,
- **fails** when one lies on the other side,
- is **inconclusive** otherwise: more runs would tell.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.contrasts import Contrast, mean_contrast, quantile_contrast
from driftanchor.core.stats.student import student
from driftanchor.experiments.claims import STATISTICS, Claim, Comparison, Term
from driftanchor.experiments.sweep import Outcomes

VERDICTS = ("fails", "inconclusive", "holds")  # the worst of its comparisons is a claim's own
ERROR_RATE = 0.05  # that any interval of any claim misses what it estimates
BEYOND = 5.0  # runs that must lie beyond a quantile, on average, before it says anything


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
            "file": self.claim.file or None,
            "note": self.claim.note,
            "statistic": self.claim.statistic,
            "comparison": worst.text,
            "estimate": worst.estimate,
            "interval": [worst.low, worst.high],
            "comparisons": [vars(finding) for finding in self.findings],
        }


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
