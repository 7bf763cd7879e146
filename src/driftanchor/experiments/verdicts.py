"""Verdicts in words: by whose claims they are, those that fail first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from driftanchor.experiments.claims import Claim
from driftanchor.experiments.comparison_text import STATISTICS, Phrasebook
from driftanchor.experiments.judging import VERDICTS, Finding, JudgedClaim
from driftanchor.experiments.reproduction import Reproduction
from driftanchor.render.numbers import interval, rounded
from driftanchor.render.table import VERDICT, Table


@dataclass(frozen=True)
class Verdict:
    """A judged claim for people.

    Attributes:
        id: The id of the claim.
        says: The sentence.
        place: Where it stands.
        verdict: One of `judging.VERDICTS`.
        comparison: The comparison that speaks most against it.
        estimate: Left minus right of it, with its interval.
        runs: How many runs that is from.
        tally: How many comparisons hold, where there are several.
        contradiction: What the paper says against it, where it does.
        note: What a reader should know beside the verdict.
        details: All its comparisons.
    """

    id: str
    says: str
    place: str
    verdict: str
    comparison: str
    estimate: str
    runs: str
    tally: str
    contradiction: str
    note: str
    details: Table


@dataclass(frozen=True)
class VerdictGroup:
    """The verdicts on the claims of somebody, and how many there are of each."""

    whose: str
    counts: str
    verdicts: tuple[Verdict, ...]

    @property
    def failures(self) -> list[Verdict]:
        """The claims that fail."""
        return [verdict for verdict in self.verdicts if verdict.verdict == "fails"]

    def table(self) -> Table:
        """One row for each claim."""
        rows = tuple((v.verdict, v.says, v.comparison, v.estimate, v.runs) for v in self.verdicts)
        headings = (VERDICT, "claim", "least favourable comparison", "left − right", "runs")
        return Table(self.counts, headings, rows, text=frozenset({0, 1, 2}))


def groups(found: Reproduction) -> list[VerdictGroup]:
    """The verdicts by whose claims they are; in each group those that fail come first."""
    book = Phrasebook.of(found.experiments)
    says = {claim.id: claim.says for claim in (*(j.claim for j in found.judged), *found.left_out)}
    return [
        VerdictGroup(
            whose,
            counts,
            tuple(
                _verdict(judged, book, says)
                for verdict in VERDICTS
                for judged in found.judged
                if (judged.claim.whose, judged.verdict) == (whose, verdict)
            ),
        )
        for whose, counts in found.tallies().items()
    ]


def _verdict(judged: JudgedClaim, book: Phrasebook, says: Mapping[str, str]) -> Verdict:
    claim, worst = judged.claim, judged.findings[0]
    counted = Counter(finding.verdict for finding in judged.findings)
    of = len(judged.findings)
    rows = tuple(
        (_text(claim, f, book), rounded(f.estimate), interval(f.low, f.high), f"{f.runs:,}", word)
        for f, word in ((finding, finding.verdict) for finding in judged.findings)
    )
    headings = ("comparison", "left − right", "interval", "runs", VERDICT)
    other = says.get(claim.contradicted_by, "")
    return Verdict(
        claim.id,
        claim.says,
        claim.place,
        judged.verdict,
        _text(claim, worst, book),
        f"{rounded(worst.estimate)} ({interval(worst.low, worst.high)})",
        f"{worst.runs:,}",
        f"{counted['holds']} of {of} comparisons hold" if of > 1 else "",
        f"The paper contradicts it: “{other}”" if other else "",
        claim.note,
        Table(claim.says, headings, rows, words=True),
    )


def _text(claim: Claim, finding: Finding, book: Phrasebook) -> str:
    return STATISTICS[claim.statistic] + book.comparison(finding.comparison)
