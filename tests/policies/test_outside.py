"""Policies of one's own: from a module, a file, or an installed package, and what goes wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driftanchor import Bandit, InvalidInput, UnknownName, simulate
from driftanchor.policies import TS, make, outside

RULE = """
from dataclasses import dataclass
from driftanchor import Policy

@dataclass(frozen=True, kw_only=True)
class Mine(Policy):
    "Plays what was played least."

    name = "mine"

    c: float = 1.0

    def index(self, arm, now, z):
        return -self.c * arm.pulls
"""
Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """A way to write a file into the current folder; what was imported is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = {*sys.modules}

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    yield write
    for name in {*sys.modules} - before:
        del sys.modules[name]


def test_a_class_is_found_in_a_file_or_a_module(write: Write, tmp_path: Path) -> None:
    write("rules/own_rule.py", RULE)
    write("own_module.py", "from own_parts import *")
    write("own_parts.py", RULE)
    for address in ("rules/own_rule.py:Mine", f"{tmp_path}/rules/own_rule.py:Mine"):
        policy = make(address, c=2)
        assert (policy.name, policy.parameters()["c"]) == ("mine", 2)
    assert make("own_rule:Mine") == make("rules/own_rule.py:Mine")  # imported once
    assert make("own_module:Mine").name == "mine"
    assert make("driftanchor.policies.ts:TS") == TS()
    result = simulate(["own_module:Mine"], Bandit([1, 0]), horizon=4, runs=1, engine="interpreted")
    assert result.pulls.tolist() == [[[2, 2]]]


def test_an_installed_module_is_not_hidden_by_a_file(write: Write) -> None:
    write("json.py", RULE)
    with pytest.raises(UnknownName, match=r"unknown class of .*json.__init__.py 'Mine'; known: no"):
        make("json:Mine")
    with pytest.raises(InvalidInput, match=r"'json' is taken by .*: give the file another name"):
        make("./json.py:Mine")


@pytest.mark.parametrize(
    ("text", "address", "message"),
    [
        (RULE, "nix.py:Mine", "policy 'nix.py:Mine': there is no file '"),
        (RULE, "nix:Mine", "policy 'nix:Mine': there is no module 'nix' on Python's path or in"),
        (RULE, "bad.deep:Mine", "'bad.deep:Mine': there is no module 'bad.deep' on Python"),
        (RULE, "bad.py:Min", "unknown class of "),
        (RULE, "bad.py:Policy.index", "it is <function Policy.index"),
        (RULE, ":Mine", "policy ':Mine': name the class too: module:Class or folder/file.py:Class"),
        (RULE, "bad:", "policy 'bad:': name the class too: module:Class or folder/file.py:Class"),
        ("Mine = 3", "bad.py:Mine", "policy 'bad.py:Mine': it is 3, not a class derived from Po"),
        ("import nix", "bad.py:Mine", "cannot be imported: ModuleNotFoundError: No module named"),
        ("def", "bad.py:Mine", "imported: SyntaxError: invalid syntax (bad.py, line 1)"),
        ("\n1 / 0", "bad:Mine", "imported: ZeroDivisionError: division by zero (bad.py, line 2)"),
        ("import sys\nsys.exit(4)", "bad:Mine", "imported: SystemExit: 4 (bad.py, line 2)"),
        ("raise ValueError('a\\nb')", "bad:Mine", "imported: ValueError: a b (bad.py, line 1)"),
        (RULE.replace("float = 1.0", "float"), "bad:Mine", "'bad:Mine' cannot be made: TypeErr"),
        (RULE.replace('    name = "mine"', ""), "bad:Mine", "policy Mine has no name: give its"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    write: Write, text: str, address: str, message: str
) -> None:
    write("bad.py", text)
    with pytest.raises(InvalidInput) as caught:
        make(address)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_code_prints_while_it_is_imported_is_no_result(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("chatty.py", f"print('hello'){RULE}")
    make("chatty:Mine")
    assert capsys.readouterr() == ("", "hello\n")


def offer(write: Write, package: str, *lines: str) -> None:
    """An installed package that offers policies."""
    folder = f"{package}-1.0.dist-info"
    write(f"{folder}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    write(f"{folder}/entry_points.txt", "\n".join([f"[{outside.GROUP}]", *lines]))


def test_installed_packages_offer_policies_by_name(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    write("rules_a.py", RULE)
    offer(write, "one", "least = rules_a:Mine", "ts = rules_a:Mine", "both = rules_a:Mine")
    offer(write, "other", "both = rules_b:Mine", "lost = rules_b:Mine")
    assert make("least", c=3).parameters()["c"] == 3.0
    assert make("ts") == TS()  # a name of this package is never another's
    with pytest.raises(InvalidInput, match=r"'both' is offered by several packages, .*: write ru"):
        make("both")
    with pytest.raises(InvalidInput, match="'rules_b:Mine': there is no module 'rules_b'"):
        make("lost")
    with pytest.raises(UnknownName, match="unknown policy 'leas'; did you mean 'least'"):
        make("leas")
