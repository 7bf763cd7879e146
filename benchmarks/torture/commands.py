"""Junk for every option of every command: it works, or one line says what is wrong.

The options are found in the application itself, so that new ones take part. A case starts from a
line that works and changes it: junk for values, options given twice or without a value, unknown
ones, files that are folders, devices or damaged. Accepted is exit code 0, or another one with
exactly one line on stderr that begins with "error: ". Nothing may be written but what is named, and
what is printed must be safe on a terminal, or strict JSON.
"""

from __future__ import annotations

import functools
import importlib
import io
import json
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.torture import children, junk
from benchmarks.torture.working_lines import LINES

FAILURES = (1, 2, 3, 4, 5, 10)  # exit codes
LONGEST = 3_000  # characters of a line on stderr
WEIGHTS = {"plan": 2, "replay": 2, "reproduce": 1}  # these take long if all is well
STORE = "driftanchor.db"  # the default of --store
EFFORT = {
    "horizon",
    "runs",
    "worlds",
    "engine",
    "policy",
    "names",
    "most_pulls",
}  # never left out: too slow


def run(cases: int, seed: int = 0) -> children.Outcome:
    """Play so many cases."""
    return children.run("benchmarks.torture.commands", range(cases), seed)


def prepare() -> None:
    """Make the files, and see that nothing is compiled and that commands are made once."""
    modules: Any = sys.modules
    modules["numba"] = None
    typer: Any = importlib.import_module("typer.main")
    typer.get_command = functools.cache(typer.get_command)
    junk.make_files()
    server: Any = importlib.import_module("driftanchor.serve.server")
    server.serve_store, server.serve = _serve_nobody, _show_nobody


def _serve_nobody(
    store: str, settings: Any, listening: Any, ready: Callable[[], None], stopping: object
) -> None:
    """A server that ends as soon as it is ready: all that its options say has been looked at."""
    listening.close()
    ready()


def _show_nobody(state: Any, listening: Any, ready: Callable[[], None], stopping: object) -> None:
    """The same for a demo, which has its own store."""
    listening.close()
    ready()
    state.close()


def case(rng: Random) -> tuple[str, Callable[[], str]]:
    """A command line, and what plays it."""
    arguments = line(rng)
    return f"driftanchor {' '.join(map(ascii, arguments))}", functools.partial(play, arguments)


def play(arguments: list[str]) -> str:
    """What is wrong with what a command line does, if anything."""
    before = contents()
    code, out, err, defect = _run(arguments)
    wrong = defect or _judged(arguments, code, out, err) or _written(arguments, before)
    restore(before)
    return wrong


def line(rng: Random) -> list[str]:
    """The arguments of a case."""
    commands = _commands()
    names = list(commands)
    name = rng.choices(names, [WEIGHTS.get(each, 4) for each in names])[0]
    words = list(rng.choice(LINES.get(name, ([],))))
    parameters = [each for each in commands[name].params if each.name != "help"]
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        parameter = rng.choice(parameters)
        words = _without(words, parameter, rng)
        words += _given(parameter, rng)
    slips: list[list[str]] = [["--unknown"], ["--help"], [junk.text(rng)], words[:2], ["--json"]]
    return [*name.split(), *words, *(rng.choice(slips) if rng.random() < 0.15 else [])]


@functools.cache
def _commands() -> dict[str, Any]:
    """The commands by name."""
    import typer.main

    from driftanchor.cli.main import app

    found: dict[str, Any] = {}

    def gather(group: Any, before: str) -> None:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                gather(command, f"{before}{name} ")
            else:
                found[f"{before}{name}"] = command

    gather(typer.main.get_command(app), "")
    return found


def _given(parameter: Any, rng: Random) -> list[str]:
    """An option with junk for its value, in one of the ways in which it can be written."""
    if not parameter.opts[0].startswith("-"):
        return [_value(parameter, rng) for _ in range(rng.randint(1, 2))]
    option = rng.choice(parameter.opts)
    if getattr(parameter, "is_flag", False):
        return [option] if rng.random() < 0.9 else [f"{option}={junk.text(rng)}"]
    if parameter.nargs == 1 and option.startswith("--") and rng.random() < 0.3:
        return [f"{option}={_value(parameter, rng)}"]
    values = [_value(parameter, rng) for _ in range(parameter.nargs)]
    return [option, *(values if rng.random() < 0.95 else values[1:])]


def _value(parameter: Any, rng: Random) -> str:
    likely = junk.LIKELY.get(parameter.metavar, junk.NUMBERS)
    if parameter.metavar in ("FILE", "DIR", "FOLDER"):
        likely = junk.TO_WRITE
    elif not parameter.opts[0].startswith("-"):
        likely = junk.TO_READ
    return rng.choice(likely) if rng.random() < 0.75 else junk.text(rng)


def _without(words: list[str], parameter: Any, rng: Random) -> list[str]:
    """The line without this option or these arguments; sometimes it is left, and given twice."""
    if rng.random() < 0.1 and parameter.name not in EFFORT:
        return words
    if not parameter.opts[0].startswith("-"):
        return words[next((i for i, word in enumerate(words) if word[:1] == "-"), len(words)) :]
    for option in parameter.opts:
        if option in words:
            at = words.index(option)
            flag = getattr(parameter, "is_flag", False)
            return [*words[:at], *words[at + (1 if flag else 1 + parameter.nargs) :]]
    return words


def _run(arguments: list[str]) -> tuple[Any, str, str, str]:
    """Exit code, stdout, stderr, and what was raised that must not be."""
    from driftanchor.cli.main import run as run_command

    kept = sys.argv, sys.stdout, sys.stderr
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "replace") for _ in "12")
    code: Any = 0
    defect = ""
    try:
        sys.argv, sys.stdout, sys.stderr = ["driftanchor", *arguments], out, err
        run_command()
    except SystemExit as end:
        code = end.code
    except BaseException as error:
        defect = defect_of(error)
    finally:
        sys.argv, sys.stdout, sys.stderr = kept
    texts = []
    for stream in (out, err):
        stream.seek(0)
        texts.append(stream.read())
    return code, texts[0], texts[1], defect


def defect_of(error: BaseException) -> str:
    """The last line of a traceback, and the last place in the package."""
    what = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    places = [f for f in traceback.extract_tb(error.__traceback__) if "driftanchor" in f.filename]
    last = places[-1]
    return f"{ascii(what)[:300]} at {Path(last.filename).name}:{last.lineno}"


def _judged(arguments: list[str], code: Any, out: str, err: str) -> str:
    """What is wrong with what a command printed and with its exit code."""
    from driftanchor.render.printable import printable

    for shown in (*out.split("\n"), *err.split("\n")):
        if shown != printable(shown):
            return f"prints {ascii(shown)[:200]}"
    lines = err.split("\n")[:-1]
    if max(map(len, lines), default=0) > LONGEST:
        return f"a message of {max(map(len, lines)):,} characters"
    if code == 0:
        return _not_json(out) if "--json" in arguments and "--help" not in arguments else ""
    errors = [shown for shown in lines if shown.startswith("error: ") and len(shown) > 9]
    if code not in FAILURES or len(errors) != 1 or lines[-1:] != errors:
        return f"exit code {code} and {ascii(err)[-300:]}"
    return ""


def _not_json(out: str) -> str:
    def refuse(token: str) -> None:
        raise ValueError(f"{token} is not JSON")

    try:
        json.dumps(json.loads(out, parse_constant=refuse), ensure_ascii=False).encode()
    except ValueError as error:
        return f"--json prints {ascii(out)[:200]}: {error}"
    return ""


def contents() -> dict[Path, bytes]:
    """All files here, and what is in them."""
    files = (path for path in Path().rglob("*") if path.is_file() and not path.is_symlink())
    return {path: path.read_bytes() for path in files}


def _written(arguments: list[str], before: dict[Path, bytes]) -> str:
    """What was written that was not asked for, or over what was read."""
    named = [word.rpartition("=")[2] for word in arguments] + ["out", STORE]
    named += [word.rpartition("sqlite:///")[2] for word in arguments if "sqlite:///" in word]
    places = [place for word in named if (place := _place(word)) is not None]
    for path, content in contents().items():
        if before.get(path) == content:
            continue
        where = path.resolve()
        times = sum(
            place == where or place in where.parents or where.name.startswith(f"{place.name}-")
            for place in places
        )
        if times == 0 or (times > 1 and path in before):
            return f"writes {str(path)!a}"
    lost = [path for path in before if not path.is_file()]
    return f"removes {str(lost[0])!a}" if lost else ""


def _place(word: str) -> Path | None:
    """Where a word leads, if it may be the name of a file."""
    try:
        place = Path(word).resolve()
    except (OSError, RuntimeError):
        return None
    here = Path().resolve()
    return None if place == here or place in here.parents else place


def restore(before: dict[Path, bytes]) -> None:
    """Undo what a case wrote."""
    for path, content in contents().items():
        if path not in before:
            path.unlink()
        elif before[path] != content:
            path.write_bytes(before[path])
    shutil.rmtree("out", ignore_errors=True)
