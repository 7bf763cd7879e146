"""What `driftanchor` offers by name, and what importing it costs."""

from __future__ import annotations

import html
import importlib
import inspect
import pkgutil
import typing
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
            {"numpy", "scipy", "numba", "matplotlib", "duckdb", "narwhals", "typer", "rich"},
        ),
        (
            "from driftanchor import AnchorTS, Bandit, Campaign, Learner, simulate",
            {
                "scipy",
                "numba",
                "matplotlib",
                "duckdb",
                "narwhals",
                "typer",
                "rich",
                "psycopg",
            },
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
    "import driftanchor.simulation.engine; import driftanchor.simulation.run",
    "import driftanchor.planning",
    "import driftanchor.best_arm.identify",
    "import driftanchor; driftanchor.replay; from driftanchor.planning.split import Split",
]
IN_EACH_ORDER = """
import sys, types
for order in ORDERS:
    for module in [name for name in sys.modules if name.partition(".")[0] == "driftanchor"]:
        del sys.modules[module]
    exec(order)
    da = sys.modules["driftanchor"]
    for name in ("simulate", "plan", "replay", "identify"):
        assert isinstance(getattr(da, name), types.FunctionType), (order, name)
        assert isinstance(vars(da)[name], types.FunctionType), (order, name)
bandit = da.Bandit([0.5, 0.4])
print(da.simulate("ts", bandit, horizon=3, runs=1, engine="interpreted").runs)
"""


def test_functions_are_functions_whatever_was_imported_before(run_python: RunPython) -> None:
    """In a new process, which forgets the package before each order of imports."""
    assert run_python(IN_EACH_ORDER.replace("ORDERS", repr(ORDERS))) == "1\n"


FOR_THE_SERVER = ("CampaignReader", "DecisionRow")  # results of methods that only the server calls


def given_back(thing: Any) -> set[type]:
    """The classes of this package that a public function, or a method of a class, returns."""
    calls: list[Any] = [thing]
    if isinstance(thing, type):
        names = [name for name in vars(thing) if not name.startswith("_")]
        found = [inspect.getattr_static(thing, name) for name in names]
        calls = [getattr(x, "__func__", x) for x in found]
    hints = [typing.get_type_hints(x).get("return") for x in calls if inspect.isfunction(x)]
    return set().union(*map(classes, hints))


def classes(hint: object) -> set[type]:
    """The classes of this package in a type hint, such as the values of a mapping."""
    inner = set().union(*map(classes, typing.get_args(hint)))
    ours = isinstance(hint, type) and hint.__module__.startswith("driftanchor")
    return inner | {hint} if ours and isinstance(hint, type) else inner


@pytest.mark.parametrize(
    "name",
    [
        *("Campaign", "Identification", "Learner", "OfflineData", "Result", "Suggestion"),
        *("identify", "plan", "replay", "simulate", "suggest"),
    ],
)
def test_what_public_names_give_back_is_public_too(name: str) -> None:
    offered = [getattr(driftanchor, other) for other in public()]
    found = given_back(getattr(driftanchor, name))
    assert [x for x in found if x not in offered and x.__name__ not in FOR_THE_SERVER] == []


LOGS = driftanchor.OfflineData.from_summary({"A": (9, 2.0, 1.0), "<b>": (9, 1.0, 1.0)})
SHOWN: dict[str, tuple[object, str, list[str]]] = {
    "offline": (
        LOGS,
        "<OfflineData: 2 arms, 18 logged rewards, means from 1 to 2>",
        ["arm", "n", "mean", "variance"],
    ),
    "no logs": (
        driftanchor.OfflineData.empty(driftanchor.Arms(["A"])),
        "<OfflineData: 1 arm, 0 logged rewards>",
        ["arm", "n", "mean", "variance"],
    ),
    "result": (
        driftanchor.simulate("ts", Bandit([0.5, 0.4]), horizon=3, runs=1, engine="interpreted"),
        "<Result: ts: 1 run of 3 rounds, seed 0>",
        ["policy", "mean", "se", "median", "q90", "q99", "max"],
    ),
    "suggestion": (
        driftanchor.suggest({"W1": LOGS}),
        "<Suggestion: bias_bound inf, relative_bound inf, for 95 % of new periods, from 2 arms in "
        "1 period>",
        ["arm", "periods", "n", "mean", "tau", "tau_low", "tau_high"],
    ),
    "learner": (
        driftanchor.Learner(arms=["A", "<b>"], seed=1),
        "<Learner: guarded-anchor-ts, 2 arms, 0 logged rewards, 0 decisions, 0 rewards, 0 pending, "
        "seed 1>",
        ["arm", "logs_n", "logs_mean", "live_n", "live_mean", "pending", "paused"],
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_results_are_a_line_a_table_and_a_frame(name: str) -> None:
    thing, line, columns = SHOWN[name]
    result: Any = thing
    assert repr(result) == line
    assert list(result.to_frame().columns) == columns
    table = result._repr_html_()
    assert table.startswith("<table><caption>")
    assert all(f"<th>{column.replace('_', ' ')}</th>" in table for column in columns)
    assert "<b>" not in table
    assert "nan" not in table


def test_a_plan_is_a_line_a_table_and_a_frame() -> None:
    plan = driftanchor.plan(LOGS, bias_bound=0.1, horizon=5, worlds=2, seed=3)
    assert repr(plan) == (
        f"<Plan: {plan.decision}, best policy {plan.best_policy}, 2 worlds of 5 rounds, seed 3>"
    )
    assert html.escape(plan.answer) in plan._repr_html_()
    frame = plan.to_frame()
    assert list(frame["policy"]) == list(plan.contenders)
    assert frame["mean"][0] == plan.lost["ts"].mean()


def test_the_version_is_the_installed_one() -> None:
    metadata = importlib.import_module("importlib.metadata")
    assert driftanchor.__version__ == metadata.version("driftanchor")
    assert Bandit.__module__ == "driftanchor.simulation.bandit"
