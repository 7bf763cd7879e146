from __future__ import annotations

from driftanchor.policies import POLICIES
from driftanchor.render import palette


def test_every_policy_has_a_look_of_its_own() -> None:
    assert set(palette.POLICY_LOOKS) == set(POLICIES)
    for part in ("colour", "marker"):
        drawn = [getattr(look, part) for look in palette.POLICY_LOOKS.values()]
        assert len(set(drawn)) == len(POLICIES)


def test_a_variant_keeps_its_colour_and_changes_its_line() -> None:
    looks = palette.looks(
        {"ts": "ts", "anchor-ts": "anchor-ts", "anchor-ts, told": "anchor-ts", "mine": "anchor-ts"}
    )
    assert looks["ts"] == palette.POLICY_LOOKS["ts"]
    same = [looks[label] for label in ("anchor-ts", "anchor-ts, told", "mine")]
    assert len({look.colour for look in same}) == 1
    assert len({look.dash for look in same}) == 3
    assert [look.hollow for look in same] == [False, True, True]


def test_unknown_policies_get_further_looks_always_the_same() -> None:
    asked = {"x": "x", "y": "y", "x again": "x"}
    looks = palette.looks(asked)
    assert looks == palette.looks(asked)
    assert looks["x"].colour == looks["x again"].colour != looks["y"].colour
    known = {look.colour for look in palette.POLICY_LOOKS.values()}
    assert not known & {look.colour for look in looks.values()}


def test_many_unknown_policies_differ_in_colour_or_line() -> None:
    looks = palette.looks({f"policy {i}": f"policy {i}" for i in range(12)})
    assert len({(look.colour, look.marker, look.dash) for look in looks.values()}) == 12


def test_series_have_colours_and_markers_of_their_own() -> None:
    for part in ("colour", "marker"):
        drawn = [getattr(look, part) for look in palette.SERIES]
        assert len(set(drawn)) == len(drawn)


def test_every_policy_has_a_name_for_people_and_labels_of_users_stay() -> None:
    assert set(palette.POLICY_NAMES) == set(POLICIES)
    assert len(set(palette.POLICY_NAMES.values())) == len(POLICIES)
    asked = {"hybrid-ucb": "hybrid-ucb", "my ts": "ts", "mine": "mine", "ts": "anchor-ts"}
    assert palette.names(asked) == {
        "hybrid-ucb": "hybrid UCB",
        "my ts": "my ts",
        "mine": "mine",
        "ts": "ts",
    }
