from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftanchor.cli.main import app
from driftanchor.cli.signals import Ended, ending
from driftanchor.files import write_whole
from driftanchor.logs import read
from driftanchor.simulation import run

SIGNALS = [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")]
SIGNALS += [(signal.SIGHUP, "the terminal is gone")]


@pytest.fixture(autouse=True)
def nobody_ignores_signals() -> Iterator[None]:
    """Tests that were started by nohup, or in the background, inherit signals that are ignored."""
    before = {number: signal.getsignal(number) for number, _ in SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(("number", "word"), SIGNALS)
def test_a_signal_ends_in_one_line_its_exit_code_and_no_scratch_file(
    number: int, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def simulate(*_: object, **__: object) -> None:
        with write_whole(tmp_path / "a.csv") as scratch:
            scratch.write_text("half", encoding="utf-8")
            os.kill(os.getpid(), number)

    monkeypatch.setattr(run, "simulate", simulate)
    with ending.watched():
        done = CliRunner().invoke(app, ["simulate"])
    assert (done.exit_code, done.stdout, done.stderr) == (128 + number, "", f"{word}\n")
    assert not list(tmp_path.iterdir())


def test_what_others_make_of_a_signal_is_still_a_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    def read_logs(*_: object, **__: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("Query interrupted") from None  # as DuckDB does

    monkeypatch.setattr(read, "read_logs", read_logs)
    with ending.watched():
        done = CliRunner().invoke(app, ["logs", "a.csv", "--arm", "a"])
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "interrupted\n")
    assert ending.came is None


def test_what_is_finished_is_kept_and_the_message_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("driftanchor.experiments.reproduce.run", stop)
    with ending.watched():
        done = CliRunner().invoke(app, ["reproduce", "fig1"])
    said = "terminated: finished runs are kept, and the same command continues from there\n"
    assert (done.exit_code, done.stderr) == (143, said)


def test_signals_that_are_ignored_stay_ignored_and_all_are_as_before_at_the_end() -> None:
    before = signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with ending.watched():
            os.kill(os.getpid(), signal.SIGHUP)
            with pytest.raises(Ended):
                os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGHUP, before[0])
    assert (signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGINT)) == before


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    seen = []

    def watch() -> None:
        with ending.watched():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]
