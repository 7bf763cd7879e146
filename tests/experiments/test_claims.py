from __future__ import annotations

import fnmatch

import pytest

from driftanchor.errors import InvalidInput
from driftanchor.experiments import claims, spec


def entry(holds: str, more: str = "", name: str = "x") -> str:
    return f'[[claim]]\nid = "{name}"\nsays = "s"\nplace = "p"\nholds = {holds}\n{more}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[claim]", "c.toml: "),
        (entry('["a = b"]', 'cells = ["c"]'), "'a = b': write it as 'a < b' or 'a > b'"),
        (entry('["a < b < c"]', 'cells = ["c"]'), "write it as 'a < b' or 'a > b'"),
        (entry('["a < b"]'), "'a' names no cell and the claim has no cells"),
        (entry('["@c < b"]', 'cells = ["c"]'), "cannot read '@c': write [factor*]policy[@cell]"),
        (entry('["{n} < b"]', 'cells = ["c"]'), "{…} must be a word of each: 'n'"),
        (entry('"a < b"', 'cells = ["c"]'), "holds = 'a < b': give a list of texts"),
        (entry("[]"), "c.toml, claim 1: holds is missing"),
        (entry('["a < b"]', "statistik = 1"), "statistik = 1: unknown key 'statistik'; did you"),
        (entry('["a < b"]', 'statistic = "q95"'), "statistic = 'q95': unknown statistic 'q95'"),
        (entry('["a < 1"]', 'cells = ["c"]') * 2, "c.toml: id = 'x' is given twice"),
    ],
)
def test_a_bad_entry_is_told(text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        claims.parse(text, "c.toml")
    assert message in str(caught.value)


def test_the_paper_makes_many_claims_each_with_its_place() -> None:
    told = claims.paper_claims()
    assert len(told) >= 20
    assert len({claim.says for claim in told}) == len(told)
    assert sum("beyond the paper" not in claim.place for claim in told) >= 20


def test_every_claim_is_about_cells_and_policies_there_are() -> None:
    experiments = map(spec.load, spec.paper_experiments())
    policies = {cell.id: set(cell.policies) for e in experiments for cell in e.cells}
    for claim in claims.paper_claims():
        for term in (term for c in claim.comparisons for term in c.terms if term.policy):
            cells = fnmatch.filter(policies, term.cell)
            assert cells, (claim.id, term.cell)
            assert all(term.policy in policies[cell] for cell in cells), (claim.id, term)
