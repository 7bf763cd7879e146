"""Runs a command and prints its CPU time and peak memory, as JSON.

A process of its own because a child's peak counts what its parent held when it was started, and
because this one holds little. Started as a script, without this package.
"""

import json
import resource
import subprocess
import sys


def main() -> None:
    """Run the command given by the arguments."""
    subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)  # bytes there, else KiB
    print(json.dumps({"cpu": used.ru_utime + used.ru_stime, "peak": peak}))


if __name__ == "__main__":
    main()
