"""The manifest: what made the results, and the hashes by which they can be recognised."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from driftanchor.core.record import seal
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.job import Job, Sources
from driftanchor.experiments.reproduction import Reproduction, strict
from driftanchor.files import write_whole
from driftanchor.version import __version__

PACKAGES = ("numpy", "numba", "matplotlib")


def versions() -> dict[str, str | None]:
    """What it was computed with; `None` for a package that is not installed."""
    found: dict[str, str | None] = {"driftanchor": __version__}
    found["python"] = platform.python_version()
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def commit() -> str | None:
    """The commit of this package's source, with a plus sign when files have changed since.

    From the metadata of a package installed from a repository, or from the repository it is run
    in. Another repository around it, such as the one of a project that uses it, does not count.
    """
    try:
        text = metadata.distribution("driftanchor").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        text = None
    known = json.loads(text or "{}").get("vcs_info", {}).get("commit_id")
    if isinstance(known, str):
        return known
    source = Path(__file__).parents[1]
    top = _git(source, "rev-parse", "--show-toplevel")
    if not top or Path(top) / "src" / "driftanchor" != source:
        return None
    head = _git(source, "rev-parse", "HEAD")
    return f"{head}+" if head and _git(source, "status", "--porcelain", "--", ".") else head


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):  # no Git, or one that does not answer
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def write(found: Reproduction, files: Iterable[Path], path: Path) -> None:
    """Write the manifest of `files`, which lie beside it or below."""
    sources: Sources = {}
    body = {
        "versions": versions(),
        "commit": commit(),
        "seed": found.seed,
        "quick": found.quick,
        "changes": found.changes,
        "experiments": {e.name: _experiment(e, found, sources) for e in found.experiments},
        "sha256": {file.relative_to(path.parent).as_posix(): _hash(file) for file in sorted(files)},
    }
    with write_whole(path) as scratch:
        text = json.dumps(seal("manifest", 1, strict(body)), indent=2, allow_nan=False)
        scratch.write_text(text + "\n", encoding="utf-8")


def _hash(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _experiment(experiment: Experiment, found: Reproduction, sources: Sources) -> dict[str, Any]:
    return {
        "horizon": experiment.horizon,
        "runs": experiment.runs,
        "most_runs": experiment.most_runs,
        "curve_runs": experiment.curve_runs,
        "checkpoints": list(experiment.checkpoints),
        "engine": experiment.engine,
        "cells": {c.id: _cell(experiment, c, found, sources) for c in experiment.cells},
    }


def _cell(
    experiment: Experiment, cell: Cell, found: Reproduction, sources: Sources
) -> dict[str, Any]:
    jobs = {
        label: Job(experiment.at(cell), cell, label, found.seed, 0, experiment.runs)
        for label in cell.policies
    }
    return {
        "setting": dataclasses.asdict(cell.setting),
        "policies": {
            label: {
                "policy": policy.name,
                "parameters": policy.parameters(),
                "key": jobs[label].key(sources),
                "runs": found.outcomes[cell.id, label].final.size,
            }
            for label, policy in cell.policies.items()
        },
    }
