"""An environment for each peer, built once under the cache folder, and what runs in it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from benchmarks.cache import cache_folder
from benchmarks.clock import say
from benchmarks.peers import Peer

ROOT = Path(__file__).parents[2]
PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
PATIENCE = 1_800  # seconds for a peer to install, or to play
# CPU time counts every thread, and threads that wait for one another spin.
ONE_THREAD = {
    name: "1"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
}


class Unusable(Exception):
    """A peer that does not install or does not run, and why."""


def build(name: str, peer: Peer) -> Path:
    """The Python of a peer's environment, made now unless it was before."""
    folder = cache_folder() / f"{name}-{peer.version}"
    python, ready = folder / "bin" / "python", folder / "ready.json"
    steps = installs(name, peer)
    made_of = json.dumps([sys.version, steps])
    if not ready.exists() or ready.read_text() != made_of:
        say(f"building the environment of {name} {peer.version}")
        _call([sys.executable, "-m", "venv", "--clear", str(folder)], "does not install")
        for step in steps:
            _call([str(python), *PIP, *step], "does not install")
        ready.write_text(made_of)
    return python


def installs(name: str, peer: Peer) -> list[list[str]]:
    """What pip is asked for, call by call."""
    package = f"{name}=={peer.version}"
    if peer.alone:
        return [list(peer.needs), ["--no-deps", package]]
    return [[package, *peer.needs]]


def drive(name: str, python: Path, horizon: int, module: str = "drive") -> dict[str, float]:
    """The CPU time of a round of a peer: of each policy, or what another module here measures."""
    call = [str(python), "-m", f"benchmarks.peers.{module}", name, str(horizon)]
    answer = _call(call, "does not run")
    costs: dict[str, float] = json.loads(answer.splitlines()[-1])  # some print at import
    return costs


def _call(command: list[str], trouble: str) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | ONE_THREAD
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unusable(f"{trouble}: {gist(str(error))}") from error
    if done.returncode:
        raise Unusable(f"{trouble}: {gist(done.stderr)}")
    return done.stdout


def gist(trouble: str) -> str:
    r"""The line that says most, without the places of this machine.

    Example:
        >>> gist("Traceback …\nImportError: no name 'x' from 'y' (/home/me/y/__init__.py)")
        "ImportError: no name 'x' from 'y' (__init__.py)"
    """
    lines = [line.strip() for line in trouble.splitlines() if line.strip()] or ["no reason given"]
    told = next((line for line in lines if line.startswith("ERROR:")), lines[-1])
    told = re.sub(r"\w+://\S+", "…", told)
    return re.sub(r"/(?:[^\s/()'\"]+/)+", "", told)[:200]
