"""What the tests of commands share."""

import pytest

from driftanchor.cli import progress


@pytest.fixture(autouse=True)
def _slow_machines_print_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the lines about long work out of tests that compare what is printed."""
    monkeypatch.setattr(progress, "FIRST_PAUSE", 3600.0)
