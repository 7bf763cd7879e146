from __future__ import annotations

import io
import json
import logging
import threading

import pytest

from driftanchor.serve import request_log
from driftanchor.serve.request_log import Log


def test_lines_are_json_and_all_are_written_at_the_end() -> None:
    stream = io.StringIO()
    log = Log(stream)
    log.request("id", 'GET"', "/v1", 200, 0.0123)
    log.event("started", port=1)
    log.close()
    log.event("later")
    log.close()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["request", "started", "later"]
    assert (lines[0]["method"], lines[0]["ms"], lines[0]["level"]) == ('GET"', 12.3, "info")
    assert lines[0]["time"].endswith("Z")


class Blocked(io.StringIO):
    """A stream that nobody reads for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.unblocked = threading.Event(), threading.Event()

    def write(self, text: str) -> int:
        self.reached.set()
        self.unblocked.wait()
        return super().write(text)


def test_what_nobody_reads_in_time_is_dropped_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(request_log, "MAX_LINES", 2)
    stream = Blocked()
    log = Log(stream)
    log.event("first")
    stream.reached.wait()
    for i in range(5):
        log.event(f"event {i}")
    stream.unblocked.set()
    log.close()
    log.event("last")
    log.close()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    kept = ["first", "event 0", "event 1", "dropped", "last"]
    assert [line["event"] for line in lines] == kept
    assert lines[3]["lines"] == 3


def test_a_stream_that_is_closed_costs_nothing() -> None:
    stream = io.StringIO()
    stream.close()
    log = Log(stream)
    log.event("x")
    log.close()


def test_what_libraries_warn_of_is_logged_with_its_cause() -> None:
    stream = io.StringIO()
    log = Log(stream)
    logger = logging.Logger("some.library")
    logger.addHandler(log.handler)
    log.event("starts")
    logger.info("not worth it")
    logger.warning("cannot %s", "write")
    try:
        raise OSError("no space left")
    except OSError:
        logger.exception("it failed")
    log.close()
    _, line, failed = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert (failed["text"], failed["error"]) == ("it failed", "OSError")
    assert failed["message"] == "no space left"
    assert failed["trace"]
    assert (line["logger"], line["text"], line["level"]) == (
        "some.library",
        "cannot write",
        "warning",
    )
