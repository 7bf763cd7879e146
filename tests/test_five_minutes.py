"""README's five minutes, followed word by word: a log, a server, curl, OpenFeature, the client."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PORT = "8484"  # in the text; the test takes a free one


def blocks() -> list[tuple[str, str]]:
    """The blocks of the section, each with its language."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.partition("## Go live in five minutes\n")[2].partition("\n## ")[0]
    return re.findall(r"^```(sh|python)\n(.*?)^```", section, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which `python` and `driftanchor` are those of this project."""
    tools = tmp_path_factory.mktemp("bin")
    for name, words in (("python", ""), ("driftanchor", "-m driftanchor")):
        tool = tools / name
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        tool.chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, shell: dict[str, str]) -> Path:
    """The folder in which the section is followed, with the log of its first block."""
    here = tmp_path_factory.mktemp("here")
    install = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Install\n")[2]
    extras = re.search(r'\$ pip install "\.\[(.*)\]"\n', install)
    assert extras is not None
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras[1].split(",")) <= known["optional-dependencies"].keys()
    subprocess.run(["sh", "-ec", blocks()[0][1]], cwd=here, env=shell, check=True)
    assert len((here / "last_quarter.csv").read_text().splitlines()) == 1 + 8 * 3 * 800
    return here


@pytest.fixture(scope="module")
def url(folder: Path, shell: dict[str, str]) -> Iterator[str]:
    """The address of the server that the second block starts."""
    command = blocks()[1][1].replace("driftanchor serve", "exec driftanchor serve --port 0")
    with (folder / "log.txt").open("w") as log:
        server = subprocess.Popen(
            ["sh", "-ec", command], cwd=folder, env=shell, stdout=subprocess.PIPE, stderr=log,
            text=True,
        )  # fmt: skip
        out = server.stdout
        assert out is not None
        try:
            first = out.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+", first), (folder / "log.txt").read_text()
            yield first
        finally:
            server.terminate()
            ended = server.wait(60)
            out.close()
    assert ended == 0
    said = (folder / "log.txt").read_text()
    assert "leaked" not in said  # as DuckDB says of what is still there when a process ends


def test_curl_asks_and_tells(folder: Path, shell: dict[str, str], url: str) -> None:
    text = blocks()[2][1]
    assert text.count(f"http://127.0.0.1:{PORT}") == 2
    for status in ("recorded", "replayed"):
        done = subprocess.run(
            ["sh", "-ec", text.replace(f"http://127.0.0.1:{PORT}", url)],
            cwd=folder, env=shell, capture_output=True, text=True, check=True,
        )  # fmt: skip
        decision = json.loads((folder / "decision.json").read_text())
        assert decision["arm"] in ("blue", "green", "red")
        if status == "recorded":
            receipt = json.loads(done.stdout.replace((folder / "decision.json").read_text(), "", 1))
            assert (receipt["status"], receipt["reward"]) == (status, 1.0)


def test_openfeature_and_the_client_ask_too(folder: Path, shell: dict[str, str], url: str) -> None:
    """Both blocks of Python, one after the other."""
    code = "".join(text for language, text in blocks() if language == "python")
    assert code.count(f"http://127.0.0.1:{PORT}") == 2
    patient = code.replace('campaign="last_quarter"', 'campaign="last_quarter", default_after=60')
    assert patient != code  # a busy machine may take longer than 200 ms
    done = subprocess.run(
        [sys.executable, "-c", patient.replace(f"http://127.0.0.1:{PORT}", url)],
        cwd=folder, env=shell, capture_output=True, text=True, check=True,
    )  # fmt: skip
    flag, arm, receipt = done.stdout.splitlines()
    assert re.fullmatch(r"(blue|green|red) [0-9a-f]{32}", flag)
    assert arm.strip() in ("blue", "green", "red")
    assert "status='recorded'" in receipt
