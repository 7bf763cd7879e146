"""A hundred cases of the fuzz of commands and of public Python; `make torture` has thousands."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.torture import children, commands, entries
from benchmarks.torture.working_lines import LINES


def test_junk_on_the_command_line_is_no_drama() -> None:
    found = commands.run(40, seed=5)
    assert (found.cases, found.failures) == (40, ())


def test_junk_in_python_is_no_drama() -> None:
    found = entries.run(80, seed=3)
    assert (found.cases, found.failures) == (80, ())


def test_every_command_and_its_options_take_part() -> None:
    assert set(LINES) == set(commands._commands())
    lines = [commands.line(random.Random(i)) for i in range(8_000)]
    for name, command in commands._commands().items():
        first = name.split()
        mine = [words[len(first) :] for words in lines if words[: len(first)] == first]
        named = {word.partition("=")[0] for words in mine for word in words}
        for parameter in command.params:
            if parameter.opts[0].startswith("-"):
                assert any(option in named for option in parameter.opts), (name, parameter.name)


def test_every_public_name_takes_part() -> None:
    assert {"simulate", "plan", "Learner", "Learner.update", "OfflineData.from_logs"} <= set(
        entries.entries()
    )


def test_what_hangs_ends_the_process_or_is_wrong_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cases_of_test.py").write_text(
        "import os, time\n"
        "def prepare(): pass\n"
        "def case(rng):\n"
        "    kind = int(rng.random() * 4)\n"
        "    plays = (str, lambda: time.sleep(60), lambda: os._exit(7), lambda: 'it is odd')\n"
        "    return f'kind {kind}', plays[kind]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(children, "HARD_STOP", 0.5)
    kinds = [int(random.Random(f"0 {n}").random() * 4) for n in range(40)]
    chosen = [kinds.index(kind) for kind in (0, 3, 1, 2)]
    found = children.run("cases_of_test", sorted(chosen), 0)
    told = {line.partition(": ")[2] for line in found.failures}
    assert told == {
        "kind 1: takes longer than 0.5 s",
        "kind 2: ended the process with code 7",
        "kind 3: it is odd",
    }
