from __future__ import annotations

from campaign_parts import Clock

from driftanchor.serve import rates
from driftanchor.serve.rates import Rates


def test_a_burst_is_allowed_and_then_the_rate() -> None:
    clock = Clock(5.0)
    kept = Rates(rate=10.0, burst=3.0, clock=clock)
    assert [kept.wait("a") == 0 for _ in range(5)] == [True, True, True, False, False]
    assert abs(kept.wait("a") - 0.1) < 1e-9
    assert kept.wait("b") == 0.0
    clock.now += 0.1
    assert [kept.wait("a") == 0 for _ in range(2)] == [True, False]
    clock.now += 60.0
    assert [kept.wait("a") == 0 for _ in range(4)] == [True, True, True, False]


def test_callers_are_forgotten_before_there_are_too_many() -> None:
    clock = Clock(5.0)
    kept = Rates(rate=1.0, burst=1.0, clock=clock)
    for caller in range(rates.MOST):
        kept.wait(str(caller))
    assert kept.wait("5") > 0
    kept.wait("another")  # takes the place of the first
    assert len(kept._paid) == rates.MOST
    assert (kept.wait("5") > 0, kept.wait("0")) == (True, 0.0)
    clock.now += 60.0
    assert kept.wait("one more") == 0.0
    assert list(kept._paid) == ["one more"]
