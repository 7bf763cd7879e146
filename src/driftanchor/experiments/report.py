"""The report's content, which its HTML and its Markdown share."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from driftanchor.experiments import manifest, setting_text, spec, tail
from driftanchor.experiments.experiment import Experiment
from driftanchor.experiments.figures.drawing import Drawing
from driftanchor.experiments.judging import ERROR_RATE, JudgedClaim
from driftanchor.experiments.reproduction import SMOKE, Reproduction
from driftanchor.render.numbers import MISSING, interval, percent, plain, rounded, with_error
from driftanchor.render.table import VERDICT, Table

PAPER = "the paper on Anchor-TS, arXiv 2605.10289"
LONG = 8  # a table of more rows is folded away


@dataclass(frozen=True)
class Section:
    """An experiment in the report, or the figure that several share."""

    name: str
    title: str
    source: str
    about: str
    drawing: Drawing | None
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
    """All that a report says.

    Attributes:
        title: The title of the page.
        lead: What was run.
        stamps: What a reader must know before believing any of it.
        counts: How many claims hold, fail, or are inconclusive.
        headline: The figure that the report opens with.
        method: How claims are judged.
        verdicts: The judged claims inside the package.
        left_out: The claims that were not judged.
        sections: One for each experiment, in order.
        facts: Versions, seed and sizes.
        own: The judged claims of the user's files.
    """

    title: str
    lead: str
    stamps: tuple[str, ...]
    counts: str
    headline: Drawing | None
    method: str
    verdicts: tuple[Verdict, ...]
    left_out: tuple[str, ...]
    sections: tuple[Section, ...]
    facts: tuple[tuple[str, str], ...]
    own: tuple[Verdict, ...] = ()


def build(found: Reproduction, drawings: dict[str, Drawing]) -> Report:
    """The report on a reproduction.

    Args:
        found: What was run.
        drawings: Its figures by name, that of the first experiment first.
    """
    sections = [_section(e, found, drawings) for e in found.experiments]
    shared = drawings.keys() - {experiment.name for experiment in found.experiments}
    sections += [
        Section(name, "Theory against pulls", "Theorem 1", "", drawings[name], (), ())
        for name in sorted(shared)
    ]
    return Report(
        "Anchor-TS, reproduced" if found.paper else "Experiments with Driftanchor",
        _lead(found),
        tuple(found.stamps()),
        found.counts(),
        next(iter(drawings.values()), None),
        _method(found),
        tuple(map(_verdict, found.judged_of("paper", "package"))),
        tuple(f"{claim.id}: {claim.says}" for claim in found.left_out),
        tuple(sections),
        tuple(_facts(found)),
        tuple(map(_verdict, found.judged_of("user"))),
    )


def _lead(found: Reproduction) -> str:
    if set(found.paper) == set(spec.paper_experiments()):
        return f"Every experiment of {PAPER}, run anew, and its claims judged."
    names = ", ".join(experiment.name for experiment in found.experiments)
    if found.paper:
        return f"Of {PAPER}, or beside it, run anew: {names}; claims are judged by these alone."
    return f"Run: {names}."


def _method(found: Reproduction) -> str:
    if not found.judged:
        return "No claim is about the cells that were run."
    paper, own = (
        sum(len(judged.findings) for judged in found.judged_of(*whose))
        for whose in (("paper", "package"), ("user",))
    )
    count = f"{paper or own:,} comparisons"
    if paper and own:
        count += f" of the package's claims together, and for all {own:,} of yours"
    leaping = [e.name for e in found.experiments if e.engine == "events"]
    but = f" (in {', '.join(leaping)} the same logs, but other rewards)" if leaping else ""
    return (
        "A claim is a set of comparisons of regret at the horizon. Each is estimated as left minus "
        f"right, paired run by run: every policy met the same logs and rewards{but}. Intervals are "
        f"at {1 - ERROR_RATE:.0%} for all {count} together (Bonferroni). A claim "
        "holds when every interval lies on the claimed side of zero, fails when one lies on the "
        "other side, and is inconclusive otherwise. The table shows the comparison that speaks "
        "most against each claim."
    )


def _verdict(judged: JudgedClaim) -> Verdict:
    claim, worst = judged.claim, judged.findings[0]
    counted = Counter(finding.verdict for finding in judged.findings)
    of = len(judged.findings)
    rows = tuple(
        (f.text, rounded(f.estimate), interval(f.low, f.high), f.verdict) for f in judged.findings
    )
    return Verdict(
        claim.id,
        claim.says,
        claim.place,
        judged.verdict,
        worst.text if claim.statistic == "mean" else f"{claim.statistic} of {worst.text}",
        f"{rounded(worst.estimate)} ({interval(worst.low, worst.high)})",
        f"{counted['holds']} of {of} comparisons hold" if of > 1 else "",
        claim.note,
        Table(claim.says, ("comparison", "left − right", "interval", VERDICT), rows),
    )


def _section(experiment: Experiment, found: Reproduction, drawings: dict[str, Drawing]) -> Section:
    return Section(
        experiment.name,
        experiment.title,
        experiment.source,
        experiment.about,
        drawings.get(experiment.name),
        (_means(experiment, found), _tails(experiment, found)),
        tuple(_settings(experiment)),
    )


def _means(experiment: Experiment, found: Reproduction) -> Table:
    labels = list(dict.fromkeys(itertools.chain(*(cell.policies for cell in experiment.cells))))
    rows, best = [], set()
    for row, cell in enumerate(experiment.cells):
        numbers = found.statistics(experiment, cell)
        lowest = min(numbers, key=lambda label: numbers[label]["mean"])
        best.add((row, 1 + labels.index(lowest)))
        means = {p: with_error(x["mean"], x["se"]) for p, x in numbers.items()}
        rows.append((cell.id, *(means.get(label, MISSING) for label in labels)))
    title = "Mean regret at the horizon ± standard error, the lowest marked"
    return Table(title, ("cell", *labels), tuple(rows), frozenset(best))


def _tails(experiment: Experiment, found: Reproduction) -> Table:
    rows = [
        (f"{cell.id} {label}", *_tail(numbers))
        for cell in experiment.cells
        for label, numbers in found.statistics(experiment, cell).items()
    ]
    headings = ("cell and policy", "median", "90 %", "99 %", "worst run", "stuck", "runs")
    title = (
        "Median and tail of regret at the horizon, with 95 % intervals; a run is stuck when one "
        "arm that is not the best took more than half of its rounds"
    )
    return Table(title, headings, tuple(rows))


def _tail(numbers: Mapping[str, float]) -> Iterator[str]:
    yield from (rounded(numbers[name]) for name in ("median", "q90"))
    yield f"{rounded(numbers['q99'])} ({interval(numbers['q99_low'], numbers['q99_high'])})"
    yield rounded(numbers["max"])
    share, low, high = (percent(numbers[name]) for name in tail.STUCK)
    yield share if share == MISSING else f"{share} ({low.removesuffix(' %')} to {high})"
    yield f"{numbers['runs']:,}"


def _settings(experiment: Experiment) -> list[tuple[str, str]]:
    grids: dict[str, dict[str, None]] = {}
    policies: dict[str, str] = {}
    for cell in experiment.cells:
        for word, value in cell.varied.items():
            grids.setdefault(word, {})[setting_text.value_text(word, value)] = None
        for label, policy in cell.policies.items():
            defaults = {field.name: field.default for field in dataclasses.fields(policy)}
            changed = {
                name: value
                for name, value in policy.parameters().items()
                if value != defaults[name]
            }
            text = ", ".join(f"{name} = {plain(value)}" for name, value in changed.items())
            policies[label] = f"{label} ({policy.name}: {text})" if text else label
    return [
        ("runs and rounds", setting_text.rounds_and_runs(experiment)),
        ("where not varied", setting_text.describe(experiment.cells)),
        *((setting_text.AXES[word], ", ".join(values)) for word, values in grids.items()),
        ("policies", ", ".join(policies.values())),
        *([("engine", experiment.engine)] if experiment.engine != "auto" else []),
    ]


def _facts(found: Reproduction) -> list[tuple[str, str]]:
    facts = [(name, version or "not installed") for name, version in manifest.versions().items()]
    facts.append(("commit", manifest.commit() or "unknown"))
    facts.append(("seed", str(found.seed)))
    facts += [(e.name, setting_text.rounds_and_runs(e)) for e in found.experiments]
    if found.quick:
        facts.append(("size", SMOKE))
    return facts
