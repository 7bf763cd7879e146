"""Bounded: nobody waits longer than the deadline, whatever the work does."""

from __future__ import annotations

import threading

import pytest

from driftanchor.client.bounded import Bounded


def test_answers_and_errors_come_back_and_threads_are_used_again() -> None:
    bounded = Bounded()
    names = {bounded.run(lambda: threading.get_ident(), seconds=60.0) for _ in range(20)}
    assert len(names) == 1

    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bounded.run(fail, seconds=60.0)
    assert bounded.run(lambda: 1, seconds=60.0) == 1


def test_work_that_hangs_is_left_and_too_much_of_it_is_refused_at_once() -> None:
    bounded, free = Bounded(most=2), threading.Event()
    for _ in range(2):
        with pytest.raises(TimeoutError, match=r"no answer within 0\.01 s"):
            bounded.run(free.wait, seconds=0.01)
    with pytest.raises(TimeoutError, match="2 requests before this one still wait"):
        bounded.run(lambda: 1, seconds=60.0)
    free.set()
    while True:  # until one of the threads is done
        try:
            assert bounded.run(lambda: 1, seconds=60.0) == 1
            break
        except TimeoutError:
            pass
