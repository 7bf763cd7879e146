"""How many cores this process may use, which may be fewer than the machine has."""

import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup/cpu.max")  # what a container may use, as "200000 100000"


def usable_cores() -> int:
    """The cores of the machine, or what a container or `taskset` leaves of them.

    A container that may use one and a half cores can keep two busy some of the time.
    """
    found = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        found = min(found, len(os.sched_getaffinity(0)))
    try:
        quota, period = CGROUP.read_text().split()[:2]
        found = min(found, max(1, -(-int(quota) // int(period))))
    except (OSError, ValueError):  # there is no such file, or it says "max"
        pass
    return found
