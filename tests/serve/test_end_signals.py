"""Signals that end a server go to whoever asked for them, and back to who had them before."""

import os
import signal

import pytest

from driftanchor.serve.end_signals import NUMBERS, end_signals


@pytest.mark.parametrize("number", NUMBERS)
def test_a_handler_has_a_signal_while_it_is_asked_for(number: int) -> None:
    came: list[int] = []
    before = [signal.getsignal(x) for x in NUMBERS]
    with end_signals(lambda found, _: came.append(found)):
        os.kill(os.getpid(), number)
    assert came == [number]
    assert [signal.getsignal(x) for x in NUMBERS] == before
