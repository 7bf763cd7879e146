from __future__ import annotations

import contextlib
import os
import sys
import threading

import pytest
from typer.testing import CliRunner, Result

from driftanchor.cli.main import app, run

SIMULATE = ("simulate", "--horizon", "40", "--runs", "3", "--policy", "ts")
COMPILED = (*SIMULATE, "--engine", "every-round")
INTERPRETED = (*SIMULATE, "--engine", "interpreted")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """All that a command shows on a terminal of 100 columns."""
    pty = pytest.importorskip("pty", reason="terminals as on Unix")
    ours, theirs = pty.openpty()
    shown: list[bytes] = []

    def read() -> None:
        with contextlib.suppress(OSError):  # how Linux says that the other end is closed
            while part := os.read(ours, 4096):
                shown.append(part)

    reader = threading.Thread(target=read)
    reader.start()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NO_COLOR", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        for name, value in {"COLUMNS": "100", "TERM": "xterm", **environment}.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["driftanchor", *arguments])
        with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
            patch.setattr(sys, "stdout", terminal)
            patch.setattr(sys, "stderr", terminal)
            with pytest.raises(SystemExit) as end:
                run()
    reader.join()
    os.close(ours)
    text = b"".join(shown).decode()
    assert not end.value.code, text
    return text.removesuffix("\x1b[0m")  # colorama, where Numba finds it, says goodbye


def test_a_terminal_has_a_bar_that_says_what_goes_on_and_colour() -> None:
    shown = on_a_terminal(*COMPILED)
    assert "compiling ts" in shown
    assert "3/3" in shown
    assert "left" in shown
    assert "\x1b[1m" in shown


def test_no_color_and_quiet_leave_plain_text() -> None:
    shown = on_a_terminal(*INTERPRETED, "--quiet", NO_COLOR="1")
    assert "\x1b" not in shown
    assert "running" not in shown
    assert shown.startswith("regret after 40 rounds")


def test_no_color_leaves_the_bar_without_colour() -> None:
    shown = on_a_terminal(*INTERPRETED, NO_COLOR="1")
    assert "running ts" in shown
    assert not any(f"\x1b[{code}" in shown for code in ("0m", "1m", "3", "9"))


def test_the_list_of_policies_fits_a_terminal() -> None:
    shown = on_a_terminal("policies", NO_COLOR="1", COLUMNS="80")
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in shown


def test_the_table_is_not_cut_on_a_narrow_terminal() -> None:
    shown = on_a_terminal(*INTERPRETED, "--quiet", NO_COLOR="1", COLUMNS="30")
    assert max(map(len, shown.splitlines())) <= 30
    assert all(heading in shown for heading in ("mean", "± se", "median", "q90", "q99", "max"))
    assert "…" not in shown


def test_columns_of_the_environment_count_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide = max(map(len, invoke("policies").stdout.splitlines()))
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, invoke("policies").stdout.splitlines())) <= 80 < wide


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("quiet", [False, True])
def test_a_warning_is_one_line_on_stderr(quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    done = invoke(*SIMULATE, *(["--quiet"] if quiet else []))
    warned = [line for line in done.stderr.splitlines() if line.startswith("warning: Numba is not")]
    assert (done.exit_code, len(warned)) == (0, 0 if quiet else 1)
    assert "run.py" not in done.stderr
