"""`driftanchor campaign`: what all its commands have in common."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign_commands import asked, new, refused, run

pytestmark = pytest.mark.usefixtures("in_own_folder")

LOADING = {
    "show": (),
    "ask": (),
    "tell": ("0" * 32, "1"),
    "expose": ("0" * 32,),
    "pause": (),
    "resume": (),
    "epoch": (),
    "sweep": (),
    "explain": ("0" * 32,),
    "export": ("a.csv",),
    "verify": (),
}


@pytest.mark.parametrize("command", LOADING)
def test_an_unknown_campaign_is_not_found(command: str) -> None:
    new("c")
    message = "there is no campaign 'd'; there are: c"
    refused(3, message, "campaign", command, "d", *LOADING[command])
    refused(2, "name must start with a letter", "campaign", command, "a b", *LOADING[command])


@pytest.mark.parametrize("command", ["pause", "archive", "restore", "distrust", "add"])
def test_an_unknown_campaign_has_no_arms(command: str) -> None:
    new("c")
    refused(3, "there is no campaign 'd'", "campaign", "arm", command, "d", "A")


@pytest.mark.parametrize("command", LOADING)
def test_a_store_that_is_not_there_is_not_created(command: str) -> None:
    message = "there is no store 'driftanchor.db': 'driftanchor campaign create' makes one"
    refused(5, message, "campaign", command, "c", *LOADING[command])
    message = f"the folder '{Path.cwd()}/no/such' does not exist: make it, or choose another place"
    refused(5, message, "campaign", command, "c", *LOADING[command], "--store", "no/such/a.db")
    assert not list(Path().iterdir())


def test_a_decision_that_nobody_made_is_not_found() -> None:
    new("c")
    new("d")
    elsewhere = asked("d")["id"]
    for wrong in ("0" * 32, elsewhere, "x"):
        for words in (("tell", "c", wrong, "1"), ("expose", "c", wrong), ("explain", "c", wrong)):
            refused(3, f"campaign 'c' has no decision '{wrong}'", "campaign", *words)


def test_help_shows_the_commands_and_examples() -> None:
    for words in ((), ("campaign",), ("campaign", "arm"), ("campaign", "create"), ("store",)):
        done = run(*words, "--help")
        assert done.exit_code == 0
        assert "Examples:" in done.stdout


def test_usage_errors_name_the_whole_command() -> None:
    refused(2, "'driftanchor campaign ask --help' shows", "campaign", "ask")
    refused(2, "'driftanchor campaign --help' shows", "campaign", "--bananas")
    refused(2, "No such command 'banana'; 'driftanchor campaign", "campaign", "banana")
    refused(2, "'driftanchor campaign arm add --help' shows", "campaign", "arm", "add", "--no")
    done = run("campaign")
    assert (done.exit_code, done.stderr) == (2, "error: no command is given\n")
