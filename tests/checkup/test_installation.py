"""What is said about Python and packages, where they are as they should be and where not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

import driftanchor
from driftanchor.checkup import installation
from driftanchor.checkup.diagnosis import Diagnosis

Metadata = Callable[..., None]


@pytest.fixture
def installed_as(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Metadata:
    """A way to let this package have been installed with other metadata."""

    def write(*lines: str, version: str = driftanchor.__version__) -> None:
        folder = tmp_path / f"driftanchor-{version}.dist-info"
        folder.mkdir()
        head = ("Metadata-Version: 2.1", "Name: driftanchor", f"Version: {version}")
        (folder / "METADATA").write_text("\n".join([*head, *lines]))
        monkeypatch.syspath_prepend(tmp_path)

    return write


def only(found: object) -> Diagnosis:
    (each,) = list(found)  # type: ignore[call-overload]
    assert isinstance(each, Diagnosis)
    return each


def test_all_is_well_here() -> None:
    checks = (installation.python, installation.package, installation.core, installation.extras)
    found = [each for check in checks for each in check()]
    assert {each.status for each in found} == {"fine"}, found
    assert f"Python {sys.version.split()[0]}" in found[0].found
    assert driftanchor.__version__ in found[1].found
    assert f"numpy {metadata.version('numpy')}" in found[2].found


def test_every_extra_is_checked_and_what_it_is_for_is_said() -> None:
    names = set(metadata.metadata("driftanchor").get_all("Provides-Extra") or []) - {"all"}
    assert set(installation.WITHOUT) == names
    assert {each.name for each in installation.extras()} == {f"extra {name}" for name in names}


def test_an_old_python(installed_as: Metadata) -> None:
    installed_as("Requires-Python: >=3.99")
    found = only(installation.python())
    assert found.status == "problem"
    assert "needs Python 3.99 or newer" in found.advice


@pytest.mark.parametrize("part", ["sqlite3", "ssl"])
def test_a_python_without_a_part(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, part, None)
    found = only(installation.python())
    assert found.status == "problem"
    assert found.found.endswith(f"was built without {part}")
    assert installation.OPTIONAL[part] in found.advice


def test_metadata_of_another_version(installed_as: Metadata) -> None:
    installed_as(version="0.0.1")
    found = only(installation.package())
    assert found.status == "problem"
    assert found.found.endswith("was installed as 0.0.1")
    assert "pip install ." in found.advice


def test_an_extra_that_is_not_installed(installed_as: Metadata) -> None:
    installed_as(
        "Provides-Extra: plot",
        "Requires-Dist: no-such-package>=2; extra == 'plot'",
        "Requires-Dist: nor-such-a-one; extra == 'plot'",
        "Requires-Dist: numpy; extra == 'plot'",
    )
    found = only(installation.extras())
    assert (found.name, found.status) == ("extra plot", "missing")
    assert found.found == (
        f"numpy {metadata.version('numpy')}; not installed: no-such-package, nor-such-a-one"
    )
    assert installation.WITHOUT["plot"] in found.advice
    assert 'pip install ".[plot]"' in found.advice


@pytest.mark.parametrize(
    ("line", "status", "found", "advice"),
    [
        ("numpy>=999", "problem", "is older than 999", 'pip install --upgrade "numpy>=999"'),
        (
            "no-such-package",
            "problem",
            "not installed: no-such-package",
            "in a clone, run pip install .",
        ),
    ],
)
def test_a_package_that_all_need(
    line: str, status: str, found: str, advice: str, installed_as: Metadata
) -> None:
    installed_as(f"Requires-Dist: {line}")
    seen = only(installation.core())
    assert seen.status == status
    assert found in seen.found
    assert advice in seen.advice


def test_an_old_package_of_an_extra(installed_as: Metadata) -> None:
    installed_as("Provides-Extra: fast", "Requires-Dist: numba[x]>=999; extra == 'fast'")
    seen = only(installation.extras())
    assert seen.status == "problem"
    assert 'pip install --upgrade "numba[x]>=999"' in seen.advice


def test_a_package_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    found = {each.name: each for each in installation.extras()}
    assert found["extra live"].status == "fine"
    broken = found["extra postgres"]
    assert broken.status == "problem"
    assert "cannot be imported (ModuleNotFoundError" in broken.found
    assert 'pip install --force-reinstall "psycopg[binary]>=3.2"' in broken.advice


def test_a_folder_of_sources_that_nobody_installed() -> None:
    """Without all that was installed: `-S` leaves it out."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from driftanchor.checkup import installation as i\n"
        "for check in (i.python, i.package, i.core, i.extras):\n"
        "    for each in check(): print(each.name, each.status, each.found)\n"
    )
    sources = str(Path(driftanchor.__file__).parents[1])
    command = [sys.executable, "-S", "-c", program, sources]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, second, third = done.stdout.splitlines()
    assert first.startswith("python fine")
    assert second.startswith("driftanchor problem")
    assert second.endswith("was never installed")
    assert third.startswith("packages problem")
