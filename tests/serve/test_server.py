from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from server_process import server_process

from driftanchor import InvalidInput
from driftanchor.serve.server import listen, url_of


def test_a_free_port_is_found_and_a_taken_one_refused() -> None:
    with contextlib.closing(listen("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        assert url_of(first) == f"http://127.0.0.1:{port}"
        with pytest.raises(InvalidInput, match=r"cannot be listened on .*, port \d+"):
            listen("127.0.0.1", port)


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(InvalidInput, match="take another --host"):
        listen("192.0.2.1", 0)


def test_six_has_brackets() -> None:
    class Listening:
        def getsockname(self) -> tuple[str, int, int, int]:
            return ("::1", 80, 0, 0)

    assert url_of(Listening()) == "http://[::1]:80"  # type: ignore[arg-type]


def test_a_server_that_read_logs_ends_without_a_word(tmp_path: Path) -> None:
    logs, log = tmp_path / "shop.csv", tmp_path / "log"
    logs.write_text("ad,won\n" + "A,1\nA,0\nB,0\nB,1\n" * 10)
    words = (
        "--store",
        str(tmp_path / "a.db"),
        "--log",
        str(logs),
        "--arm",
        "ad",
        "--reward",
        "won",
    )
    with server_process(*words, "--relative-bound", "0.1", "--port", "0", log=log) as server:
        assert server.end() == 0
    assert "leaked" not in log.read_text()  # as DuckDB says of what is still there at the end
