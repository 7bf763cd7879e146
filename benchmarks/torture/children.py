"""Cases played in a process of its own, which is ended if one of them takes too long.

A kind of case is a module with `prepare()`, which is called once in the folder where all happens,
and `case(rng)`, which gives a case as text and what plays it and returns what is wrong, or nothing.
A case is a function of its seed and its number, so that it can be played again alone.
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

LIMIT = 10.0  # seconds of the processor that a case may take, so that other work does not count
HARD_STOP = 30.0  # seconds after which it is ended
START = 120.0  # seconds in which the process must be ready


@dataclass(frozen=True)
class Outcome:
    """What came of some cases.

    Attributes:
        cases: How many were played.
        slowest: Seconds of the processor that the slowest took, and which it is.
        failures: What is wrong with those that failed, each after its number.
    """

    cases: int
    slowest: tuple[float, str]
    failures: tuple[str, ...]

    @property
    def slow(self) -> int:
        """How many of the failures are cases that took too long."""
        return sum(": takes " in failure for failure in self.failures)

    def __str__(self) -> str:
        seconds, which = self.slowest
        head = (
            f"{self.cases:,} cases, {len(self.failures)} failed, slowest {seconds:.1f} s: {which}"
        )
        return "\n".join([head, *self.failures])


def run(module: str, cases: Sequence[int], seed: int) -> Outcome:
    """Play cases of a module such as `"benchmarks.torture.commands"`, by their numbers."""
    slowest, failures, left = (0.0, ""), list[str](), list(cases)
    while left:
        for number, seconds, text, wrong in _played(module, left, seed):
            left = left[left.index(number) + 1 :]
            slowest = max(slowest, (seconds, text))
            if wrong:
                failures.append(f"case {number} of seed {seed}: {text}: {wrong}")
    return Outcome(len(cases), slowest, tuple(failures))


def _played(module: str, cases: list[int], seed: int) -> Iterator[tuple[int, float, str, str]]:
    """Number, seconds, text and what is wrong, up to a case after which a new process is needed."""
    with (
        tempfile.TemporaryDirectory(prefix="driftanchor-torture-") as folder,
        tempfile.TemporaryFile("w+") as errors,
    ):
        process = subprocess.Popen(
            [sys.executable, "-c", "from benchmarks.torture.children import answer; answer()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        answers, reader = _answers(process.stdout)
        try:
            process.stdin.write(json.dumps([module, cases, seed]) + "\n")
            process.stdin.close()
            if answers.get(timeout=START) != "ready":
                errors.seek(0)
                raise RuntimeError(f"{module} cannot be prepared: {errors.read()}")
            for number in cases:
                text = answers.get(timeout=START)
                try:
                    found = answers.get(timeout=HARD_STOP)
                except queue.Empty:
                    yield number, HARD_STOP, text, f"takes longer than {HARD_STOP:g} s"
                    return
                if found is None:
                    yield number, 0.0, text, f"ended the process with code {process.wait()}"
                    return
                seconds, wrong = found
                yield number, seconds, text, wrong
        finally:
            process.kill()
            process.wait()
            reader.join()
            process.stdout.close()


def _answers(printed: IO[str]) -> tuple[queue.Queue[Any], threading.Thread]:
    """What a process prints, line by line, and at last `None`; and the thread that reads it."""
    lines: queue.Queue[Any] = queue.Queue()

    def read() -> None:
        for line in printed:
            lines.put(json.loads(line))
        lines.put(None)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    return lines, reader


def answer() -> None:
    """What the process runs."""
    module, cases, seed = json.loads(sys.stdin.readline())
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a case prints is no answer
        kind: Any = importlib.import_module(module)
        kind.prepare()
        print(json.dumps("ready"), file=answers, flush=True)
        for number in cases:
            text, play = kind.case(random.Random(f"{seed} {number}"))
            print(json.dumps(text), file=answers, flush=True)
            start = time.process_time()
            wrong = play()
            seconds = time.process_time() - start
            if seconds > LIMIT and not wrong:
                wrong = f"takes {seconds:.0f} s"
            print(json.dumps([seconds, wrong]), file=answers, flush=True)
