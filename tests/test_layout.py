"""Where the files of the project are, and what they are called."""

import re
from pathlib import Path

from driftanchor.cli.main import app

ROOT = Path(__file__).parents[1]


def test_folders_of_tests_are_packages_of_the_source() -> None:
    package = ROOT / "src" / "driftanchor"
    shared = {Path("contracts"), Path("support")}  # by all packages
    folders = {file.parent.relative_to(ROOT / "tests") for file in (ROOT / "tests").rglob("*.py")}
    assert not [folder for folder in folders - shared if not (package / folder).is_dir()]


def test_a_module_name_has_one_meaning() -> None:
    """`cli/plan.py` may share its name with the function that it runs; no others may share one."""
    package = ROOT / "src" / "driftanchor"
    found: dict[str, list[str]] = {}
    for file in package.rglob("*.py"):
        if file.name != "__init__.py":
            found.setdefault(file.stem, []).append(file.parent.relative_to(package).as_posix())
    twice = {name: sorted(places) for name, places in found.items() if len(places) > 1}
    commands = {
        command.callback.__name__ for command in app.registered_commands if command.callback
    }
    commands |= {group.name for group in app.registered_groups if group.name}
    assert {
        name for name, places in twice.items() if len(places) > 2 or "cli" not in places
    } == set()
    assert set(twice) <= commands


def test_a_class_name_has_one_meaning() -> None:
    places: dict[str, list[str]] = {}
    for file in (ROOT / "src" / "driftanchor").rglob("*.py"):
        for name in re.findall(
            r"^class (?!_)(\w+)", file.read_text(encoding="utf-8"), re.MULTILINE
        ):
            places.setdefault(name, []).append(file.name)
    assert len(places) > 200
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
