"""Warm-up: load kernels before the first request.

An interpreted decision may take longer than a client waits. Cached kernels load within a second. If
a kernel must be compiled, the server starts meanwhile, and the first decisions are interpreted.
"""

from __future__ import annotations

import time

from driftanchor.errors import DriftanchorError
from driftanchor.live import background
from driftanchor.serve.request_log import said_by
from driftanchor.serve.served import Served


def warm_up(served: Served) -> None:
    """Warm up the campaigns of a store, within the time limit in the settings."""
    end = time.monotonic() + served.settings.warm_up
    try:
        names = served.names()
    except DriftanchorError as error:  # requests will report it too
        served.log.event("warm_up", "error", **said_by(error))
        return
    for name in names:
        if time.monotonic() >= end:
            return
        try:
            served.campaign(name).prepare()
        except Exception as error:  # the other campaigns can still be served
            served.log.event("warm_up", "error", campaign=name, **said_by(error))
    background.finish(max(end - time.monotonic(), 0.0))
