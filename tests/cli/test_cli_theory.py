"""`driftanchor theory` prints the terms of the bounds."""

import json

import pytest
from typer.testing import CliRunner

from driftanchor.cli.main import app


def invoke(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["theory", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_the_terms_of_given_numbers() -> None:
    given = (
        "--online 0.6,0.5 --offline 0.6,0.45 --offline-pulls 90 --bias-bound 0.06 --horizon 1000"
    )
    code, out, _ = invoke(*given.split(), "--json")
    assert code == 0
    arm = json.loads(out)["arms"]["2"]
    assert arm["omega"] == pytest.approx(0.01)
    assert arm["anchor saves"] == pytest.approx(90 * (1 - 0.3))
    assert arm["min-ucb saves"] == pytest.approx(90 * 0.9**2)
    assert arm["lai-robbins"] == pytest.approx(2 * 6.907755 / 0.01)


def test_a_relative_bound_counts_once_the_common_move_is_known() -> None:
    given = "--online 0.6,0.5 --offline same --offline-pulls 90 --common-shift 2 --horizon 1000"
    saved = {}
    for bounds in ("", "--relative-bound 0.02", "--relative-bound 0.02 --bias-bound 2.5"):
        code, out, _ = invoke(*given.split(), *bounds.split(), "--json")
        assert code == 0
        saved[bounds] = json.loads(out)["arms"]["2"]
    alone, relative, both = saved.values()
    assert alone["omega"] == pytest.approx(0.0)  # V = 2, the truth, and the logs are 2 too low
    assert relative["omega"] == pytest.approx(0.02)
    assert relative["anchor saves"] == pytest.approx(90 * (1 - 0.6))
    assert both == pytest.approx(relative)  # V leaves 0.5


def test_noise_scales_all_that_is_not_saved_by_logs() -> None:
    given = ("--online", "0.6,0.5", "--offline-pulls", "0", "--offline", "same", "--json")
    one, two = (
        json.loads(invoke(*given, "--noise", noise)[1])["arms"]["2"] for noise in ("1", "2")
    )
    for term in ("lai-robbins", "anchor online", "anchor shape", "min-ucb shape"):
        assert two[term] == pytest.approx(4 * one[term]), term


@pytest.mark.parametrize(
    ("given", "warned"),
    [
        ("--online 0.8,0.5 --offline 0.5,0.6 --offline-pulls 9 --bias-bound 0.1", True),
        ("--online 0.8,0.5 --offline 0.5,0.6 --offline-pulls 9 --bias-bound 0.3", False),
        ("--online 0.8,0.5 --offline 0.5,0.6 --offline-pulls 0,9 --bias-bound 0.1", False),
        ("--online 0.8,0.5 --offline 0.5,0.5 --offline-pulls 9 --relative-bound 0.1", True),
    ],
)
def test_a_promise_that_does_not_hold_is_warned_of(given: str, warned: bool) -> None:
    code, _, said = invoke(*given.split())
    assert code == 0
    message = "warning: the mean of arm '1' moved from 0.5 to 0.8, further than its bounds allow"
    assert (message in said) == warned


def test_the_table_names_every_term() -> None:
    code, out, _ = invoke()
    assert code == 0
    for name in ("gap", "omega", "anchor saves", "min-ucb saves", "lai-robbins"):
        assert f"{name}: " in out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("--online 0.5,0.5", "no arm worse than the best"),
        ("--horizon 1", "--horizon must be at least 2, got 1"),
        ("--online 0.5,x", "--online must be a number, got 'x'"),
    ],
)
def test_bad_input_is_refused(given: str, message: str) -> None:
    code, out, err = invoke(*given.split())
    assert code == 2
    assert out == ""
    assert message in err
