"""Warming up: what decisions are computed with is loaded before the first request.

A decision that is interpreted may take longer than a client waits. Kernels that are on disk are
loaded within a second. One that has to be compiled takes longer: then the server starts, and the
first decisions are interpreted while it is compiled.
"""

from __future__ import annotations

import time

from driftanchor.errors import DriftanchorError
from driftanchor.live import background
from driftanchor.serve.request_log import said_by
from driftanchor.serve.served import Served


def warm_up(served: Served) -> None:
    """Prepare the campaigns of a store, for as long as the settings allow."""
    end = time.monotonic() + served.settings.warm_up
    try:
        names = served.names()
    except DriftanchorError as error:  # requests will say it too
        served.log.event("warm_up", "error", **said_by(error))
        return
    for name in names:
        if time.monotonic() >= end:
            return
        try:
            served.campaign(name).prepare()
        except Exception as error:  # the other campaigns can be served
            served.log.event("warm_up", "error", campaign=name, **said_by(error))
    background.finish(max(end - time.monotonic(), 0.0))
