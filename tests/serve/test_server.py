from __future__ import annotations

import contextlib

import pytest

from driftanchor import InvalidInput
from driftanchor.serve.server import listen, url_of


def test_a_free_port_is_found_and_a_taken_one_refused() -> None:
    with contextlib.closing(listen("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        assert url_of(first) == f"http://127.0.0.1:{port}"
        with pytest.raises(InvalidInput, match="Address already in use") as caught:
            listen("127.0.0.1", port)
    assert str(caught.value) == (
        f"cannot listen on 127.0.0.1, port {port}: Address already in use. Is another server "
        "running? Choose another --port"
    )


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"Choose another --host or --port"):
        listen("192.0.2.1", 0)


def test_six_has_brackets() -> None:
    class Listening:
        def getsockname(self) -> tuple[str, int, int, int]:
            return ("::1", 80, 0, 0)

    assert url_of(Listening()) == "http://[::1]:80"  # type: ignore[arg-type]
