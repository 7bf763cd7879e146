"""The report's content: what its HTML and its Markdown both say."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from driftanchor.experiments import manifest, spec, tail, words
from driftanchor.experiments.claims import ERROR_RATE, Judgement
from driftanchor.experiments.panels import Drawing
from driftanchor.experiments.reproduction import SMOKE, Reproduction
from driftanchor.experiments.spec import Experiment

PAPER = "the paper on Anchor-TS, arXiv 2605.10289"
ROUNDING = 1e-12  # what is smaller is left over from adding numbers up
LONG = 8  # rows from which a table is folded away


@dataclass(frozen=True)
class Table:
    """A table; the first column heads its rows, `best` are the (row, column) to be marked."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Picture:
    """A figure in the report."""

    name: str
    caption: str
    alt: str


@dataclass(frozen=True)
class Section:
    """An experiment in the report."""

    name: str
    title: str
    source: str
    about: str
    picture: Picture | None
    tables: tuple[Table, ...]
    settings: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Verdict:
    """A judged claim in the report."""

    id: str
    says: str
    place: str
    verdict: str
    comparison: str
    estimate: str
    tally: str
    note: str
    details: Table


@dataclass(frozen=True)
class Report:
    """All that a report says."""

    title: str
    lead: str
    stamps: tuple[str, ...]
    counts: str
    method: str
    verdicts: tuple[Verdict, ...]
    left_out: tuple[str, ...]
    sections: tuple[Section, ...]
    facts: tuple[tuple[str, str], ...]


def build(found: Reproduction, drawings: dict[str, Drawing]) -> Report:
    """The report on a reproduction, with the figures by name."""
    sections = [_section(e, found, drawings) for e in found.experiments]
    more = drawings.keys() - {experiment.name for experiment in found.experiments}
    sections += [
        Section(name, "Theory against pulls", "Theorem 1", "", _picture(drawings[name]), (), ())
        for name in sorted(more)
    ]
    return Report(
        "Anchor-TS, reproduced" if found.paper else "Experiments with Driftanchor",
        _lead(found),
        tuple(found.stamps()),
        found.counts(),
        _method(found),
        tuple(_verdict(judgement) for judgement in found.judgements),
        tuple(f"{claim.id}: {claim.says}" for claim in found.left_out),
        tuple(sections),
        tuple(_facts(found)),
    )


def shown(x: float) -> str:
    """A number to three figures or so, for people.

    Example:
        >>> [shown(x) for x in (1234.5, -215.2, 33.33, 1.5, 0.01234, float("nan"))]
        ['1,234', '−215', '33.3', '1.50', '0.0123', '–']
    """
    if x != x:
        return "–"
    size = abs(x)
    if size < ROUNDING:
        return "0"
    digits = 0 if size >= 100 else 1 if size >= 10 else 2
    text = f"{x:,.{digits}f}" if size >= 1 else f"{x:.3g}"
    return text.replace("-", "−")


def _lead(found: Reproduction) -> str:
    if set(found.paper) == set(spec.paper_experiments()):
        return f"Every experiment of {PAPER}, run anew, and its claims judged."
    names = ", ".join(experiment.name for experiment in found.experiments)
    if found.paper:
        return f"Of {PAPER}, or beside it, run anew: {names}; claims are judged by these alone."
    return f"Run: {names}."


def _method(found: Reproduction) -> str:
    count = sum(len(judgement.findings) for judgement in found.judgements)
    if not count:
        return "No claim of the paper is about the cells that were run."
    leaping = [e.name for e in found.experiments if e.engine == "events"]
    but = f" (in {', '.join(leaping)} the same logs, but other rewards)" if leaping else ""
    return (
        "A claim is a set of comparisons of regret at the horizon. Each is estimated as left minus "
        f"right, paired run by run: every policy met the same logs and rewards{but}. Intervals are "
        f"at {1 - ERROR_RATE:.0%} for all {count:,} comparisons together (Bonferroni). A claim "
        "holds when every interval lies on the claimed side of zero, fails when one lies on the "
        "other side, and is inconclusive otherwise. Shown is the comparison that speaks most "
        "against it."
    )


def _verdict(judgement: Judgement) -> Verdict:
    claim, worst = judgement.claim, judgement.findings[0]
    counted = Counter(finding.verdict for finding in judgement.findings)
    of = len(judgement.findings)
    rows = tuple(
        (f.text, shown(f.estimate), f"{shown(f.low)} to {shown(f.high)}", f.verdict)
        for f in judgement.findings
    )
    return Verdict(
        claim.id,
        claim.says,
        claim.place,
        judgement.verdict,
        worst.text if claim.statistic == "mean" else f"{claim.statistic} of {worst.text}",
        f"{shown(worst.estimate)} ({shown(worst.low)} to {shown(worst.high)})",
        f"{counted['holds']} of {of} comparisons hold" if of > 1 else "",
        claim.note,
        Table(claim.says, ("comparison", "left − right", "interval", "verdict"), rows),
    )


def _section(experiment: Experiment, found: Reproduction, drawings: dict[str, Drawing]) -> Section:
    return Section(
        experiment.name,
        experiment.title,
        experiment.source,
        experiment.about,
        _picture(drawings[experiment.name]) if experiment.name in drawings else None,
        (_means(experiment, found), _tails(experiment, found)),
        tuple(_settings(experiment)),
    )


def _picture(drawing: Drawing) -> Picture:
    return Picture(drawing.name, drawing.caption, drawing.alt)


def _means(experiment: Experiment, found: Reproduction) -> Table:
    labels = list(dict.fromkeys(itertools.chain(*(cell.policies for cell in experiment.cells))))
    rows, best = [], set()
    for row, cell in enumerate(experiment.cells):
        numbers = found.statistics(experiment, cell)
        lowest = min(numbers, key=lambda label: numbers[label]["mean"])
        best.add((row, 1 + labels.index(lowest)))
        told = {p: f"{shown(x['mean'])} ± {shown(x['se'])}" for p, x in numbers.items()}
        rows.append((cell.id, *(told.get(label, "–") for label in labels)))
    title = "Mean regret at the horizon ± standard error, the lowest marked"
    return Table(title, ("cell", *labels), tuple(rows), frozenset(best))


def _tails(experiment: Experiment, found: Reproduction) -> Table:
    rows = [
        (f"{cell.id} {label}", *_tail(numbers))
        for cell in experiment.cells
        for label, numbers in found.statistics(experiment, cell).items()
    ]
    headings = ("cell and policy", "median", "90 %", "99 %", "worst run", "stuck runs")
    title = (
        "Median and tail of regret at the horizon, with 95 % intervals; a run is stuck when it "
        "lost more than half of what playing the second best arm throughout would lose"
    )
    return Table(title, headings, tuple(rows))


def _tail(numbers: Mapping[str, float]) -> Iterator[str]:
    yield from (shown(numbers[name]) for name in ("median", "q90"))
    yield f"{shown(numbers['q99'])} ({shown(numbers['q99_low'])} to {shown(numbers['q99_high'])})"
    yield shown(numbers["max"])
    share, low, high = (f"{100 * numbers[name]:.2g}" for name in tail.STUCK)
    yield f"{share} % ({low} to {high})"


def _settings(experiment: Experiment) -> list[tuple[str, str]]:
    grids: dict[str, dict[str, None]] = {}
    policies: dict[str, str] = {}
    for cell in experiment.cells:
        for word, value in cell.varied.items():
            grids.setdefault(word, {})[words.number(value)] = None
        for label, policy in cell.policies.items():
            changed = {
                name: value
                for name, value in policy.parameters().items()
                if value != type(policy)().parameters()[name]
            }
            told = ", ".join(f"{name} = {words.number(value)}" for name, value in changed.items())
            policies[label] = f"{label} ({policy.name}: {told})" if told else label
    return [
        ("runs and rounds", words.rounds_and_runs(experiment)),
        ("where not varied", words.describe(experiment.cells)),
        *((words.AXES[word], ", ".join(values)) for word, values in grids.items()),
        ("policies", ", ".join(policies.values())),
        *([("engine", experiment.engine)] if experiment.engine != "auto" else []),
    ]


def _facts(found: Reproduction) -> list[tuple[str, str]]:
    facts = [(name, version or "not installed") for name, version in manifest.versions().items()]
    facts.append(("commit", manifest.commit() or "unknown"))
    facts.append(("seed", str(found.seed)))
    facts += [(f"{e.name}", words.rounds_and_runs(e)) for e in found.experiments]
    if found.quick:
        facts.append(("size", SMOKE))
    return facts
