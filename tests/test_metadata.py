"""What other programs read about the project agrees with the project."""

import re
import tomllib
from pathlib import Path

from driftanchor.version import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_names_this_version_and_licence() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [__version__]
    assert re.findall(r"^license: (\S+)$", citation, re.MULTILINE) == [PROJECT["license"]]


def test_the_paper_has_the_same_address_everywhere() -> None:
    address = PROJECT["urls"]["Paper"]
    for name in ("CITATION.cff", "README.md"):
        assert address in (ROOT / name).read_text(encoding="utf-8")


def test_the_oldest_python_of_the_classifiers_is_the_one_required() -> None:
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={versions[0]}"


def test_a_wheel_has_the_files_of_the_page_and_the_migrations() -> None:
    from hatchling.builders.wheel import WheelBuilder  # one test needs it, and it loads much

    source = ROOT / "src"
    built = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    for folder, least in (("serve/page/static", 15), ("live/stores/migrations", 8)):
        files = [x for x in (source / "driftanchor" / folder).rglob("*") if x.is_file()]
        wanted = {file.relative_to(source).as_posix() for file in files}
        assert len(wanted) >= least
        assert wanted <= built
