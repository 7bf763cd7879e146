from __future__ import annotations

import pytest

from driftanchor.experiments import claims, spec
from driftanchor.experiments.comparison_text import Phrasebook

BOOK = Phrasebook.of([spec.load(name) for name in ("fig1", "fig2", "fig7", "location", "suite")])


def in_words(holds: str, cells: str = "") -> str:
    entry = f'[[claim]]\nid = "x"\nsays = "x"\nplace = "x"\nholds = ["{holds}"]\n'
    (claim,) = claims.parse(entry + (f'cells = ["{cells}"]' if cells else ""), "mine.toml")
    return BOOK.comparison(claim.comparisons[0])


@pytest.mark.parametrize(
    ("holds", "cell", "words"),
    [
        (
            "hybrid-ucb < 0.5*ucb",
            "fig1/gap=0.1/coverage=optimal",
            "hybrid UCB < 0.5 × UCB (Unbiased logs: gap 0.1, 80 % of logs on the best arm)",
        ),
        ("ts - 1 > 2.5", "fig7/gap=0.3/arms=5", "TS − 1 > 2.5 (No logs: 5 arms, gap 0.3)"),
        (
            "guarded, V proved < ts",
            "suite/no logs/arms=10",
            "guarded, V proved < TS "
            "(Mean against tail: no logs: 10 arms, gap 0.3, other arms' mean 0.5)",
        ),
    ],
)
def test_a_comparison_in_one_cell_names_it_once(holds: str, cell: str, words: str) -> None:
    assert in_words(holds, cell) == words


@pytest.mark.parametrize(
    ("holds", "words"),
    [
        (
            "ts@fig2/arms=50/coverage=uniform > ts@fig2/arms=5/coverage=uniform",
            "TS [50 arms] > TS [5 arms] (Biased logs: logs on all arms alike)",
        ),
        (
            "ucb@fig1/gap=0.3/coverage=optimal - ts@fig1/gap=0.3/coverage=optimal "
            "> ucb@fig1/gap=0.3/coverage=uniform - ts@fig1/gap=0.3/coverage=uniform",
            "UCB − TS [80 % of logs on the best arm] > UCB − TS [logs on all arms alike] "
            "(Unbiased logs: gap 0.3)",
        ),
        (
            "ts@fig1/gap=0.3/coverage=optimal - ts@fig1/gap=0.1/coverage=uniform > 0",
            "TS [gap 0.3, 80 % of logs on the best arm] − TS [gap 0.1, logs on all arms alike] > 0 "
            "(Unbiased logs)",
        ),
        (
            "ts@location/reward_shift=2/offline=0 < ts@location/reward_shift=0/offline=0",
            "TS [rewards plus 2] < TS [unchanged] (Rewards in other units: no logs)",
        ),
        (
            "ts@fig1/gap=0.3/coverage=optimal < ts@fig7/gap=0.3/arms=10",
            "TS [Unbiased logs: gap 0.3, 80 % of logs on the best arm] "
            "< TS [No logs: 10 arms, gap 0.3] (in several experiments)",
        ),
    ],
)
def test_what_sets_cells_apart_stands_behind_the_policies(holds: str, words: str) -> None:
    assert in_words(holds) == words


def test_every_claim_of_the_paper_can_be_put_in_words() -> None:
    book = Phrasebook.of([spec.load(name) for name in spec.paper_experiments()])
    said = [
        book.comparison(comparison)
        for claim in claims.paper_claims()
        for comparison in claim.comparisons
        if not any("*" in term.cell for term in comparison.terms)
    ]
    assert len(said) > 20
    assert not [text for text in said if "@" in text or "=0" in text]
