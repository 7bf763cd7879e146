"""A store that was tampered with does not pass."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from campaign_parts import Clock, asked, create

from driftanchor import Campaign, OfflineData, Store, UnreadableState

TAMPERED = {
    "UPDATE arms SET total = total + 1 WHERE arm = 0": "total of arm 'A'",
    "UPDATE arms SET squares = 7 WHERE arm = 1": "squares of arm 'B'",
    "UPDATE arms SET pending = 9 WHERE arm = 1": "pending of arm 'B'",
    "UPDATE arms SET label = 'Z' WHERE arm = 1": "the arms are not those",
    "UPDATE decisions SET reward = 0.125 WHERE number = 1": "reward of decision 1 is 0.125",
    "UPDATE decisions SET state = 'open' WHERE number = 1": "state of decision 1",
    "UPDATE decisions SET propensity = 0 WHERE number = 2": "propensity of decision 2",
    "DELETE FROM decisions WHERE number = 3": "decision 3 is missing",
    "DELETE FROM decisions WHERE number = 7": "there are 6 decisions",
    "DELETE FROM events WHERE seq = 4": "event 5 follows event 3",
    "UPDATE events SET value = 0.125 WHERE kind = 'rewarded'": "total of arm",
    "UPDATE events SET kind = 'rewarded', value = 1, decision = 1, arm = 0 WHERE seq = 13": (
        "rewarded, cannot be for decision 1"
    ),
    "UPDATE decisions SET epoch = 3 WHERE number = 1": "epoch of decision 1 is 3",
    "UPDATE decisions SET asked_at = 7 WHERE number = 2": "asked_at of decision 2 is 7.0",
    "UPDATE decisions SET exposed_at = NULL WHERE number = 2": "exposed_at of decision 2 is None",
    "UPDATE decisions SET due_at = 1e9 WHERE number = 2": "due_at of decision 2",
    "UPDATE decisions SET settled_at = 7 WHERE number = 2": "settled_at of decision 2 is 7.0",
    "UPDATE decisions SET holds = 'v' WHERE number = 6": "holds of decision 6 is 'v'",
    "UPDATE decisions SET holds = NULL WHERE number = 7": "decision 7 is held by None",
    "UPDATE decisions SET unit = 'v', holds = 'v' WHERE number = 7": "or the unit of decision 7",
    "UPDATE decisions SET id = 'x' WHERE number = 5": "the id or the unit of decision 5",
    "UPDATE decisions SET propensity = propensity * 1.0000000001 WHERE number = 2": (
        "propensity of decision 2 is"
    ),
    "UPDATE request_keys SET at = 7": "does not match the request or the time",
    "DELETE FROM request_keys": "the key 'k' of an event is missing",
    "UPDATE request_keys SET key = 'l'": "the key 'l' refers to missing decisions",
    "UPDATE history SET decisions = 99 WHERE arm = 0": "the history from 900 on",
    "UPDATE history SET total = total + 1 WHERE arm = 0": "the history from 900 on",
    "DELETE FROM history": "the history from 900 on is None",
    "UPDATE request_keys SET decisions = '[\"x\"]'": "the key 'k' does not match the request",
    "UPDATE heads SET snapshot = 3": "the last snapshot is said to be 3, and is 0",
    "INSERT INTO snapshots VALUES (1, 5, '{}')": "the snapshot of event 5 is not",
    "INSERT INTO watches VALUES (1, '{}')": "the store is damaged",
    "UPDATE heads SET epoch = 4": "epoch of the campaign is 4",
    "UPDATE heads SET checksum = 4": "checksum of the campaign is 4",
    "UPDATE events SET at = 999.5 WHERE kind = 'paused'": "checksum of the campaign is",
    "UPDATE events SET detail = '{}' WHERE kind = 'paused'": "checksum of the campaign is",
    "UPDATE traffic SET expected = zeroblob(56)": "the propensities add up to 0",
    "UPDATE traffic SET expected = zeroblob(64)": "do not match their checksum",
}


@pytest.mark.parametrize("change", TAMPERED)
def test_what_does_not_fit_the_events_is_named(tmp_path: Path, change: str) -> None:
    path = tmp_path / "store.db"
    campaign = create(f"sqlite:///{path}", clock=Clock(), reward_window=60.0)
    for i, decision in enumerate(campaign.ask(n=6, key="k")):
        if i < 4:
            campaign.tell(str(decision.id), 0.5)
    campaign.ask("u")
    campaign.pause()
    found = campaign.verify()
    assert (found.events, found.decisions, found.rewards) == (13, 7, 4)
    campaign.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute(change).rowcount > 0
    connection.close()
    with pytest.raises(UnreadableState, match=TAMPERED[change]):
        campaign.verify()
    campaign.close()


def test_minus_zero_is_recorded_as_zero(store: Store) -> None:
    clock = Clock(-0.0)
    campaign = create(store, clock=clock, reward_window=10.0, default_reward=-0.0)
    first, second, third = (asked(campaign) for _ in range(3))
    assert str(campaign.tell(first, -0.0).reward) == "0.0"
    assert campaign.tell(first, 0.0).status == "replayed"
    (receipt,) = campaign.tell_many([(second, -0.0)])
    assert str(getattr(receipt, "reward", None)) == "0.0"
    clock.now = 20.0
    assert campaign.tell(third, 1.0).status == "late"
    events = campaign.events()
    assert "-0.0" not in str(events)
    assert campaign.verify().rewards == 3


def test_equal_numbers_have_equal_checksums(tmp_path: Path) -> None:
    checksums = []
    for name, zero in (("a", 0.0), ("b", -0.0)):
        path = tmp_path / f"{name}.db"
        with create(f"sqlite:///{path}", name) as campaign:
            campaign.add_arm("D", offline=(5, zero, 1.0), bias_bound=-zero)
        with sqlite3.connect(path) as connection:
            checksums += connection.execute("SELECT checksum FROM heads").fetchall()
        connection.close()
    assert checksums[0] == checksums[1]
    same = [str(OfflineData.from_summary({"A": (5, zero)}).to_json()) for zero in (0.0, -0.0)]
    assert same[0] == same[1]


WRONG_SNAPSHOTS = {
    "UPDATE snapshots SET state = replace(state, '\"decisions\": 300', '\"decisions\": 299')": (
        "the snapshot of event 300 is not what the events give"
    ),
    "DELETE FROM snapshots WHERE seq > 300": "the last snapshot is said to be 600, and is 300",
}


@pytest.mark.parametrize("change", WRONG_SNAPSHOTS)
def test_snapshots_are_compared(change: str, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    clock = Clock()
    campaign = create(f"sqlite:///{path}", clock=clock)
    made = campaign.ask(n=300)
    clock.now += 1_000.0
    campaign.tell_many([(str(x.id), 0.1) for x in made])
    assert campaign.verify().rewards == 300
    campaign.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute(change).rowcount > 0
    connection.close()
    with pytest.raises(UnreadableState, match=WRONG_SNAPSHOTS[change]):
        campaign.verify()
    campaign.close()


def play(campaign: Campaign, clock: Clock) -> None:
    """Units that come again, lose their arm, get their reward, and meet a new epoch."""
    first = campaign.ask("u", key="k")
    campaign.ask("u", key="again")  # a key for a decision that was made before
    campaign.ask("v", exclude=["A"])
    campaign.ask("u", exclude=[first.arm])
    campaign.tell(str(campaign.ask("w").id), 1.0)
    campaign.ask("w")
    campaign.ask()
    campaign.new_epoch()
    campaign.ask("u")
    clock.now += 100.0
    campaign.sweep()
    campaign.ask("v")


@pytest.mark.parametrize("sticky", ["decision", "campaign", None])
@pytest.mark.parametrize("exposure", ["ask", "report"])
def test_a_campaign_fits_its_own_events(sticky: str | None, exposure: str, tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "store.db"
    campaign = create(
        f"sqlite:///{path}",
        clock=clock,
        sticky=sticky,
        exposure=exposure,
        reward_window=60.0,
        default_reward=0.0,
    )
    play(campaign, clock)
    assert campaign.verify().decisions > 5
    campaign.close()
    other = (
        "UPDATE decisions SET holds = CASE WHEN holds IS NULL THEN unit END "
        "WHERE number = (SELECT max(number) FROM decisions)"
    )
    with sqlite3.connect(path) as connection:
        assert connection.execute(other).rowcount == 1
    connection.close()
    with pytest.raises(UnreadableState, match="but not according to the events"):
        campaign.verify()
    campaign.close()


def test_what_older_events_do_not_say_is_not_compared(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "store.db"
    campaign = create(f"sqlite:///{path}", clock=clock)
    play(campaign, clock)
    campaign.close()
    with sqlite3.connect(path) as connection:  # as the first versions wrote them
        connection.execute("UPDATE events SET value = NULL, detail = NULL WHERE seq = 1")
        connection.execute("UPDATE heads SET checksum = NULL")
    connection.close()
    assert campaign.verify().decisions > 5
    campaign.close()
