"""Kernels: compiled from a policy's file, cached on disk, and never run from a stale cache."""

from __future__ import annotations

import importlib
import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import pytest

import driftanchor
from driftanchor import TS, UCB, ArmEvidence, Bandit, Draws, InvalidInput, Policy, Round, simulate
from driftanchor.compiled import kernels, rules
from driftanchor.compiled.overloads import numbers_type, parameters_of, policy_from
from driftanchor.policies.base import index
from driftanchor.simulation import engine

if TYPE_CHECKING:
    from conftest import LoadPolicy, RunPython

DAY = 86_400.0
POLICY = """
from dataclasses import dataclass
from driftanchor import Policy
from helper import twist, bonus
from settings import SIGN, Sizes

@dataclass(frozen=True, kw_only=True)
class Mine(Policy):
    name = "mine"
    formula = "± S/(T+1)"
    source = "this test"
    normals = NORMALS
    FIELDS

    def index(self, arm, now, z):
        return RULE

@dataclass(frozen=True, kw_only=True)
class Other(Policy):
    name = "other"
    formula = "T"
    source = "this test"

    def index(self, arm, now, z):
        return -1.0 * arm.pulls
"""
HELPER = """
def twist(x):
    return TWIST

def times(factor):
    def multiplied(x):
        return factor * x
    return multiplied

bonus = times(BONUS)
"""
SETTINGS = "from enum import IntEnum\nSIGN = VALUE\nclass Sizes(IntEnum):\n    SMALL = SIZE\n"
FIELDS = "first: float = 1.0\n    second: float = 2.0"
SWAPPED = "second: float = 2.0\n    first: float = 1.0"
RULE = "SIGN * twist(arm.total / (arm.pulls + 1)) + bonus(self.first * z.on) + Sizes.SMALL.value"
PROGRAM = """
import json, sys
sys.path.insert(0, "")
import my_policies
from driftanchor import Bandit, simulate
from driftanchor.compiled import kernels

policies, bandit = [getattr(my_policies, x)() for x in sys.argv[1:]], Bandit([0.5, 0.4, 0.1])
for _ in range(2):
    fast, slow = (
        simulate(policies, bandit, horizon=40, runs=3, engine=engine)
        for engine in ("every-round", "interpreted")
    )
    assert fast.regret.tobytes() == slow.regret.tobytes(), (fast.pulls, slow.pulls)
stats = [kernel.stats for kernel in kernels._kernels.values()]
compiled = sum(len(x.cache_misses) for x in stats)
print(json.dumps([fast.pulls.tolist(), sum(len(x.cache_hits) for x in stats), compiled]))
"""


def write(folder: Path, **changes: str) -> None:
    """Write a user's modules: a policy, a helper and constants."""
    texts = {"RULE": RULE, "FIELDS": FIELDS, "NORMALS": "1", "TWIST": "x", "BONUS": "0.5"}
    texts |= {"VALUE": "1.0", "SIZE": "3", **changes}
    for module, text in (("my_policies", POLICY), ("helper", HELPER), ("settings", SETTINGS)):
        for word, replacement in texts.items():
            text = re.sub(rf"\b{word}\b", replacement, text)
        (folder / f"{module}.py").write_text(text)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, and a process that has compiled nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kernels, "_kernels", {})
    kernels._warn_of.cache_clear()
    yield tmp_path / "cache"
    kernels._warn_of.cache_clear()


def test_only_public_modules_of_numba_are_imported() -> None:
    used = set[str]()
    for file in Path(driftanchor.__file__).parent.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        used |= set(re.findall(r"""["'](numba[\w.]*)["']""", text))
        used |= set(re.findall(r"^\s*(?:from|import)\s+(numba[\w.]*)", text, re.MULTILINE))
        assert not re.search(r"numba\.(core|np|cpython|experimental|misc|typed|targets)\b", text), (
            file
        )
    assert {"numba", "numba.extending"} <= used <= {"numba", "numba.extending", "numba.types"}


def test_a_users_policies_are_compiled_once_and_their_edits_take_effect(
    run_python: RunPython, tmp_path: Path
) -> None:
    """Each process compares compiled runs with interpreted ones, to the bit."""
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}

    def played(*names: str) -> tuple[Any, int, int]:
        program = f"import sys; sys.argv[1:] = {[*names]}\n{PROGRAM}"
        pulls, hits, compiled = json.loads(run_python(program, env=env))
        return pulls, hits, compiled

    write(tmp_path)
    mine, *counts = played("Mine")
    assert counts == [0, 2]  # its rule, and the loop
    other, *counts = played("Other")
    assert counts == [1, 1]  # the loop is there
    both, *counts = played("Mine", "Other")  # cached by two processes: none takes another's place
    assert counts == [3, 0]
    assert both == mine + other
    assert mine != other
    write(tmp_path, TWIST="-2.0 * x")
    edited, *counts = played("Mine", "Other")
    assert counts == [2, 1]
    assert edited[:1] != mine
    assert edited[1:] == other


def test_every_part_of_a_rule_changes_the_hash_of_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits: list[dict[str, str]] = [
        {},
        {"RULE": RULE.replace("+ 1", "+ 2")},
        {"TWIST": "2.0 * x"},
        {"BONUS": "0.75"},  # in a closure
        {"VALUE": "-1.0"},
        {"VALUE": "(1.0, 2.0)"},
        {"SIZE": "4"},  # of an enum
        {"NORMALS": "2"},
        {"FIELDS": SWAPPED},
        {},
    ]
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # edited within a second
    digests = []
    for edit in edits:
        write(tmp_path, **edit)
        mine = importlib.import_module("my_policies").Mine
        digests.append(digest_of(mine()))
        for module in ("my_policies", "helper", "settings"):
            del sys.modules[module]
    assert None not in digests
    assert digests[0] == digests[-1]
    assert len({*digests}) == len(edits) - 1


def digest_of(policy: Policy) -> str | None:
    function = rules.chooser(numbers_type(policy))
    return kernels.code_digest(kernels.functions_of(type(policy), function), type(policy))


class Renamed(TS):
    """TS under another name."""

    name = "renamed"


def test_a_subclass_that_changes_no_rule_has_its_own_hash() -> None:
    """A shared folder would hold the subclass's type, which other programs cannot import."""
    assert digest_of(Renamed()) != digest_of(TS())


TABLE: dict[str, float] = {}
jitted = numba.njit(lambda x: x)
larger = max


def reads_a_builtin(x: float) -> float:
    return larger(x, 1.0)


def test_another_builtin_under_the_same_name_changes_the_hash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    function: Any = reads_a_builtin
    before = kernels.code_digest([function])
    monkeypatch.setitem(globals(), "larger", min)
    assert before is not None
    assert kernels.code_digest([function]) not in (None, before)


def reads_a_module(x: float) -> float:
    return x + sys.maxsize


def reads_a_table(x: float) -> float:
    return TABLE["a"] + x


def calls_compiled_code(x: float) -> float:
    return float(jitted(x))


@pytest.mark.parametrize("function", [reads_a_module, reads_a_table, calls_compiled_code])
def test_code_that_may_change_without_notice_has_no_hash(function: Any) -> None:
    assert kernels.code_digest([function]) is None


def asker(numbers: Any) -> Callable[..., float]:
    """Make a rule that is compiled fast: the index of one arm."""

    def asked(parameters: Any, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return index(policy_from(numbers, parameters), arm, now, z)

    return asked


ARM = ArmEvidence(4, 2.0, 0, 0.0, 0.0), Round(5, 2), Draws(0.0, 0.0, 0.0)


def asked_of(policy: Policy) -> float:
    """Return the index of one arm, from a rule that this process has not compiled."""
    kernels._kernels.clear()
    arguments = parameters_of(policy), *ARM
    return float(kernels.rule(policy, asker, *arguments)(*arguments))


@pytest.mark.usefixtures("cache")
def test_a_class_defined_again_under_the_same_name_runs_its_new_rule() -> None:
    """As in a notebook, where a class is in no file that another process could import."""
    for factor in ("1.0", "50.0"):
        names: dict[str, Any] = {"__name__": "__main__"}
        text = POLICY.replace("RULE", f"{factor} * arm.total").replace("NORMALS", "0")
        lines = [line for line in text.splitlines() if not line.startswith("from ")]
        given = "from dataclasses import dataclass\nfrom driftanchor import Policy\n"
        exec(given + "\n".join(lines).replace("FIELDS", "pass"), names)
        assert asked_of(names["Mine"]()) == float(factor) * 2.0
        assert not kernels._is_importable(names["Mine"]())


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    "again",
    [
        "SIZE = 3.0",
        "def twist(x): return 3.0 * x",
        "twist, other = other, twist",
        "DEEP = 7.0",
        "def deep(x): return 7.0 * x",
    ],
)
def test_a_helper_or_constant_defined_again_takes_effect(again: str) -> None:
    """As in a notebook, where a cell runs again and the class stays."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(
        """
from dataclasses import dataclass
from driftanchor import Policy
SIZE = 1.0
DEEP = 2.0
def deep(x): return DEEP * x
def twist(x): return deep(x)
def other(x): return 5.0 * x

@dataclass(frozen=True, kw_only=True)
class Again(Policy):
    name, formula, source = "again", "", ""

    def index(self, arm, now, z):
        return SIZE * (twist(arm.total) if SIZE else other(arm.total))
""",
        names,
    )
    mine = names["Again"]()
    before = index_of(mine)
    assert before == mine.index(*ARM)
    exec(again, names)
    assert index_of(mine) == mine.index(*ARM) != before


def index_of(policy: Policy) -> float:
    """Return the index of one arm, from a rule that may be compiled already."""
    arguments = parameters_of(policy), *ARM
    return float(kernels.rule(policy, asker, *arguments)(*arguments))


@pytest.mark.parametrize("answer", ["1.0", "None", "True", "1 if now.t > 9 else None"])
def test_a_choice_that_is_no_column_names_the_policy(answer: str) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(
        f"""
from dataclasses import dataclass
from driftanchor import Policy

@dataclass(frozen=True, kw_only=True)
class Stray(Policy):
    name, formula, source = "stray", "", ""

    def choose(self, evidence, now, stream):
        return {answer}
""",
        names,
    )
    with pytest.raises(InvalidInput, match="policy 'stray' does not always choose a column"):
        simulate(names["Stray"](), Bandit([0.5, 0.1]), horizon=9, runs=1, engine="every-round")


def test_a_class_of_a_function_is_not_cached(cache: Path) -> None:
    class Local(TS):
        """No other process finds it."""

    assert asked_of(Local()) == 2.0 / 5
    assert not list(cache.rglob("*.nbc"))


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022])
def test_cache_folders_are_private_whatever_the_umask(mask: int, cache: Path) -> None:
    before = os.umask(mask)
    try:
        folder = kernels._cache_folder("aa")
    finally:
        os.umask(before)
    assert folder is not None
    for place in (folder, folder.parent, folder.parent.parent):
        assert place.stat().st_mode & 0o777 == 0o700
    assert folder.is_relative_to(cache)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_can_write_to_is_not_used_and_a_warning_says_so_once(
    depth: int, mode: int
) -> None:
    folder = kernels._cache_folder("aa")
    assert folder is not None
    place = [folder, *folder.parents][depth]
    place.chmod(mode)
    with pytest.warns(UserWarning, match=f"other users can write to '.*{place.name}'.*XDG_CACHE"):
        assert kernels._cache_folder("aa") is None
    assert kernels._cache_folder("aa") is None  # warnings are errors in tests
    place.chmod(0o755)
    assert kernels._cache_folder("aa") == folder


@pytest.mark.usefixtures("cache")
def test_a_folder_of_another_user_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernels._cache_folder("aa") is not None
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    with pytest.warns(UserWarning, match="other users can write to"):
        assert kernels._cache_folder("aa") is None


@pytest.mark.usefixtures("cache")
def test_without_a_usable_cache_folder_it_compiles_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "cache"))
    assert asked_of(TS()) == 2.0 / 5

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert asked_of(TS()) == 2.0 / 5
    assert not list(tmp_path.rglob("*.nbc"))


def test_damaged_files_and_a_full_disk_mean_compiling_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked_of(TS()) == 2.0 / 5
    for suffix in ("nbi", "nbc"):
        (file,) = cache.rglob(f"*.{suffix}")
        file.write_bytes(b"no pickle")
        assert asked_of(TS()) == 2.0 / 5
        assert not file.exists()  # the next process writes it again
        assert asked_of(TS()) == 2.0 / 5
        assert file.exists()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert asked_of(Renamed()) == 2.0 / 5


@pytest.mark.usefixtures("cache")
def test_folders_that_nobody_used_for_a_month_are_removed() -> None:
    old, recent, used = (kernels._cache_folder(name) for name in ("aa", "bb", "cc"))
    assert old is not None
    assert recent is not None
    assert used is not None
    for folder, days in ((old, 31), (recent, 29), (used, 40)):
        then = time.time() - days * DAY
        os.utime(folder, (then, then))
    kernels._cache_folder("cc")  # used again
    kernels._cache_folder("dd")  # new: others are looked through
    assert [folder.exists() for folder in (old, recent, used)] == [False, True, True]


class Wordy(TS):
    """Its rule cannot be compiled."""

    name = "wordy"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        table: Any = {"one": arm.bias_bound, 2: arm}
        return float(table["one"])


def test_a_rule_that_cannot_be_compiled_says_so_and_what_to_do() -> None:
    message = r"policy 'wordy' cannot be compiled.*interpreted engine.*test_kernels.py, line"
    with pytest.raises(InvalidInput, match=message):
        simulate(Wordy(), Bandit([0.5, 0.4]), horizon=9, runs=1)
    result = simulate(Wordy(), Bandit([0.5, 0.4]), horizon=9, runs=1, engine="interpreted")
    assert result.pulls.sum() == 9


def test_numba_that_is_switched_off_is_named(run_python: RunPython) -> None:
    program = (
        "import driftanchor as da; bandit = da.Bandit([0.5, 0.4])\n"
        "try: da.simulate('ts', bandit, horizon=9, runs=1)\n"
        "except da.InvalidInput as error: print(error)\n"
        "da.simulate('ts', bandit, horizon=9, runs=1, engine='interpreted')"
    )
    said = run_python(program, env={"NUMBA_DISABLE_JIT": "1"})
    assert said.startswith("the environment variable NUMBA_DISABLE_JIT switches Numba off: unset")


def test_compiling_is_logged_once_and_leaves_numbas_cache_setting(
    load_policy: LoadPolicy,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    config: Any = numba.config
    monkeypatch.setattr(config, "CACHE_DIR", "of-the-user")
    caplog.set_level(logging.INFO, "driftanchor")
    policy = load_policy("logged")
    arguments = parameters_of(policy), *ARM
    for _ in range(2):
        kernel = kernels.rule(policy, asker, *arguments)
        assert kernel(*arguments) == kernels.entry(kernel, *arguments)(*arguments) == 2.0 / 5
    messages = [record.getMessage() for record in caplog.records]
    assert messages == ["compiling own: once, for some seconds"]
    assert config.CACHE_DIR == "of-the-user"
    assert len(list(cache.rglob("*.nbc"))) == 1


def test_threads_compile_one_after_the_other_and_each_policy_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Numba's cache folder is global: side by side, a kernel would land in another's folder."""
    busy, made = threading.Lock(), list[str]()

    def compile_alone(numba: Any, policy: Policy, *_: Any) -> Any:
        assert busy.acquire(blocking=False)
        time.sleep(0.01)
        made.append(policy.name)
        busy.release()
        return policy

    monkeypatch.setattr(kernels, "_kernels", {})
    monkeypatch.setattr(kernels, "_compile", compile_alone)
    threads = [
        threading.Thread(target=kernels.rule, args=(policy, asker, *ARM))
        for policy in (TS(), UCB()) * 4
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == ["ts", "ucb"]


def test_loops_release_the_gil_and_rules_hold_it() -> None:
    simulate("ucb", Bandit([0.5, 0.4]), horizon=5, runs=1, engine="every-round")
    compiled: dict[Any, Any] = dict(kernels._kernels)
    kinds = {key[0]: kernel.targetoptions["nogil"] for key, kernel in compiled.items()}
    assert kinds[engine.play_every_round]
    assert not kinds[rules.chooser]


def test_the_loop_is_compiled_for_all_policies_at_once() -> None:
    for policy in (TS(), UCB()):
        simulate(policy, Bandit([0.5, 0.4]), horizon=5, runs=1, engine="every-round")
    compiled: list[Any] = [*kernels._kernels]
    assert sum(key[0] is engine.play_every_round for key in compiled) == 1
    assert sum(key[0] is rules.chooser for key in compiled) >= 2
