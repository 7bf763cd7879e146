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


def own(text: str) -> list[claims.Claim]:
    return claims.parse_own(text, "some/where/mine.toml")


def test_a_claim_of_ones_own_has_its_file_for_a_place() -> None:
    text = '[[claim]]\nid = "x"\nsays = "s"\nholds = ["a < b"]\ncells = ["c"]\n'
    (claim,) = own(text)
    assert (claim.place, claim.file) == ("mine.toml", "mine.toml")
    (claim,) = own(text + 'place = "my talk"\n')
    assert (claim.place, claim.file) == ("my talk", "mine.toml")
    assert {claim.file for claim in claims.paper_claims()} == {""}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.toml: write claims as [[claim]], with id, says and holds"),
        ("claim = 3", "mine.toml: write claims as [[claim]], with id, says and holds"),
        ("claim = [3]", "mine.toml: write claims as [[claim]], with id, says and holds"),
        ("[[clam]]\nid = 'x'", "mine.toml: unknown key 'clam'; did you mean 'claim'?"),
        ("[[claim]]\nsays = 's'", "mine.toml, claim 1: id is missing"),
        (entry('["a < b"]').replace('"s"', "3"), "mine.toml, claim 1: says = 3: give a text"),
    ],
)
def test_a_bad_file_of_claims_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        own(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("holds", "message"),
    [
        ("a < ts@e/gap=0.3", "mine.toml, claim 'x': unknown policy of cell 'e/gap=0.3' 'a'; known"),
        ("ts@e/gap=0.4 < 3", "unknown cell 'e/gap=0.4'; did you mean 'e/gap=0.3'?"),
        ("ts@f/* < 3", "unknown cell 'f/*'; "),
        ("mine@e/* < 3", "unknown policy of cell 'e/gap=0.1' 'mine'; "),
    ],
)
def test_a_claim_about_what_is_nowhere_is_refused(holds: str, message: str) -> None:
    policies = {"e/gap=0.3": ["ts", "mine"], "e/gap=0.1": ["ts"]}
    claims.check_names(own(entry('["ts < 3", "mine@e/gap=0.3 > 2"]', 'cells = ["e/*"]')), policies)
    with pytest.raises(InvalidInput) as caught:
        claims.check_names(own(entry(f'["{holds}"]', 'cells = ["e/gap=0.3"]')), policies)
    assert message in str(caught.value)


def test_patterns_that_stand_for_different_cells_are_refused() -> None:
    told = own(entry('["ts@a/* < ucb@b/*"]'))
    both = ["ts", "ucb"]
    claims.check_names(told, {"a/n=1": both, "a/n=2": both, "b/n=1": both, "b/n=2": both})
    with pytest.raises(InvalidInput) as caught:
        claims.check_names(told, {"a/n=1": both, "a/n=2": both, "b/n=1": both})
    assert str(caught.value) == (
        "mine.toml, claim 'x': 'ts@a/* < ucb@b/*' compares 'a/*' with 'b/*' cell by cell, * "
        "standing for the same text in both: in 'a/n=2' it stands for 'n=2', and 'b/*' has no such "
        "cell; give both the same cells, or write one comparison for each pair"
    )
    with pytest.raises(InvalidInput, match=r"unknown cell 'b/\*'"):
        claims.check_names(told, {"a/n=1": both})
