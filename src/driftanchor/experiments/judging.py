"""Judging: each claim gets a verdict from the runs.

Left minus right of a comparison is estimated from the runs, paired run by run (every policy met the
same logs and rewards). The intervals are right for all comparisons of all claims together, whatever
the law of regret, rare ruinous runs included, and however often more runs were added before. A
claim

- **holds** when every interval lies on the claimed side of zero,
- **fails** when one lies on the other side,
- is **inconclusive** otherwise: more runs would tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.core.stats.intervals import mean_contrast, quantile_contrast
from driftanchor.experiments.claims import (
    STATISTICS,
    Claim,
    Comparison,
    Term,
    filled,
    matches,
)
from driftanchor.experiments.outcome import Outcomes

VERDICTS = ("fails", "inconclusive", "holds")  # the worst of its comparisons is a claim's own
ERROR_RATE = 0.05  # that any interval of any claim misses what it estimates
LOOKS = (
    8  # times that claims are judged, at most: each look at a quantile has its share of the error
)


@dataclass(frozen=True)
class Finding:
    """One comparison, measured.

    Attributes:
        comparison: What was compared.
        estimate: Left minus right.
        low: The lower end of its interval.
        high: The upper end.
        runs: How many runs it is from.
        verdict: One of `VERDICTS`.
    """

    comparison: Comparison
    estimate: float
    low: float
    high: float
    runs: int
    verdict: str

    @property
    def text(self) -> str:
        """The comparison as it is written, with its cell."""
        return self.comparison.text

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready record."""
        names = ("text", "estimate", "low", "high", "runs", "verdict")
        return {name: getattr(self, name) for name in names}


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
            "whose": self.claim.whose,
            "file": self.claim.file or None,
            "contradicted_by": self.claim.contradicted_by or None,
            "note": self.claim.note,
            "statistic": self.claim.statistic,
            "comparison": worst.text,
            "estimate": worst.estimate,
            "interval": [worst.low, worst.high],
            "runs": worst.runs,
            "comparisons": [finding.to_json() for finding in self.findings],
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


def undecided(judged: Iterable[JudgedClaim]) -> set[tuple[str, str]]:
    """The (cell, policy) pairs of which more runs may decide a claim that is inconclusive."""
    return {
        (term.cell, term.policy)
        for one in judged
        if one.verdict == "inconclusive"
        for finding in one.findings
        if finding.verdict == "inconclusive"
        for term in finding.comparison.terms
        if term.policy
    }


def _judge(
    claim: Claim, comparisons: list[Comparison], outcomes: Outcomes, error: float
) -> JudgedClaim:
    findings = [_measure(c, claim.statistic, outcomes, error) for c in comparisons]
    findings.sort(key=lambda f: (VERDICTS.index(f.verdict), f.comparison.sign * f.estimate))
    return JudgedClaim(claim, findings[0].verdict, tuple(findings))


def _measure(c: Comparison, statistic: str, outcomes: Outcomes, error: float) -> Finding:
    constant = sum(term.factor for term in c.terms if not term.policy)
    terms = [term for term in c.terms if term.policy]
    found = [outcomes[term.cell, term.policy] for term in terms]
    runs = min(len(outcome.final) for outcome in found)
    paired = np.stack([outcome.final[:runs] for outcome in found])
    most = np.array([outcome.most for outcome in found])
    factors = np.array([term.factor for term in terms])
    quantile = STATISTICS[statistic]
    if quantile is None:
        measured = mean_contrast(factors, paired, most, error)
    else:
        measured = quantile_contrast(factors, paired, most, error / LOOKS, quantile=quantile)
    estimate, low, high = (x + constant for x in measured)
    verdict = "inconclusive"
    if high < 0 if c.sign < 0 else low > 0:
        verdict = "holds"
    elif low > 0 if c.sign < 0 else high < 0:
        verdict = "fails"
    return Finding(c, estimate, low, high, runs, verdict)


def _expand(claim: Claim, cells: set[str]) -> list[Comparison]:
    """Write out the patterns: one comparison for each text that `*` matches in the cells."""
    expanded = []
    for c in claim.comparisons:
        if not c.patterns:
            expanded.append(_named(c, {}))
        for words in sorted({words for x in c.patterns for words in matches(x, cells)}):
            expanded.append(_named(c, {pattern: filled(pattern, words) for pattern in c.patterns}))
    return expanded


def _named(c: Comparison, cells: Mapping[str, str]) -> Comparison:
    terms = tuple(Term(t.factor, t.policy, cells.get(t.cell, t.cell)) for t in c.terms)
    places = sorted({term.cell for term in terms if term.cell})
    text = " ".join(_word_named(word, cells) for word in c.text.split(" "))
    text = f"{text}  [{places[0]}]" if len(places) == 1 and "@" not in text else text
    return Comparison(text, terms, c.sign)


def _word_named(word: str, cells: Mapping[str, str]) -> str:
    """Replace the pattern in a word such as `ts@fig1/*` by the name of its cell."""
    policy, at, cell = word.partition("@")
    return f"{policy}{at}{cells.get(cell, cell)}"


def _all_run(comparisons: list[Comparison], outcomes: Outcomes) -> bool:
    terms = [term for c in comparisons for term in c.terms if term.policy]
    return all((term.cell, term.policy) in outcomes for term in terms)
