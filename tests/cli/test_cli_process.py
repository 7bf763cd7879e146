"""The command in a process of its own: exit codes, streams, pipes, signals, imports."""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import driftanchor
from driftanchor.cli.main import run

if TYPE_CHECKING:
    from conftest import RunPython

HEAVY = ("numpy", "numba", "matplotlib", "duckdb", "narwhals")
IMPORTED = f"""
import sys
from driftanchor.cli.main import run
for arguments in COMMANDS:
    sys.argv = ["driftanchor", *arguments]
    try:
        run()
    except SystemExit as end:
        assert not end.code, end.code
    print("imported:", [name for name in {HEAVY} if name in sys.modules])
"""


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "driftanchor", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_version_is_shown() -> None:
    done = command("--version")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"driftanchor {driftanchor.__version__}\n",
        "",
    )


def test_help_imports_nothing_heavy(run_python: RunPython) -> None:
    """One command after the other in one process: the first that imports anything is named."""
    commands = [
        [*words, "--help"] for words in ([], ["simulate"], ["logs"], ["policies"], ["doctor"])
    ]
    commands.append(["--version"])
    printed = run_python(IMPORTED.replace("COMMANDS", repr(commands))).splitlines()
    assert [line for line in printed if "imported:" in line] == ["imported: []"] * len(commands)


def in_this_process(*arguments: str, encoding: str = "utf-8") -> tuple[object, str, str]:
    """The exit code, and what the streams got: all that the script `driftanchor` does."""
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding)) as out,
        contextlib.redirect_stderr(io.TextIOWrapper(io.BytesIO(), encoding)) as err,
    ):
        patch.setattr(sys, "argv", ["driftanchor", *arguments])
        with pytest.raises(SystemExit) as end:
            run()
    return end.value.code, _read(out), _read(err)


def _read(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def test_no_command_is_wrong_usage_and_shows_help() -> None:
    code, out, err = in_this_process()
    assert code == 2
    assert "Examples:" in out + err


def test_an_unknown_command_is_wrong_usage_and_suggests_the_nearest() -> None:
    code, out, err = in_this_process("simulat")
    assert (code, out) == (2, "")
    assert "Did you mean 'simulate'?" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--policy", "anchor_ts"],
            "error: --policy 'anchor_ts': unknown policy 'anchor_ts'; did you mean 'anchor-ts'?\n",
        ),
        (["--horizon", "0"], "error: --horizon must be at least 1, got 0\n"),
    ],
)
def test_a_bad_value_is_wrong_usage(arguments: list[str], message: str) -> None:
    assert in_this_process("simulate", *arguments) == (2, "", message)


def test_data_on_stdout_and_messages_on_stderr(tmp_path: Path) -> None:
    arguments = ["--horizon", "40", "--runs", "3", "--engine", "interpreted", "--policy", "ts"]
    csv = tmp_path / "out.csv"
    code, out, err = in_this_process("simulate", *arguments, "--csv", str(csv))
    assert code == 0
    assert out.startswith("regret after 40 rounds, 3 runs, seed 0\n")
    setting, wrote = err.splitlines()
    assert setting.startswith("10 arms, online means 0.8,0.5*9, gaussian rewards with noise 1; ")
    assert wrote == f"wrote {csv}"
    assert "\x1b" not in out + err


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("policies | true", 141, ""),
        ("policies >&-", 1, "error: cannot write to stdout: Bad file descriptor\n"),
        ("--help >/dev/full", 1, "error: cannot write to stdout: No space left on device\n"),
    ],
)
def test_a_stream_that_takes_nothing_is_no_drama(line: str, code: int, message: str) -> None:
    command = f"{sys.executable} -m driftanchor {line}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, "", message)


EVENTS = ("--arm", "arm", "--reward", "reward", "--save", "offline.json")


def test_ctrl_c_while_logs_are_read_is_one_line(tmp_path: Path) -> None:
    size = 40_000_000
    (tmp_path / "logs.csv").write_text("arm,reward\n" + "A,0.25\nB,0.75\n" * (size // 14))
    process = subprocess.Popen(
        [*(sys.executable, "-m", "driftanchor", "logs", "logs.csv"), *EVENTS],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    count = Path(f"/proc/{process.pid}/io")
    own = size // 2  # what Python reads to start, and some of the logs
    while process.poll() is None and int(count.read_text().split()[1]) < own:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    assert [file.name for file in tmp_path.iterdir()] == ["logs.csv"]


def test_ctrl_c_does_not_wait_for_threads() -> None:
    program = """
import os, signal, sys, threading, time
import driftanchor.simulation.run
from driftanchor.cli.main import run

def simulate(*_, **__):
    threading.Thread(target=time.sleep, args=[600]).start()
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(600)

driftanchor.simulation.run.simulate = simulate
sys.argv = ["driftanchor", "simulate"]
run()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_what_a_stream_cannot_show_is_a_question_mark() -> None:
    code, out, err = in_this_process("policies", encoding="latin-1")
    assert (code, err) == (0, "")
    assert "median(anchor, ?_on, ?_hyb), ?_hyb shifted" in out
