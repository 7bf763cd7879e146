"""The report's content, which its HTML and its Markdown share."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from driftanchor.experiments import manifest, number_tables, setting_text, spec, verdicts
from driftanchor.experiments.experiment import Experiment
from driftanchor.experiments.figures.drawing import Words, names_of
from driftanchor.experiments.judging import ERROR_RATE
from driftanchor.experiments.reproduction import SMOKE, Reproduction
from driftanchor.experiments.verdicts import VerdictGroup
from driftanchor.render.numbers import percent, plain
from driftanchor.render.table import Table

PAPER = "the paper on Anchor-TS, arXiv 2605.10289"
LONG = 8  # a table of more rows is folded away


@dataclass(frozen=True)
class Section:
    """An experiment in the report, or the figure that several share."""

    name: str
    title: str
    source: str
    about: str
    drawing: Words | None
    tables: tuple[Table, ...]
    settings: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Report:
    """All that a report says.

    Attributes:
        title: The title of the page.
        lead: What was run.
        stamps: What a reader must know before believing any of it.
        counts: How many claims hold, fail, or are inconclusive, in one line.
        method: How claims are judged.
        groups: The judged claims, by whose they are; those that fail first.
        left_out: The claims that were not judged.
        sections: One for each experiment, in order.
        facts: Versions, seed and sizes.
    """

    title: str
    lead: str
    stamps: tuple[str, ...]
    counts: str
    method: str
    groups: tuple[VerdictGroup, ...]
    left_out: tuple[str, ...]
    sections: tuple[Section, ...]
    facts: tuple[tuple[str, str], ...]


def build(found: Reproduction, drawings: dict[str, Words]) -> Report:
    """The report on a reproduction.

    Args:
        found: What was run.
        drawings: The words of its figures by name.
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
        _method(found),
        tuple(verdicts.groups(found)),
        tuple(f"{claim.id}: {claim.says}" for claim in found.left_out),
        tuple(sections),
        tuple(_facts(found)),
    )


def _lead(found: Reproduction) -> str:
    if set(found.paper) == set(spec.paper_experiments()):
        return f"Every experiment of {PAPER}, run again, and its claims judged."
    names = ", ".join(experiment.name for experiment in found.experiments)
    if found.paper:
        return f"Of {PAPER}, or beside it, run again: {names}; claims are judged by these alone."
    return f"Run: {names}."


def _method(found: Reproduction) -> str:
    if not found.judged:
        return "No claim is about the cells that were run."
    inside, own = (
        sum(len(judged.findings) for judged in found.judged_of(*whose))
        for whose in (("paper", "package"), ("user",))
    )
    count = f"{inside or own:,} intervals"
    if inside and own:
        count += f" of the package's claims, or at least as often none of the {own:,} of yours,"
    leaping = [e.name for e in found.experiments if e.engine == "events"]
    but = f" (in {', '.join(leaping)} the same logs, but other rewards)" if leaping else ""
    return (
        "A claim is a set of comparisons of regret at the horizon. Each is estimated as left minus "
        f"right, paired run by run: every policy met the same logs and rewards{but}. The interval "
        "of a mean comes from betting: it contains every value against which a gambler, betting at "
        "odds that are fair for that value, would not have won much in these runs. A gambler "
        "rarely wins against the true value, so the interval is valid for every distribution of "
        "regret, with rare ruinous runs, and however often runs were added to decide a claim. "
        "The interval of a median or another quantile comes from ranks, and is as safe. At least "
        f"{percent(1 - ERROR_RATE)} of the time none of the {count} misses: they share the error "
        "rate. A claim holds if every interval lies on the claimed side of zero, fails if one lies "
        "on the other side, and is inconclusive otherwise. The tables show the comparison that "
        "contradicts each claim most, and the claims that fail first."
    )


def _section(experiment: Experiment, found: Reproduction, drawings: dict[str, Words]) -> Section:
    return Section(
        experiment.name,
        experiment.title,
        experiment.source,
        experiment.about,
        drawings.get(experiment.name),
        (number_tables.means(experiment, found), number_tables.tails(experiment, found)),
        tuple(_settings(experiment)),
    )


def _settings(experiment: Experiment) -> list[tuple[str, str]]:
    grids: dict[str, dict[str, None]] = {}
    names, policies = names_of(experiment.cells), dict[str, str]()
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
            policies[label] = names[label] + (f" ({policy.name}: {text})" if text else "")
    return [
        ("runs and rounds", setting_text.rounds_and_runs(experiment)),
        ("where not varied", setting_text.describe(experiment.cells)),
        *((setting_text.AXES[word], ", ".join(values)) for word, values in grids.items()),
        ("policies", ", ".join(policies.values())),
        ("ids of cells", f"as {experiment.cells[0].id}: all are in tables/{experiment.name}-*.csv"),
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
