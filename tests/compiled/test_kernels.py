"""Kernels: compiled from a policy's file, kept on disk, and never run from a stale cache."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import pytest
from driftanchor.compiled.digest import source_digest
from driftanchor.live.chosen_column import chosen_column
from driftanchor.simulation.engines import reference

from driftanchor import (
    TS,
    UCB,
    ArmEvidence,
    Bandit,
    Draws,
    InvalidInput,
    Policy,
    Round,
    simulate,
)
from driftanchor.compiled import kernels as compiled
from driftanchor.core.noise import NoDraws
from driftanchor.core.posterior import Posterior
from driftanchor.policies.base import index
from driftanchor.simulation import ENGINES

if TYPE_CHECKING:
    from conftest import RunPython

BANDIT = Bandit([0.5, -0.5, 0.2], 0.0, 5, bias_bound=[0.1, 0.9, 0.3])
POLICY = """
from dataclasses import dataclass
from driftanchor import ArmEvidence, Draws, Policy, Round
from helper import twist
from settings import SIGN

@dataclass(frozen=True, kw_only=True)
class Mine(Policy):
    name = "mine"
    formula = "± V"
    source = "this test"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return RULE
"""
HELPER = "def twist(x: float) -> float:\n    return TWIST\n"
LOOP = """
from driftanchor.policies.base import index

def one_index(policy, arm, now):  # soon compiled
    return index(policy, arm, now, now)
"""
PROGRAM = """
import sys
sys.path.insert(0, "")
from driftanchor import ArmEvidence, Round
from driftanchor.compiled.kernels import kernel
from loop import one_index
from my_policy import Mine
print(kernel(Mine, one_index)(Mine().numbers(), ArmEvidence(1, 0.5, 0, 0.0, 3.0), Round(2, 2)))
"""


def write(
    folder: Path, rule: str = "SIGN * twist(arm.bias_bound)", twist: str = "x", sign: str = "1.0"
) -> None:
    (folder / "my_policy.py").write_text(POLICY.replace("RULE", rule))
    (folder / "helper.py").write_text(HELPER.replace("TWIST", twist))
    (folder / "settings.py").write_text(f"SIGN = {sign}\n")
    (folder / "loop.py").write_text(LOOP)


def kernels(folder: Path) -> int:
    return len(list(folder.rglob("*.nbc")))


def cache_folder(policy: type[Policy]) -> Path | None:
    return compiled.cache_folder(policy, reference.play_runs)


def test_an_edited_rule_takes_effect_in_the_next_process(
    run_python: RunPython,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two rules in this process; the next finds both."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # edited within a second
    for number, rule in enumerate(
        ("SIGN * twist(arm.bias_bound)", "-SIGN * twist(arm.bias_bound)")
    ):
        write(tmp_path, rule=rule)
        exec(PROGRAM, {})
        for module in ("my_policy", "helper", "settings", "loop"):
            del sys.modules[module]
        assert capsys.readouterr().out == ("3.0\n", "-3.0\n")[number]
        assert kernels(cache) == number + 1
    write(tmp_path)  # back again: nothing is compiled anew
    assert run_python(PROGRAM) == "3.0\n"
    assert kernels(cache) == 2


def test_whatever_a_rule_is_made_of_names_its_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The edited files are imported anew."""
    edits: list[dict[str, str]] = [
        {},
        {"rule": "SIGN * twist(1.0 + arm.bias_bound)"},
        {"twist": "2.0 * x"},
        {"sign": "-1.0"},
        {"sign": "(1.0, 2.0)"},
        {},
    ]
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # edited within a second
    digests = []
    for edit in edits:
        write(tmp_path, **edit)
        mine = importlib.import_module("my_policy").Mine
        digests.append(source_digest(mine, reference.play_runs))
        for module in ("my_policy", "helper", "settings"):
            del sys.modules[module]
    assert None not in digests
    assert digests[0] == digests[-1]
    assert len({*digests}) == len(edits) - 1


def test_a_policy_typed_into_a_session_or_made_in_a_function_is_not_cached() -> None:
    class Typed(TS):
        """Of a session: no file has its rule."""

    class Local(TS):
        """Of a function: no name finds it again."""

    Typed.__module__, Typed.__qualname__ = "__main__", "Typed"
    assert cache_folder(Typed) is None
    assert cache_folder(Local) is None


def test_a_cache_folder_that_cannot_be_used_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = cache_folder(TS)
    assert folder is not None
    assert folder.is_relative_to(tmp_path)
    assert cache_folder(UCB) != folder

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    with monkeypatch.context() as patch:
        patch.delenv("XDG_CACHE_HOME")
        patch.setattr(Path, "home", no_home)
        assert cache_folder(TS) is None
    with monkeypatch.context() as patch:
        patch.setattr("os.access", lambda *_: False)  # a read-only folder, even for root
        assert cache_folder(TS) is None
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cache_folder(TS) is None


def test_a_subclass_that_changes_no_rule_has_a_folder_of_its_own() -> None:
    """A shared one would hold the subclass's type, which other programs cannot import."""
    assert cache_folder(Renamed) != cache_folder(TS)


class Renamed(TS):
    """TS under another name."""

    name = "renamed"


def test_two_threads_compile_one_after_the_other_and_each_policy_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Numba's cache folder is global: side by side, a kernel would land in another's folder."""
    busy, made = threading.Lock(), []

    def compile_alone(policy: Any, loop: Any) -> Any:
        assert busy.acquire(blocking=False)
        time.sleep(0.01)
        made.append(policy)
        busy.release()
        return policy

    monkeypatch.setattr(compiled, "_kernels", {})
    monkeypatch.setattr(compiled, "_compile", compile_alone)
    threads = [
        threading.Thread(target=compiled.kernel, args=(policy, reference.play_runs))
        for policy in (TS, UCB) * 4
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made, key=str) == sorted({TS, UCB}, key=str)


def test_compiling_leaves_the_cache_setting_of_numba_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config: Any = numba.config
    monkeypatch.setattr(config, "CACHE_DIR", "of-the-user")
    monkeypatch.setattr(compiled, "_kernels", {})
    compiled.kernel(TS, reference.play_runs)
    assert config.CACHE_DIR == "of-the-user"


class OtherSample(TS):
    """The parent's belief, looked at in another way."""

    name = "other-sample"

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        return belief.mean + 3.0 * belief.sd * z.on


@pytest.mark.slow
def test_without_a_usable_cache_folder_it_compiles_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "cache"))
    effort: dict[str, Any] = {"horizon": 300, "runs": 4}
    slow = simulate(OtherSample(), BANDIT, engine="interpreted", **effort)
    for engine in sorted({*ENGINES} - {"interpreted"}):  # none may use a parent's law
        fast = simulate(OtherSample(), BANDIT, engine=engine, **effort)
        assert fast.pulls.tolist() == slow.pulls.tolist(), engine
    parent = simulate(TS(), BANDIT, engine="interpreted", **effort)
    assert slow.pulls.tolist() != parent.pulls.tolist()
    assert (OtherSample, reference.play_runs) in compiled._kernels  # it was compiled
    assert kernels(tmp_path) == kernels(Path(reference.__file__).parent) == 0


@dataclass(frozen=True, kw_only=True)
class Wordy(Policy):
    """Its rule cannot be compiled."""

    name = "wordy"
    formula = "none"
    source = "this test"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        table: Any = {"one": arm.bias_bound, 2: arm}
        return float(table["one"])


def one_index(policy: Any, arm: ArmEvidence, now: Round) -> float:
    """A loop that is soon compiled."""
    return index(policy, arm, now, NoDraws())


def test_a_rule_that_cannot_be_compiled_says_so_and_what_to_do() -> None:
    with pytest.raises(
        InvalidInput, match=r"policy 'wordy' cannot be compiled.*engine=\"interpreted\""
    ):
        compiled.kernel(Wordy, one_index)(
            Wordy().numbers(), ArmEvidence(1, 0.5, 0, 0.0, 3.0), Round(2, 2)
        )


def test_numba_that_is_switched_off_is_named(run_python: RunPython) -> None:
    program = (
        "import driftanchor as da; bandit = da.Bandit([0.5, 0.4])\n"
        "try: da.simulate('ts', bandit, horizon=9, runs=1)\n"
        "except da.InvalidInput as error: print(error)\n"
        "da.simulate('ts', bandit, horizon=9, runs=1, engine='processes')"
    )
    said = run_python(program, env={"NUMBA_DISABLE_JIT": "1"})
    assert said.startswith("the environment variable NUMBA_DISABLE_JIT switches Numba off: unset")


def test_only_long_loops_let_other_threads_run() -> None:
    """A short one would wait longer for its turn than it takes."""
    long: Any = compiled.kernel(UCB, reference.play_runs)
    short: Any = compiled.kernel(UCB, chosen_column)
    assert long.targetoptions["nogil"]
    assert not short.targetoptions["nogil"]
