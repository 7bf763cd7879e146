"""The standard streams: some are closed, some take no more, and none of this may end in noise."""

from __future__ import annotations

import contextlib
import io
import os
import sys


def make_ready() -> None:
    """Give closed streams a place, and let all of them show any text."""
    descriptor = os.open(os.devnull, os.O_RDONLY)
    while descriptor <= 2:  # or a file that is opened later would become stdout
        descriptor = os.open(os.devnull, os.O_RDONLY)
    os.close(descriptor)
    if sys.stdout is None:  # writing to it fails, as it should
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
    if sys.stderr is None:  # messages that nobody wants are no reason to fail
        sys.stderr = io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without θ or ± shows "?" instead
            stream.reconfigure(errors="replace")


def settle() -> None:
    """Drop what a stream did not take, or Python complains about it when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with contextlib.suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
                stream.flush()
