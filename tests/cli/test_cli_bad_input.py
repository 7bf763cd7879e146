"""Every bad value: exit code 2, nothing on stdout, one line that names the option and the value."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from driftanchor.cli.main import app
from driftanchor.errors import InvalidInput
from driftanchor.render.figure import SUFFIXES

BAD = {
    "--horizon x": "--horizon must be a number, got 'x'",
    "--horizon 1_0": "--horizon must be a number, got '1_0'",
    "--horizon ٣": "--horizon must be a number, got '٣'",
    "--online 1_0": "--online must be a number, got '1_0'",
    "--horizon 0": "--horizon must be at least 1, got 0",
    "--horizon 2.5": "--horizon must be a whole number, got 2.5",
    "--horizon 1" + "0" * 400: "--horizon must be at most",
    "--online 1" + "0" * 400: "--online of arm '1' must",
    "--policy ts:formula=x": "unknown parameter of policy 'ts' 'formula'",
    "--policy ts:name=3": "unknown parameter of policy 'ts' 'name'",
    "--runs 0": "--runs must be between",
    "--runs nan": "--runs must be a whole number, got nan",
    "--seed -1": "--seed must be at least 0, got -1",
    "--threads 0": "--threads must be between",
    "--engine slow": "--engine: unknown engine 'slow'",
    "--checkpoints 0": "--checkpoints must be between",
    "--checkpoints 1.5": "--checkpoints must be a whole number, got 1.5",
    "--checkpoints 5,x": "--checkpoints must be a number, got 'x' in '5,x'",
    "--checkpoints 5,99999": "--checkpoints must be between",
    "--online ,": "--online must be a number, got '' in ','",
    "--online 1,,2": "--online must be a number, got '' in '1,,2'",
    "--online true": "--online must be a number, got 'true'",
    "--online nan": "--online of arm '1' must be a number, got nan",
    "--online inf": "--online of arm '1' must be",
    "--online 0.5*x": "--online must be a number, got 'x' in '0.5*x'",
    "--online 0.5*0": "--online repeats '0.5' '0' times",
    "--online 0.5*1.5": "--online repeats '0.5' '1.5' times",
    "--online 0.5*9999999999": "--online repeats '0.5' '9999999999' times",
    "--online 1.5,0 --reward bernoulli": "--online of arm '1' must be between 0 and 1, got 1.5",
    "--offline 1,2": "--offline has 2 values for 10 arms",
    "--offline sam": "--offline must be a number, got 'sam'",
    "--online 1,0 --offline-pulls 9": "--offline-pulls is '9' and --offline is missing",
    "--online 1,0 --offline-total 9": "--offline same",
    "--online 1,0 --coverage optimal": "--coverage is 'optimal' and --offline is missing",
    "--offline-pulls 1.5": "--offline-pulls of arm '1' must be a whole number, got 1.5",
    "--offline-pulls=-1": "--offline-pulls of arm '1' must be at least 0, got -1",
    "--offline-pulls 5 --offline-total 5": "--offline-pulls and --offline-total are both given",
    "--offline-pulls 5 --coverage optimal": "--offline-pulls and --coverage are both given",
    "--offline-total -5": "--offline-total must be at least 0, got -5",
    "--offline-total x": "--offline-total must be a number, got 'x'",
    "--coverage best": "--coverage: unknown coverage 'best'",
    "--bias-bound=-1": "--bias-bound of arm '1' must be at least 0, got -1",
    "--bias-bound 1,2": "--bias-bound has 2 values for 10 arms",
    "--relative-bound=-1": "--relative-bound of arm '1' must be at least 0, got -1",
    "--relative-bound nan": "--relative-bound of arm '1' must be a number, got nan",
    "--relative-bound 1,2": "--relative-bound has 2 values for 10 arms",
    "--relative-bound x": "--relative-bound must be a number, got 'x'",
    "--online 1,0 --relative-bound 1": "--relative-bound is given and no arm has logs",
    "--offline-pulls 9,0*9 --relative-bound 1": "--relative-bound needs at least two arms",
    "--common-shift x": "--common-shift must be a number, got 'x'",
    "--common-shift inf": "--common-shift must be finite, got inf",
    "--common-shift 0.5 --reward bernoulli": "--common-shift is 0.5 and moves the online mean of",
    "--reward gausian": "--reward: unknown reward 'gausian'; did you mean 'gaussian'?",
    "--noise 0": "--noise must be greater than 0, got 0",
    "--noise x": "--noise must be a number, got 'x'",
    "--noise 2 --reward bernoulli": "--noise '2' is not for bernoulli rewards",
    "--policy anchor_ts": "unknown policy 'anchor_ts'; did you mean 'anchor-ts'?",
    "--policy ts:nois=1": "'nois'",
    "--policy ts:noise": "--policy 'ts:noise': write ts:parameter=value, got 'noise'",
    "--policy ts:": "--policy 'ts:': write ts:parameter=value, got ''",
    "--policy =ts": "--policy '=ts' has an empty label",
    "--policy ts --policy ts:noise=2": "--policy 'ts' is given twice",
    "--policy ts:noise=1,noise=2": "--policy 'ts:noise=1,noise=2' sets 'noise' twice",
    "--policy ucb:c=-1": "--policy 'ucb:c=-1': c of policy 'ucb' must be greater than 0, got -1",
    "--policy ucb:c=abc": "c of policy 'ucb' must be a number, got 'abc'",
    "--policy ucb:c=none": "c of policy 'ucb' must be a number, got None",
    "--policy min-ucb:radius=wide": "'wide'",
    "--policy ts:noise=0": "--policy 'ts:noise=0': noise of policy 'ts' must be greater than 0",
    "--delay -1": "--delay must be between 0 and 1e+07, got -1",
    "--delay 0.5": "--delay must be a whole number, got 0.5",
    "--batch 0": "--batch must be between",
    "--cluster nowhere": "--cluster must be the address of a Dask scheduler",
    "--csv missing/r.csv": "--csv cannot write 'missing/r.csv': No such file or directory",
    "--csv .": "--csv cannot write '.': it is not a regular file",
    "--csv /dev/null": "--csv cannot write '/dev/null': it is not a regular file",
    "--plot missing/r.png": "--plot cannot write 'missing/r.png': No such file or directory",
    "--plot r.jpg": "--plot must end in .png, .pdf, .svg, got 'r.jpg'",
}


@pytest.fixture(autouse=True)
def _inside_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("arguments", BAD)
def test_bad_values(arguments: str, tmp_path: Path) -> None:
    done = invoke("simulate", *arguments.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert BAD[arguments] in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_link_to_itself_and_too_long_a_name_are_no_destination(tmp_path: Path) -> None:
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    for path in ("loop.csv", "x" * 999):
        done = invoke("simulate", "--csv", path)
        assert done.exit_code == 2
        assert done.stderr.startswith("error: --csv ")


@pytest.mark.parametrize(
    ("module", "arguments", "extra"),
    [("matplotlib", ["--plot", "r.png"], "plot"), ("numba", ["--engine", "every-round"], "fast")],
)
def test_a_missing_package_is_a_failure_that_names_its_extra(
    module: str,
    arguments: list[str],
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("driftanchor.compiled.kernels._kernels", {})
    done = invoke("simulate", "--policy", "ts", "--runs", "1", "--horizon", "9", *arguments)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert f'pip install ".[{extra}]"' in done.stderr


def test_the_plot_formats_are_those_a_result_can_draw(tmp_path: Path) -> None:
    from driftanchor.simulation import Bandit, simulate

    result = simulate("ts", Bandit([1.0, 0.0]), horizon=3, runs=2, engine="interpreted")
    for suffix in SUFFIXES:
        result.plot(tmp_path / f"r{suffix}")
    with pytest.raises(InvalidInput, match="must end in"):
        result.plot(tmp_path / "r.jpg")
