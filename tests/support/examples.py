"""Examples in docstrings: pytest looks for them in files that have some, and nowhere else."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

Found = list[pytest.Collector]


class OnlyWhereTheyAre:
    """Leaves out the files without a prompt: pytest would import and search each of a thousand."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, Found, Found]:
        """What is collected from a file."""
        found = yield
        others = [each for each in found if type(each).__name__ != "DoctestModule"]
        return found if len(others) == len(found) or _has_prompt(file_path) else others


def _has_prompt(file: Path) -> bool:
    return b">>>" in file.read_bytes()
