"""What all tests share: the hypothesis profile, a kernel cache, new processes, chance, PostgreSQL.

Tests take these as fixtures; their types are imported for the type checker alone.
"""

import atexit
import functools
import gc
import importlib
import importlib.util
import io
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import pytest
import worker_duties
from dask_cluster import IMPORTS, SETTINGS, clusters
from drawn_once import DrawnOnce
from examples import OnlyWhereTheyAre
from forks import Forks
from hypothesis import settings
from own_policies import GREEDY, own_policy
from postgres_server import running_postgres
from store_addresses import postgres_address

if TYPE_CHECKING:
    from dask_cluster import StartCluster
    from served_app import App

    from driftanchor import Policy, Store
    from driftanchor.experiments.experiment import Experiment
    from driftanchor.experiments.outcome import Outcomes

settings.register_profile("driftanchor", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("thorough", settings.get_profile("driftanchor"), max_examples=1_000)
settings.load_profile("driftanchor")  # `make torture` takes the other


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `make torture` compare laws over more runs than `make test` does."""
    parser.addoption("--times", type=int, default=1, help="times the usual runs, to compare laws")


def pytest_configure(config: pytest.Config) -> None:
    """Say to the workers where compiled kernels are, and that each has one core.

    Kernels are kept beside pytest's own cache, where the workers share them. They are those that
    users get. No policy and no loop may leave its arrays: NumPy sees it in the interpreted runs
    that each kernel is compared with, and in `make torture` the kernels check every index. Threads
    of linear algebra wait for work by running in circles, which costs more than the work of small
    matrices. Byte code is kept, as Python usually does: tests start many processes that run the
    same files.
    Commands print to a pipe without COLUMNS, which would fold their tables.
    While tests are collected nothing becomes garbage, so nobody looks for it.
    """
    os.environ.pop("COLUMNS", None)
    config.pluginmanager.register(OnlyWhereTheyAre())
    if hasattr(config, "workerinput"):
        gc.disable()
        worker_duties.tell_less(config)
        worker_duties.share_rewriting(config)
    else:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False
        os.environ["XDG_CACHE_HOME"] = str(config.rootpath / ".pytest_cache" / "kernels")
        os.environ["OPENBLAS_NUM_THREADS"] = "1"


def pytest_collection(session: pytest.Session) -> None:
    """Share what Hypothesis reads; it wants to be set up before."""
    worker_duties.share_constants(session.config)


def pytest_collection_finish() -> None:
    """Leave all that is there now out of the search for garbage, of which the tests make much."""
    gc.freeze()
    gc.set_threshold(700, 10, 100)  # to look through all the rest took one second in twenty
    gc.enable()
    atexit.register(gc.unfreeze)  # libraries count in the end what was not given back


@pytest.fixture
def in_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runs in `tmp_path`, so that it can name files as people do."""
    monkeypatch.chdir(tmp_path)


class RunPython(Protocol):
    """Run a program in a new Python and return what it printed."""

    def __call__(self, program: str, env: Mapping[str, str] | None = None) -> str: ...


@pytest.fixture
def run_python(tmp_path: Path) -> RunPython:
    """A way to run a program in a new Python, in `tmp_path`; it must end well."""

    def run(program: str, env: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


class LoadPolicy(Protocol):
    """Import a policy whose index has this body, from a module of this name."""

    def __call__(self, module: str, rule: str = GREEDY) -> "Policy": ...


@pytest.fixture
def load_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoadPolicy:
    """A way to import a policy of one's own, in this process alone."""

    def load(module: str, rule: str = GREEDY) -> "Policy":
        (tmp_path / f"{module}.py").write_text(own_policy(rule))
        monkeypatch.syspath_prepend(tmp_path)
        policy: Policy = importlib.import_module(module).Own()
        return policy

    return load


@pytest.fixture(scope="session")
def dask_forks() -> Iterator[Forks]:
    """What starts the processes of clusters."""
    forks = Forks(*IMPORTS, env=SETTINGS)
    yield forks
    forks.close()


@pytest.fixture(scope="module")
def start_cluster(
    dask_forks: Forks, tmp_path_factory: pytest.TempPathFactory
) -> Iterator["StartCluster"]:
    """A way to start Dask clusters, which end with the module."""
    with clusters(dask_forks, lambda: tmp_path_factory.mktemp("dask")) as start:
        yield start


class Chance:
    """Statistical checks. `false_alarm` is the probability that a right program fails.

    Seeds are fixed, so a check that passes once passes always; the rate speaks of changing them.
    """

    @staticmethod
    def fits(counts: npt.ArrayLike, expected: npt.ArrayLike, *, false_alarm: float) -> None:
        """Pearson's chi-square test, with the tail bound of Laurent and Massart (2000)."""
        seen, due = np.asarray(counts, np.float64), np.asarray(expected, np.float64)
        statistic = float(((seen - due) ** 2 / due).sum())
        freedom, x = seen.size - 1, math.log(1 / false_alarm)
        assert statistic < freedom + 2 * math.sqrt(freedom * x) + 2 * x, (seen, due)

    @staticmethod
    def same_mean(a: npt.NDArray[Any], b: npt.NDArray[Any], *, false_alarm: float) -> None:
        """Welch's z test that two independent samples have the same mean."""
        error = math.sqrt(a.var(ddof=1) / a.size + b.var(ddof=1) / b.size)
        limit = NormalDist().inv_cdf(1 - false_alarm / 2)
        assert abs(a.mean() - b.mean()) < limit * error, (a.mean(), b.mean(), error)

    @staticmethod
    def fewest(tries: int, rate: float, *, false_alarm: float) -> int:
        """The fewest successes that this rate leaves possible, but for the false alarm."""
        chances = [
            math.comb(tries, k) * rate**k * (1 - rate) ** (tries - k) for k in range(tries + 1)
        ]
        return int(np.searchsorted(np.cumsum(chances), false_alarm, side="right"))


@pytest.fixture(scope="session")
def times(request: pytest.FixtureRequest) -> int:
    """How many times the usual number of runs a test of laws compares: 1, in `make torture` 10."""
    asked: int = request.config.getoption("--times")
    return asked


@pytest.fixture(scope="session")
def chance() -> Chance:
    """The statistical checks."""
    return Chance()


class Measured(Protocol):
    """Make up outcomes of the right shape for an experiment, without running it."""

    def __call__(self, experiment: "Experiment") -> "Outcomes": ...


@pytest.fixture(scope="session")
def measured() -> Measured:
    """A way to draw figures of experiments that nobody ran."""
    from driftanchor.experiments.outcome import Outcome

    def make_up(experiment: "Experiment") -> "Outcomes":
        rng = np.random.default_rng(0)
        found = {}
        for cell in experiment.cells:
            for label in cell.policies:
                steps = rng.uniform(0, 9, (experiment.runs, len(experiment.checkpoints)))
                regret = steps.cumsum(axis=1)
                pulls = rng.integers(0, 50, (experiment.runs, len(cell.bandit.online)))
                kept = regret[: experiment.kept_curves]
                most = float(cell.bandit.gaps.max() * experiment.horizon)
                found[cell.id, label] = Outcome(regret[:, -1], kept, pulls, most)
        return found

    return make_up


@pytest.fixture(scope="module")
def little_drawn() -> Iterator[None]:
    """Figures are made, and then written as empty SVGs: nobody renders them.

    Formats, layout and rendering take most of the time. That all formats are written, always with
    the same bytes, and that the page shows them, is tested with the report, and the layout with
    the figures. There all pages are drawn too: here the second page has the figures of the first.
    """
    figures = importlib.import_module("driftanchor.experiments.figures")

    def write_empty(figure: Any, file: Path | io.BytesIO, *how: object) -> None:
        write = file.write if isinstance(file, io.BytesIO) else file.write_bytes
        write(b'<svg xmlns="http://www.w3.org/2000/svg"/>')

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "draw", DrawnOnce(figures.draw))
        patch.setattr("driftanchor.render.figure.FORMATS", ("svg",))
        patch.setattr("driftanchor.render.figure._print", write_empty)
        patch.setattr("driftanchor.render.figure._make_readable", lambda figure: None)
        patch.setattr("matplotlib.figure.Figure.draw_without_rendering", lambda figure: None)
        layout = "matplotlib.layout_engine.ConstrainedLayoutEngine.execute"
        patch.setattr(layout, lambda engine, figure: None)
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A PostgreSQL of the tests' own: the folder of its socket; user and database `postgres`."""
    with running_postgres() as folder:
        yield folder


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    return postgres_address(request.getfixturevalue("postgres"))


@pytest.fixture
def store(store_url: str) -> Iterator["Store"]:
    """An empty store, once of each kind."""
    opened = importlib.import_module("driftanchor.live.stores.store").open_store(store_url)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator["App"]:
    """A server in this process whose store has a campaign `c`."""
    folder: Path = tmp_path_factory.mktemp("store")
    served_app = importlib.import_module("served_app")
    with served_app.running_app(f"sqlite:///{folder / 'store.db'}") as running:
        running.create("c")
        yield running


@pytest.fixture(autouse=True, scope="session")
def _slow_machines_print_no_more() -> None:
    """Keep the lines about long work out of tests that compare what commands print."""
    importlib.import_module("driftanchor.cli.progress").__dict__["FIRST_PAUSE"] = 3600.0


@pytest.fixture(autouse=True, scope="session")
def _commands_are_made_once() -> None:
    """Typer makes the tree of all commands anew for each call: most of the time of most calls."""
    testing: Any = importlib.import_module("typer.testing")
    main: Any = importlib.import_module("typer.main")
    testing._get_command = main.get_command = functools.cache(main.get_command)
