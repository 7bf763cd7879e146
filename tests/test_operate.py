"""The page "Operate a server": its commands run, and its unit and the Dockerfile hold together."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from campaign_commands import new, run
from route_rules import ROLE_OF, UNDOCUMENTED

from driftanchor.serve import service_routes

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-to" / "operate.md").read_text(encoding="utf-8")
METRICS = (ROOT / "src" / "driftanchor" / "serve" / "metrics.py").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def options_of_serve() -> set[str]:
    return set(re.findall(r"--[a-z-]+", run("serve", "--help").stdout))


@pytest.mark.usefixtures("in_own_folder")
def test_the_commands_of_the_page_run() -> None:
    new("last_quarter")
    lines = re.findall(r"^\$ (?:\(umask 077; )?driftanchor (.+?)\)?$", PAGE, re.MULTILINE)
    assert len(lines) >= 6
    for line in lines:
        words = shlex.split(line.partition(" > ")[0])
        done = run(*words)
        assert done.exit_code == 0, (words, done.stderr)
        if " > " in line:
            assert re.fullmatch(r"da_\S+\n", done.stdout)


def test_the_unit_starts_a_server_that_may_write_only_where_it_must() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(block("ini"))
    assert unit.sections() == ["Unit", "Service", "Install"]
    service = dict(unit["Service"])
    program, command, *words = shlex.split(service["ExecStart"])
    assert (Path(program).name, command) == ("driftanchor", "serve")
    assert {word for word in words if word.startswith("--")} <= options_of_serve()
    assert service["ProtectSystem"] == "strict"
    user = service["User"]
    assert f"useradd --system --home-dir /var/lib/{user} " in PAGE
    store = re.search(r"^Environment=(DRIFTANCHOR_STORE=\S+)$", block("ini"), re.MULTILINE)
    assert store is not None
    assert f"sudo -u {user} env {store[1]} " in PAGE  # commands use the store of the server
    assert f"/var/lib/{service['StateDirectory']}/" in block("ini")


def test_every_number_to_watch_is_one_that_the_server_has() -> None:
    watched = set(re.findall(r"`(driftanchor_\w+?)[`{]", PAGE))
    assert len(watched) >= 7
    assert not [name for name in watched if f'"{name}"' not in METRICS]


def test_the_reference_has_every_route_with_its_role() -> None:
    page = (ROOT / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([A-Z]+) (\S+)` \| (\w+) \|", page, re.MULTILINE)
    documented = {(method, path): role for method, path, role in rows}
    known = {
        (method, path.replace("{decision_id}", "{id}").replace("{key}", "{name}")): role
        for (method, path), role in ROLE_OF.items()
        if not path.startswith(UNDOCUMENTED)
    }
    assert documented == known


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined.split("\n"))]


def given(name: str) -> list[str]:
    return [rest for found, rest in instructions() if found == name]


def test_the_image_needs_nothing_but_the_registries_and_the_repository() -> None:
    assert {image.split()[0] for image in given("FROM")} == {"python:3.12-slim"}
    allowed = (ROOT / ".dockerignore").read_text().split()
    for copied in given("COPY"):
        *sources, _ = copied.split()
        if sources[0].startswith("--from="):
            continue
        assert all((ROOT / source).exists() for source in sources)
        assert {f"!{Path(source).name}" for source in sources} <= set(allowed)
    text = " ".join(rest for _, rest in instructions())
    assert set(re.findall(r"https?://[\w.:]+", text)) == {"http://127.0.0.1:8484"}
    extras = re.search(r'"\.\[([\w,]+)\]"', text)
    assert extras is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras[1].split(",")) <= project["optional-dependencies"].keys()
    assert project["readme"] == "README.md"  # which the build reads


def test_the_image_runs_the_server_as_nobody_special() -> None:
    assert given("ENTRYPOINT") == ['["driftanchor"]']
    [command] = given("CMD")
    words: list[str] = json.loads(command)
    assert words[0] == "serve"
    assert {word for word in words if word.startswith("--")} <= options_of_serve()
    assert given("USER") == ["driftanchor"]
    assert words[words.index("--port") + 1] == given("EXPOSE")[0]
    [health] = given("HEALTHCHECK")
    paths = {route.path for route in service_routes.ROUTES}
    assert re.search(r":8484(/\w+)'", health)[1] in paths  # type: ignore[index]
    assert "sqlite:////data/" in given("ENV")[0]
    assert given("VOLUME") == ["/data"]
