"""Pages show measured numbers and names that exist; the readings are what they say."""

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.pages import readings, render
from driftanchor.core.evidence import Evidence, Round, arm_at
from driftanchor.core.noise import keyed_stream, wrapping
from driftanchor.core.posterior import online_posterior
from driftanchor.policies import POLICIES, AnchorTS, Policy
from driftanchor.simulation import Bandit, simulate

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CONFIG = ROOT / "zensical.toml"

LETTERS = [
    readings.RecursiveMean,
    readings.DampedSum,
    readings.LogsAlone,
    readings.ShiftWithoutLogs,
    readings.AsPrinted,
    readings.PlainMean,
    readings.FirstOfTies,
    readings.SharedDraw,
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built documentation."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(DOCS, folder / "docs")
    shutil.copy(CONFIG, folder)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder / "site"


@pytest.mark.parametrize("page", render.pages(), ids=lambda page: str(page.name))
def test_measured_blocks_are_what_the_files_give(page: Path) -> None:
    assert page.read_text() == render.rendered(page)


def test_every_measured_block_is_on_a_page() -> None:
    texts = "".join(page.read_text() for page in render.pages())
    shown = [match[1] for match in render.BLOCK.findall(texts)]
    assert sorted(shown) == sorted(render.load())


@pytest.mark.parametrize("number", range(1, 21))
def test_every_erratum_has_one_entry(number: int) -> None:
    entry = rf"^(## E{number}: |- \*\*E{number}\.\*\* )"
    assert len(re.findall(entry, (DOCS / "evidence" / "errata.md").read_text(), re.MULTILINE)) == 1


def test_links_between_files_resolve() -> None:
    for page in [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
            assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"


# Files that a worked example makes, or that a command leaves.
MADE = {
    "src/driftanchor/policies/moss_ucb.py",
    "tests/policies/test_moss_ucb.py",
    "tests/a/test_b.py",
}
MADE |= {"src/driftanchor/a/b.py", "my.toml", "plan.html", "out/report.html"}
NAMED = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|toml|md|c|cff)|(?:[\w.-]+/)+)`")
WRITTEN = [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    """Relative to the root or to the package; a bare name may be anywhere in the package."""
    places = [ROOT, ROOT / "src" / "driftanchor"]
    for name in set(NAMED.findall(page.read_text(encoding="utf-8"))) - MADE:
        there = any((place / name).exists() for place in places)
        bare = "/" not in name and any(places[1].rglob(name))
        assert there or bare, f"{page.name} names {name}, which does not exist"


def test_contributing_lists_the_packages_that_there_are() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.findall(r"^(\w+)/ +\w", text, re.MULTILINE)
    packages = [path.parent.name for path in (ROOT / "src/driftanchor").glob("*/__init__.py")]
    assert sorted(listed) == sorted(packages)


def test_the_algorithm_page_names_code_that_exists() -> None:
    pairs = re.findall(
        r"`([\w/]+\.py)`(?: \||,) `(\w+)`", (DOCS / "learn" / "algorithm.md").read_text()
    )
    assert len(pairs) > 10
    for file, name in pairs:
        module = "driftanchor." + file.removesuffix(".py").replace("/", ".")
        assert hasattr(importlib.import_module(module), name), f"{file}: {name}"


def test_the_menu_has_every_page_once() -> None:
    listed = re.findall(r'"([^"]+\.md)"', CONFIG.read_text())
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_the_site_has_every_page(site: Path) -> None:
    for page in DOCS.rglob("*.md"):
        assert (site / page.relative_to(DOCS).with_suffix(".html")).is_file()


def test_pages_fetch_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text()
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]+)"', text)
        assert not [target for target in loaded if "//" in target], page.name


def test_no_reading_is_a_policy_of_the_package() -> None:
    assert not {readings.Reading, *LETTERS} & set(POLICIES.values())


def test_the_reading_that_changes_nothing_is_anchor_ts() -> None:
    bandit = Bandit.paper(biased=True, coverage="suboptimal")
    policies = {"ours": AnchorTS(), "reading": readings.Reading()}
    effort: dict[str, Any] = {"horizon": 400, "runs": 3, "seed": 3, "engine": "interpreted"}
    ours, reading = simulate(policies, bandit, **effort).regret
    assert (ours == reading).all()


def test_every_other_reading_changes_something() -> None:
    bandit = Bandit([0.8, 0.5, 0.5], [0.5, 0.6, 0.6], offline_pulls=[1, 0, 2], bias_bound=0.3)
    policies = {"ours": AnchorTS()} | {letter.__name__: letter() for letter in LETTERS}
    result = simulate(policies, bandit, horizon=40, runs=20, seed=3, engine="interpreted")
    for name, pulls in zip(policies, result.pulls, strict=True):
        assert (pulls != result.pulls[0]).any() == (name != "ours"), name


@pytest.mark.parametrize("letter", [readings.RecursiveMean, readings.FirstOfTies])
def test_readings_compile_to_the_same(letter: type[Policy]) -> None:
    bandit = Bandit.paper(biased=True)
    compiled, interpreted = (
        simulate({"it": letter()}, bandit, horizon=200, runs=3, seed=5, engine=engine).regret
        for engine in ("every-round", "interpreted")
    )
    assert (compiled == interpreted).all()


def test_the_printed_recursion_goes_to_half_the_mean_and_the_anchor_to_all_of_it() -> None:
    evidence = Evidence(
        pulls=np.zeros(1, np.int64),
        totals=np.zeros(1),
        offline_pulls=np.zeros(1, np.int64),
        offline_means=np.zeros(1),
        bias_bounds=np.zeros(1),
        playable=np.ones(1, np.bool_),
        memory=np.zeros((1, 3)),
        pending=np.zeros(1, np.int64),
        relative_bounds=np.full(1, np.inf),
    )
    stream = keyed_stream(0, "test", 0)
    policy = readings.RecursiveMean()
    with wrapping():
        for t in range(1, 2_001):
            assert policy.choose(evidence, Round(t, 1), stream) == 0
            evidence.pulls[0] += 1
            evidence.totals[0] += 0.8
        policy.choose(evidence, Round(2_001, 1), stream)
    assert evidence.memory[0, 2] == pytest.approx(0.4, abs=1e-9)
    assert online_posterior(arm_at(evidence, 0), 0.0, 1.0).mean == pytest.approx(0.8, abs=1e-3)


def test_ties_go_to_the_first_arm_in_that_reading_alone() -> None:
    bandit = Bandit([0.5] * 4)
    policies = {"ours": AnchorTS(), "first": readings.FirstOfTies()}
    result = simulate(policies, bandit, horizon=1, runs=4_000, seed=1)
    ours, first = result.pulls.mean(axis=1)
    # All indices are 0 or below with probability (3/4)⁴, and some are 0 with almost that: then
    # the first of these wins. At random each arm has 1/4; 5 standard errors are 0.035.
    assert abs(ours[0] - 0.25) < 0.035
    assert first[0] > first[3] + 0.1
