"""`driftanchor serve --demo`: a server with made-up campaigns."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from driftanchor.cli import output
from driftanchor.errors import InvalidInput


def check_demo(where: dict[str, Any], others: list[str]) -> None:
    """Refuse what a demo cannot do: it has one process, and logs and a store of its own."""
    if others:
        raise InvalidInput(
            f"has its own logs and store, got {others[0]!r}: leave that out, or leave out --demo",
            argument="demo",
        )
    if where["workers"] != 1:
        raise InvalidInput(
            f"runs in one process, got --workers {where['workers']}: leave that out",
            argument="demo",
        )


def run_demo(where: dict[str, Any], stopping: Callable[[], object], *, as_json: bool) -> None:
    """Serve made-up campaigns until a signal ends it.

    Args:
        where: Where to listen, and with how many processes.
        stopping: Called when it starts to stop.
        as_json: Whether programs read what it says.
    """
    from driftanchor.serve.app_state import AppState, ServeSettings
    from driftanchor.serve.demo import Demo
    from driftanchor.serve.loopback import check_keys
    from driftanchor.serve.server import listen, serve, url_of

    with Demo() as demo:
        check_keys(where["host"], demo.store.keys(), demo.clock())
        settings = ServeSettings(**where)
        listening = listen(settings.host, settings.port)
        url, names = url_of(listening), demo.store.names()

        def ready() -> None:
            demo.begin()
            if as_json:
                output.show_line(json.dumps({"url": url, "campaigns": names, "demo": True}))
            else:
                output.show_line(url)
                output.show_line("This is a demo: logs, visitors and clicks are made up.")

        state = AppState(demo.store, settings, demo.clock, demo=True)
        serve(state, listening, ready, stopping)
