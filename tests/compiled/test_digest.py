"""A digest covers all that a kernel is made of, or there is none."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import pytest
from driftanchor.compiled.digest import (
    _is_plain,
    functions_of,
    source_digest,
    source_key,
)
from driftanchor.simulation.engines.reference import play_runs

from driftanchor import TS
from driftanchor.best_arm import lucb


def reads_a_module(x: float) -> float:
    return sys.maxsize * x


def plain(x: float) -> float:
    return math.sqrt(x) + ARMS


ARMS = 10


def with_closure(k: float) -> Callable[[float], float]:
    return lambda x: k * x


def test_only_what_a_digest_covers_is_kept_on_disk() -> None:
    enclosed = with_closure(2.0)
    assert isinstance(enclosed, FunctionType)
    assert isinstance(reads_a_module, FunctionType)
    assert isinstance(plain, FunctionType)
    assert [_is_plain(f) for f in (plain, reads_a_module, enclosed)] == [True, False, False]


OWN = {
    "heir": "from driftanchor import TS\nfrom heir_helper import twice, Pair\n"
    "class Heir(TS):\n    name = 'heir'\n    scale = property(lambda self: twice(self.noise))\n"
    "    def believe(self, arm):\n        return Pair(arm.total, 1.0)\n",
    "heir_helper": "from heir_pair import Pair\ndef twice(x): return 2 * x\n",
    "heir_pair": "from typing import NamedTuple\n"
    "class Pair(NamedTuple):\n    mean: float\n    sd: float\n",
}


@pytest.mark.parametrize("changed", OWN)
def test_a_change_of_any_file_that_decides_a_number_is_seen(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the class, of what its property calls, and of the type of its belief."""
    monkeypatch.syspath_prepend(tmp_path)
    for module, text in OWN.items():
        (tmp_path / f"{module}.py").write_text(text)
        monkeypatch.delitem(sys.modules, module, raising=False)
    heir = importlib.import_module("heir").Heir
    before = source_digest(heir, play_runs)
    assert before == source_digest(heir, play_runs) != source_digest(TS, play_runs)
    file = tmp_path / f"{changed}.py"
    file.write_text(file.read_text() + "\n# another version\n")
    assert before != source_digest(heir, play_runs)
    for module in OWN:
        monkeypatch.delitem(sys.modules, module)


def test_what_has_no_digest_has_a_key_of_this_process_alone() -> None:
    class Local(TS):
        """Its code is in no file that another process could import."""

    class Other(TS):
        """The same."""

    assert source_digest(Local, play_runs) is None
    assert (
        source_key(Local, play_runs) == source_key(Local, play_runs) != source_key(Other, play_runs)
    )
    assert source_key(TS, play_runs) == source_digest(TS, play_runs)


def test_a_loop_without_a_policy_has_a_digest_of_its_own() -> None:
    assert lucb.pull in functions_of(None, lucb.play_runs)
    alone, with_policy = source_digest(None, lucb.play_runs), source_digest(TS, lucb.play_runs)
    assert alone is not None
    assert alone != with_policy
