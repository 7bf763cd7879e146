"""A process that asks and tells until it is killed, and notes what was acknowledged to it."""

from __future__ import annotations

import hashlib
import json
import os
import random
import threading
from pathlib import Path

from driftanchor import Campaign, StoreUnavailable

NAME = "torture"
THREADS = 2  # so that transactions hold requests of more than one
REPEATED = 0.2  # of the rewards are told again
UNITS = 50


def reward_of(decision_id: str) -> float:
    """The reward of a decision: who tells it again, in whichever process, tells the same."""
    return float(hashlib.sha256(decision_id.encode()).digest()[0] % 2)


def write(address: str, notes: str, seed: int) -> None:
    """Ask and tell for ever; rewards come later, in any order, and some twice.

    Args:
        address: The store.
        notes: The file of what was acknowledged; what an earlier process noted is gone on with.
        seed: Of what is asked.
    """
    campaign = Campaign.load(NAME, store=address)
    waiting = unrewarded(Path(notes))
    file = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def loop(number: int) -> None:
        rng = random.Random(f"{seed} {number}")
        mine = waiting[number::THREADS]
        while True:
            try:
                _step(campaign, rng, mine, file)
            except StoreUnavailable as error:  # not acknowledged: it is asked or told again
                _note(file, {"error": str(error)})

    threads = [threading.Thread(target=loop, args=[number]) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _step(campaign: Campaign, rng: random.Random, mine: list[str], file: int) -> None:
    if not mine or rng.random() < 0.4:
        unit = f"unit-{rng.randrange(UNITS)}" if rng.random() < 0.5 else None
        decision = campaign.ask(unit)
        _note(file, {"ask": decision.id, "arm": decision.arm, "p": decision.propensity})
        mine.append(str(decision.id))
        return
    one = mine[rng.randrange(len(mine))]
    reward = reward_of(one)
    receipt = campaign.tell(one, reward)
    _note(file, {"tell": one, "reward": reward, "status": receipt.status})
    if rng.random() >= REPEATED:
        mine.remove(one)


def _note(file: int, what: dict[str, object]) -> None:
    os.write(file, (json.dumps(what) + "\n").encode())  # in one piece, whoever else writes


def notes_of(path: Path) -> list[dict[str, object]]:
    """What was acknowledged; a line that a kill cut off is left out."""
    if not path.exists():
        return []
    lines = path.read_text().split("\n")[:-1]
    return [json.loads(line) for line in lines]


def unrewarded(path: Path) -> list[str]:
    """The decisions that were acknowledged, and whose reward was not."""
    notes = notes_of(path)
    told = {note["tell"] for note in notes if "tell" in note}
    return list(dict.fromkeys(str(x["ask"]) for x in notes if "ask" in x and x["ask"] not in told))
