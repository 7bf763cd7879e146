"""A client that has an answer says so by its tag."""

import pytest

from driftanchor.serve.etag import is_known, tag_of


def test_a_tag_changes_with_the_answer() -> None:
    assert tag_of(b"a") == tag_of(b"a") != tag_of(b"b")
    assert tag_of(b"").startswith('"')


@pytest.mark.parametrize(
    ("header", "known"),
    [
        (None, False),
        ("", False),
        ('"x"', True),
        ('W/"x"', True),
        ('"y" , "x"', True),
        ("*", True),
        ('"y"', False),
        ("x", False),
    ],
)
def test_which_tags_a_client_has(header: str | None, known: bool) -> None:
    assert is_known('"x"', header) == known
