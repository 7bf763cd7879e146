"""Requirements are read as `pip` reads them; floors come from the metadata alone."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement as Theirs
from packaging.version import Version

from driftanchor.checkup import requirements as needed

LINES = metadata.requires("driftanchor") or []


@pytest.mark.parametrize("version", [(3, 11), (3, 13), (3, 14)])
@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_every_line_of_our_metadata_is_read_as_packaging_reads_it(
    version: tuple[int, int], platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    monkeypatch.setattr(sys, "platform", platform)
    assert len(LINES) > 20
    for line in LINES:
        theirs, ours = Theirs(line), needed.read(line)
        extra = "" if ours is None else ours.extra
        here = {"python_version": f"3.{version[1]}", "sys_platform": platform, "extra": extra}
        if ours is None:
            extras = metadata.metadata("driftanchor").get_all("Provides-Extra") or []
            assert theirs.marker is not None
            assert not any(theirs.marker.evaluate({**here, "extra": each}) for each in extras)
            continue
        assert theirs.marker is None or theirs.marker.evaluate(here)
        assert (ours.name, f">={ours.least}") == (theirs.name, str(theirs.specifier))
        assert Theirs(str(ours)).extras == theirs.extras


@pytest.mark.parametrize(
    "line", ["a b", "a>=1; os_name == 'nt'", "a; extra == 'x' or extra == 'y'"]
)
def test_what_is_not_understood_is_not_guessed(line: str) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        needed.read(line)


@pytest.mark.parametrize("one", ["1.4", "1.4.0", "1.10", "2", "2024.5.1", "0.60", "0.9.9.post1"])
@pytest.mark.parametrize("other", ["1.4", "1.5", "1.9.1", "2.0", "2024.5", "0.60.1"])
def test_versions_are_compared_as_packaging_compares_them(one: str, other: str) -> None:
    assert needed.is_reached(one, other) == (Version(one) >= Version(other))


def test_all_that_we_need_is_here_and_found_under_its_name() -> None:
    """A package whose module has another name would be said to be broken."""
    for wanted in needed.requirements():
        seen = needed.installed(wanted)
        assert (seen.version, seen.trouble) == (metadata.version(wanted.name), "")
        assert not seen.is_old


def test_a_package_that_is_away_old_or_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, version in (("numba", "0.1"), ("broken-one", "2.0")):
        folder = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}")
    (tmp_path / "broken_one.py").write_text("raise OSError('libz.so:\\n  cannot open')")
    monkeypatch.syspath_prepend(tmp_path)
    old = needed.installed(needed.Requirement("numba", "", "0.60", "fast"))
    assert (old.version, old.is_old, old.trouble) == ("0.1", True, "")
    broken = needed.installed(needed.Requirement("broken-one", "", "1", ""))
    assert (broken.is_old, broken.trouble) == (False, "OSError: libz.so: cannot open")
    away = needed.installed(needed.Requirement("no-such-package", "", "", ""))
    assert (away.version, away.is_old) == (None, False)
