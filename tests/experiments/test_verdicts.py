from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from driftanchor.experiments import claims, judging, spec, table_files, verdicts
from driftanchor.experiments.reproduction import Reproduction

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Measured

ENTRIES = """
[[claim]]
id = "good"
says = "Regret is below all there is."
place = "Section 5"
cells = ["fig7/gap=0.3/arms=5"]
holds = ["ts < 99999", "ucb < 99999"]
[[claim]]
id = "ours"
says = "It is above."
place = "beyond the paper"
cells = ["fig7/gap=0.3/arms=5"]
statistic = "q99"
holds = ["ts > 99999"]
[[claim]]
id = "bad"
says = "It is above all there is."
place = "Section 6"
cells = ["fig7/gap=0.3/arms=5"]
holds = ["ts > 99999"]
contradicted_by = "good"
note = "No."
"""


@pytest.fixture
def found(measured: Measured) -> Reproduction:
    experiment = spec.load("fig7", runs=3, horizon=50)
    outcomes = measured(experiment)
    judged = judging.judge(claims.parse(ENTRIES, "mine.toml"), outcomes)
    return Reproduction((experiment,), ("fig7",), outcomes, tuple(judged), (), 0, False, "")


def test_claims_are_apart_by_whose_they_are_and_failures_come_first(found: Reproduction) -> None:
    paper, ours = verdicts.groups(found)
    assert (paper.whose, ours.whose) == ("paper", "package")
    assert paper.counts == (
        "2 claims of the paper: 1 hold, 1 fail (1 contradicted by the paper itself), 0 inconclusive"
    )
    assert found.counts() == f"{paper.counts}; {ours.counts}"
    assert [verdict.id for verdict in paper.verdicts] == ["bad", "good"]
    assert [verdict.id for verdict in paper.failures] == ["bad"]


def test_a_verdict_has_its_words_its_runs_and_who_contradicts_it(found: Reproduction) -> None:
    (bad, good), (ours,) = (group.verdicts for group in verdicts.groups(found))
    assert bad.comparison == "TS > 99999 (No logs: 5 arms, gap 0.3)"
    assert (bad.runs, bad.tally, bad.note) == ("3", "", "No.")
    assert bad.contradiction == "The paper contradicts it: “Regret is below all there is.”"
    assert (good.contradiction, good.tally) == ("", "2 of 2 comparisons hold")
    assert [row[3:] for row in good.details.rows] == [("3", "holds")] * 2
    assert ours.comparison == "99 % quantile: TS > 99999 (No logs: 5 arms, gap 0.3)"


def test_a_third_owner_has_a_group_of_its_own(
    found: Reproduction, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = {"bad": "user", "good": "paper", "ours": "package"}
    monkeypatch.setattr(claims.Claim, "whose", property(lambda claim: owners[claim.id]))
    assert {group.whose for group in verdicts.groups(found)} == set(owners.values())


def test_tables_are_written_as_latex_markdown_and_csv(found: Reproduction, tmp_path: Path) -> None:
    paths = table_files.write(found, tmp_path)
    stems = ("fig7-means", "fig7-tails", "claims")
    kinds = ("tex", "md", "csv")
    assert [path.name for path in paths] == [f"{stem}.{kind}" for stem in stems for kind in kinds]
    texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
    assert "cell & TS & UCB & Anchor-TS & optimistic TS" in texts["fig7-means.tex"]
    assert "| 5 arms, gap 0.3 | TS |" in texts["fig7-tails.md"]
    head, first, *rows = texts["fig7-means.csv"].splitlines()
    assert head == "cell,cell_in_words,policy,policy_in_words,mean,se,runs"
    assert first.startswith('fig7/gap=0.3/arms=5,"5 arms, gap 0.3",ts,TS,')
    assert len(rows) == 8 * 4 - 1
    assert texts["claims.tex"].count(r"\begin{tabular}") == 2
    findings = texts["claims.csv"].splitlines()
    assert len(findings) == 1 + 4
    assert findings[1].startswith("good,paper,holds,")
    nothing = dataclasses.replace(found, judged=())
    assert not [path for path in table_files.write(nothing, tmp_path) if path.stem == "claims"]
