"""Processes that begin as forks of one that has imported much: imports take most of a start."""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class Forked:
    """A process of its own, with the methods of a `subprocess.Popen`."""

    def __init__(self, forks: Forks, pid: int) -> None:
        self.pid, self._forks = pid, forks
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, or minus the signal that ended it; `None` while it runs."""
        if self._code is None:
            self._code = self._forks.ask({"pid": self.pid})
        return self._code

    def wait(self, timeout: float) -> int:
        """The same when it has ended."""
        until = time.monotonic() + timeout
        while (code := self.poll()) is None:
            assert time.monotonic() < until, f"process {self.pid} does not end"
            time.sleep(0.01)
        return code

    def send_signal(self, number: int) -> None:
        """Nobody else has its number until `poll` has said that it is gone."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class Forks:
    """A process that imports modules, and then starts others as forks of itself.

    It runs no threads, so nothing is lost in a fork. It ends with its standard input, as when the
    tests are killed.

    Args:
        imports: The modules.
        env: Variables of all these processes.
    """

    def __init__(self, *imports: str, env: Mapping[str, str]) -> None:
        command = [sys.executable, "-P", __file__, *imports]
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._server: Any = subprocess.Popen(command, env={**os.environ, **env}, **pipes)

    def start(self, *words: str, folder: Path, log: Path, path: str = "") -> Forked:
        """What `python -m` would start.

        Args:
            words: A module and its arguments.
            folder: The folder it runs in.
            log: The file of what it writes.
            path: A folder of modules that it finds before others: its PYTHONPATH.
        """
        places = [str(folder), *([path] if path else [])]
        return Forked(self, self.ask({"words": words, "log": str(log), "places": places}))

    def ask(self, question: dict[str, Any]) -> Any:
        """Send a line and wait for its answer."""
        self._server.stdin.write(json.dumps(question) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._server.communicate(timeout=60)


def serve(imports: Sequence[str]) -> None:
    """Fork for each line that names a command, and say for each other how a process ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C its input ends
    for module in imports:
        importlib.import_module(module)
    gc.freeze()  # else the search for garbage would copy all pages into every fork
    for line in sys.stdin:
        question = json.loads(line)
        answer = _ended(question["pid"]) if "pid" in question else os.fork()
        if answer == 0 and "words" in question:
            _become(**question)
        print(json.dumps(answer), flush=True)


def _ended(pid: int) -> int | None:
    gone, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if gone else None


def _become(words: list[str], log: str, places: list[str]) -> None:
    """Run a command as if this process had just begun, and end."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for descriptor, file in enumerate((os.open(os.devnull, os.O_RDONLY), written, written)):
        os.dup2(file, descriptor)
    os.chdir(places[0])
    sys.path[:0] = places
    others = {module.stem for place in places for module in Path(place).iterdir()}
    for name in [name for name in sys.modules if name.partition(".")[0] in others]:
        del sys.modules[name]  # it is another one here
    sys.argv = words
    code: Any = 0
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    serve(sys.argv[1:])
