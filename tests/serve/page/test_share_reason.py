import pytest

from driftanchor.serve.page.share_reason import share_reason


@pytest.mark.parametrize(
    ("state", "share", "of", "p_best", "floor", "words"),
    [
        ("paused", 0.2, 100, 0.5, 0.0, "it is paused"),
        ("active", 0.0, 0, 0.5, 0.0, "no decisions"),
        ("active", 0.8, 100, 0.95, 0.0, "most likely the best"),
        ("active", 0.6, 100, 0.6, 0.0, "likely the best"),
        ("active", 0.09, 100, 0.3, 0.08, "about its guaranteed 8 %"),
        ("active", 0.4, 100, 0.02, 0.05, "to check that the logs are right"),
        ("active", 0.3, 100, 0.7, 0.0, "it leads"),
        ("active", 0.02, 100, 0.01, 0.0, "unlikely"),
        ("active", 0.25, 100, 0.25, 0.0, "about as often as that is likely"),
    ],
)
def test_each_share_has_its_reason(
    state: str, share: float, of: int, p_best: float, floor: float, words: str
) -> None:
    assert words in share_reason(state, share, of, p_best, floor)
