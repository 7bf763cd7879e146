"""The public names of the package."""

import driftanchor.theory as theory


def test_every_public_name_is_there_and_documented() -> None:
    for name in theory.__all__:
        assert getattr(theory, name).__doc__
