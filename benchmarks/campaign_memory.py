"""The memory of a process that asks and tells for long: is it flat?"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

from benchmarks.clock import Cell, say, spread
from benchmarks.tables import Blocks, table

AT_ONCE = 500  # decisions of one call
GROWTH = "memory at the end over that after a tenth"
PLAYED = "a campaign of 10 arms"


def flat(decisions: int) -> Blocks:
    """The memory of a process after a tenth of the decisions and after all of them."""
    say(f"memory over {decisions:,} decisions")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.campaign_memory", folder, str(decisions)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    early, late = json.loads(done.stdout)
    row: list[Cell | str | None] = [spread([x], "MiB") for x in (early, late)]
    columns = [
        f"{decisions:,} decisions with their rewards",
        "after a tenth of them",
        "at the end",
        GROWTH,
    ]
    rows = {PLAYED: [*row, spread([late / early])]}
    return table("bench-campaign-memory", "Memory of a campaign", columns, rows)


def play(folder: str, decisions: int, memory: Callable[[], float]) -> Iterator[float]:
    """Ask and tell; the memory after a tenth and at the end."""
    from driftanchor import TS, Campaign

    with Campaign.create(
        "c",
        arms=map(str, range(10)),
        policy=TS(prior_mean=0.5, noise=0.5),
        reward_range=(0, 1),
        seed=1,
        store=f"sqlite:///{folder}/store.db",
    ) as campaign:
        for i in range(0, decisions, AT_ONCE):
            made = campaign.ask(n=AT_ONCE)
            campaign.tell_many([(str(x.id), float(x.number % 2)) for x in made])
            if i + AT_ONCE in (decisions // 10, decisions):
                yield memory()


def resident() -> float:
    """The memory of this process now, in MiB."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


if __name__ == "__main__":
    print(json.dumps(list(play(sys.argv[1], int(sys.argv[2]), resident))))
