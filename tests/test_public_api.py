"""What `driftanchor` offers by name, and what importing it costs."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

import driftanchor
import driftanchor.policies
from driftanchor import POLICIES, Bandit, Policy

if TYPE_CHECKING:
    from conftest import RunPython


def public() -> list[str]:
    module: Any = driftanchor
    names: list[str] = module.__all__
    return names


def test_all_is_sorted_without_repeats_and_complete() -> None:
    assert public() == sorted(set(public()))
    assert set(public()) >= set(driftanchor.policies.__all__)
    assert set(public()) >= {"AnchorTS", "Arms", "Bandit", "Learner", "OfflineData", "simulate"}


@pytest.mark.parametrize("name", public())
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(driftanchor, name) is not None
    assert name in dir(driftanchor)


def test_star_import_brings_exactly_the_public_names() -> None:
    scope: dict[str, object] = {}
    exec("from driftanchor import *", scope)
    assert sorted(scope.keys() - {"__builtins__"}) == public()


def test_an_unknown_name_is_an_attribute_error() -> None:
    for name in ("Anchor", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"module 'driftanchor' has no attribute '{name}'"):
            getattr(driftanchor, name)


def test_every_public_policy_is_in_the_registry_and_every_policy_is_public() -> None:
    offered = [getattr(driftanchor, name) for name in public()]
    assert rules(offered) == set(POLICIES.values())
    modules = [
        importlib.import_module(f"driftanchor.policies.{info.name}")
        for info in pkgutil.iter_modules(driftanchor.policies.__path__)
    ]
    defined = [thing for module in modules for thing in vars(module).values()]
    assert rules(defined) == set(POLICIES.values())


def rules(things: Iterable[object]) -> set[type[Policy]]:
    """The policies among them, without what all have in common."""
    return {x for x in things if isinstance(x, type) and issubclass(x, Policy)} - {Policy}


@pytest.mark.parametrize(
    ("program", "absent"),
    [
        (
            "import driftanchor",
            {"numpy", "numba", "matplotlib", "duckdb", "narwhals", "typer", "rich"},
        ),
        (
            "from driftanchor import AnchorTS, Bandit, Learner, simulate",
            {"numba", "matplotlib", "duckdb", "narwhals", "typer", "rich"},
        ),
    ],
)
def test_importing_stays_light(program: str, absent: set[str], run_python: RunPython) -> None:
    loaded = run_python(f"{program}\nimport sys\nprint(*sys.modules)").split()
    assert "driftanchor" in loaded
    assert not absent & {name.partition(".")[0] for name in loaded}


ORDERS = [
    "import driftanchor",
    "import driftanchor.simulation",
    "import driftanchor.simulation.bandit; import driftanchor",
    "import driftanchor; driftanchor.simulate; import driftanchor.simulation",
    "import driftanchor; from driftanchor.simulation import cover",
    "import driftanchor.simulation.engines; import driftanchor.simulation.run",
    "import driftanchor.planning",
    "import driftanchor; driftanchor.replay; from driftanchor.planning.law import Law",
]
IN_EACH_ORDER = """
import sys, types
for order in ORDERS:
    for module in [name for name in sys.modules if name.partition(".")[0] == "driftanchor"]:
        del sys.modules[module]
    exec(order)
    da = sys.modules["driftanchor"]
    for name in ("simulate", "plan", "replay"):
        assert isinstance(getattr(da, name), types.FunctionType), (order, name)
        assert isinstance(vars(da)[name], types.FunctionType), (order, name)
bandit = da.Bandit([0.5, 0.4])
print(da.simulate("ts", bandit, horizon=3, runs=1, engine="interpreted").runs)
"""


def test_functions_are_functions_whatever_was_imported_before(run_python: RunPython) -> None:
    """In a new process, which forgets the package before each order of imports."""
    assert run_python(IN_EACH_ORDER.replace("ORDERS", repr(ORDERS))) == "1\n"


def test_the_version_is_the_installed_one() -> None:
    metadata = importlib.import_module("importlib.metadata")
    assert driftanchor.__version__ == metadata.version("driftanchor")
    assert Bandit.__module__ == "driftanchor.simulation.bandit"
