"""The table of engines: what each promises, and which one `auto` takes."""

import importlib.util
import itertools

import pytest
from driftanchor.simulation.engines import engine_named, fastest
from driftanchor.simulation.engines.late import LATE_REWARDS
from driftanchor.simulation.engines.reference import EVERY_ROUND

from driftanchor import POLICIES, Bandit, InvalidInput
from driftanchor.simulation import ENGINE_NAMES, ENGINES

BANDITS = {
    "usual": Bandit([0.5, 0.4], 0.5, 9),
    "late": Bandit([0.5, 0.4], 0.5, 9, delay=1),
    "moved together": Bandit([0.5, 0.4], 0.5, 9, relative_bound=0.1),
}


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_has_a_loop_for_every_policy(name: str) -> None:
    engine = ENGINES[name]
    for policy, bandit in itertools.product(POLICIES, BANDITS):
        loop = engine.loop_for(POLICIES[policy], BANDITS[bandit])
        assert loop in engine.loops, (policy, bandit)
        assert (loop is LATE_REWARDS) == (bandit == "late"), (policy, bandit)
        if not engine.leaps and bandit != "late":
            assert loop is EVERY_ROUND, (policy, bandit)


def test_auto_is_the_fastest_that_is_installed() -> None:
    assert ENGINE_NAMES == ("auto", "events", "thinned", "every-round", "processes", "interpreted")
    assert engine_named("auto") == fastest() == "events"
    assert fastest(paired=True) == "thinned"
    assert fastest(paired=True, leaps=False) == fastest(leaps=False) == "every-round"
    assert engine_named("interpreted") == "interpreted"


@pytest.mark.usefixtures("without_numba")
def test_without_numba_nothing_compiled_is_taken() -> None:
    assert fastest() == fastest(paired=True) == fastest(leaps=False) == "processes"
    assert [name for name in ENGINES if ENGINES[name].is_installed] == ["processes", "interpreted"]


def test_the_numpy_engine_is_gone_and_what_to_use_is_said() -> None:
    with pytest.raises(InvalidInput, match=r"'vectorised' was removed: use 'auto', .* 'processes'"):
        engine_named("vectorised")
