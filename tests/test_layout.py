"""How the files of the project lie, and how long they are."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST = 300  # lines of a file, which should read in one sitting
FOLDERS = ("src", "tests", "benchmarks")


def test_no_file_is_too_long_to_read_in_one_sitting() -> None:
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    lengths = {
        str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines())
        for file in files
    }
    assert len(lengths) > 400
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def test_folders_of_tests_are_packages_of_the_source() -> None:
    package = ROOT / "src" / "driftanchor"
    shared = {Path("contracts"), Path("support")}  # by all packages
    folders = {file.parent.relative_to(ROOT / "tests") for file in (ROOT / "tests").rglob("*.py")}
    assert not [folder for folder in folders - shared if not (package / folder).is_dir()]
