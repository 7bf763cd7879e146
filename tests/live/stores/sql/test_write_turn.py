"""The lock in front of an SQLite file: forked processes and interrupts do not keep it."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from interrupt import Interrupt
from one_turn import one_turn

from driftanchor import StoreUnavailable
from driftanchor.live.stores.sql import write_turn
from driftanchor.live.stores.sql.sql_store import open_sql, upgrade_sql


def is_free(database: Path) -> bool:
    with write_turn.lock_file(database).open("ab") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextlib.contextmanager
def bystander() -> Iterator[None]:
    """A forked process that does nothing until the block ends."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writes)
        os.read(reads, 1)
        os._exit(0)
    os.close(reads)
    try:
        yield
    finally:
        os.close(writes)
        assert os.waitpid(child, 0)[1] == 0


def test_a_process_forked_meanwhile_does_not_keep_the_lock(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with contextlib.ExitStack() as until_the_end:
        with one_turn(file):
            until_the_end.enter_context(bystander())
            assert not is_free(file)
        assert is_free(file)


def test_a_forked_process_has_no_lock_of_its_parent(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with one_turn(file):
        child = os.fork()
        if child == 0:
            left = 1
            try:
                left = len([x for x in write_turn._OPEN if not x.closed])
            finally:
                os._exit(left)
        assert os.waitpid(child, 0)[1] == 0
        assert not is_free(file)  # the child closed it, and did not unlock it


def test_a_lock_stays_open_from_turn_to_turn_while_it_is_the_same_file(tmp_path: Path) -> None:
    file = write_turn.lock_file(tmp_path / "a.db")
    turns, opened = write_turn.Turns(file), []
    for replaced in (False, False, True):
        if replaced:
            file.unlink()
        turn = turns.next()
        turn.take()
        assert not is_free(tmp_path / "a.db")
        assert turn._held is not None
        opened.append(turn._held[0])
        turn.leave()
        turn.leave()
        assert is_free(tmp_path / "a.db")
    first, second, third = opened
    assert first is second
    assert first.closed
    assert not third.closed
    turns.close()
    assert third.closed


# A file that closes itself warns.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_line_leaves_no_lock(tmp_path: Path) -> None:
    file, interrupted = tmp_path / "a.db", 0

    def take_turn() -> None:
        with one_turn(file):
            pass

    for place in range(1, 100):
        interrupt = Interrupt(place, write_turn.__file__, None)
        interrupted += interrupt.during(take_turn) is not None
        assert is_free(file)
        if interrupt.left > 0:
            break
    assert interrupted > 5


@pytest.mark.parametrize("opens", [open_sql, upgrade_sql])
def test_what_is_no_store_gets_no_lock_beside_it(
    tmp_path: Path, opens: Callable[[str], object]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "x.csv").write_text("arm,reward\nA,1\n" * 100, encoding="utf-8")
    for name in ("folder", "x.csv"):
        with pytest.raises(StoreUnavailable):
            opens(f"sqlite:///{tmp_path / name}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "x.csv"]


def test_a_lock_that_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("arm,reward\nA,1\n" * 100, encoding="utf-8")
    lock = write_turn.lock_file(tmp_path / "x.csv")
    lock.touch()
    with pytest.raises(StoreUnavailable):
        open_sql(f"sqlite:///{tmp_path / 'x.csv'}")
    assert lock.exists()
