"""The public names of the package."""

import driftanchor.theory as theory


def test_names_are_sorted_and_documented() -> None:
    assert sorted(theory.__all__, key=lambda name: (name.islower(), name)) == theory.__all__
    for name in theory.__all__:
        assert getattr(theory, name).__doc__
