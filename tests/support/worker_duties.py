"""What the workers of pytest-xdist need not do: tell of what went well, and read files twice.

All of it only saves time, and reaches into pytest and Hypothesis. With others, it does nothing.
"""

import contextlib
import types
from typing import Any

import pytest


def tell_less(config: pytest.Config) -> None:
    """Let a worker tell the controller of each test once, unless its setup or its end fails.

    xdist does the same for the reports of collecting. Sending and reading these reports took some
    ten seconds. With `--durations` all of them are sent. That a test begins or has ended is shown
    with `-v` alone, and the keywords of a test that passed nowhere.
    """
    if config.getoption("durations"):
        return
    if send := _xdist(config, "pytest_runtest_logreport"):
        ours = send.function

        def tell(report: pytest.TestReport) -> object:
            if report.passed:
                report.keywords = {}
            return None if report.passed and report.when != "call" else ours(report)

        send.function = tell
    for name in ("pytest_runtest_logstart", "pytest_runtest_logfinish"):
        if (send := _xdist(config, name)) and config.getoption("verbose") <= 0:
            send.function = lambda nodeid, location: None


def _xdist(config: pytest.Config, hook: str) -> Any:
    """What xdist does in a worker when a hook is called; `None` if it does nothing."""
    found = getattr(config.hook, hook).get_hookimpls()
    return next((x for x in found if type(x.plugin).__name__ == "WorkerInteractor"), None)


def share_rewriting(config: pytest.Config) -> None:
    """Rewrite the asserts of this worker's share of the files, for all workers, where it is due.

    All workers import all tests at the same time, and each would rewrite all of them.
    """
    with contextlib.suppress(ImportError, AttributeError, LookupError, TypeError, ValueError):
        from _pytest.assertion import rewrite

        state = config.stash[rewrite.assertstate_key]
        for file in sorted((config.rootpath / "tests").rglob("test_*.py"))[_share(config)]:
            kept = rewrite.get_cache_dir(file) / f"{file.stem}{rewrite.PYC_TAIL}"
            if rewrite._read_pyc(file, kept) is None and rewrite.try_makedirs(kept.parent):
                digest, code = rewrite._rewrite_test(file, config)
                rewrite._write_pyc(state, code, digest, kept)


def share_constants(config: pytest.Config) -> None:
    """Find the constants of this worker's share of the package, for all workers, where it is due.

    Hypothesis tries them as examples. It keeps what it found, beside the examples that failed; but
    all workers would look at the same time, and each of them through all files.
    """
    with contextlib.suppress(ImportError, AttributeError, OSError, TypeError):
        from hypothesis.internal.constants_ast import constants_from_module

        for file in sorted((config.rootpath / "src").rglob("*.py"))[_share(config)]:
            module = types.ModuleType(file.stem)
            module.__file__ = str(file)
            constants_from_module(module)
        constants_from_module.cache_clear()


def _share(config: pytest.Config) -> slice:
    """The files of this worker, such as every second one; none in a process that is no worker."""
    worker = getattr(config, "workerinput", None)
    if worker is None:
        return slice(0)
    return slice(int(worker["workerid"].removeprefix("gw")), None, worker["workercount"])
