"""What decides the bits of runs: as the files are now, or as they were when first asked about."""

import pytest

from driftanchor import TS, UCB
from driftanchor.simulation import identity
from driftanchor.simulation.identity import Question, address_of

CODE = "driftanchor's source code"
ASKED: list[Question] = [(address_of(TS()), False), (address_of(UCB()), True)]


def test_the_package_is_read_once_for_all_policies_and_anew_when_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    versions = iter(["first", "second"])
    monkeypatch.setattr(identity, "_package", lambda: next(versions))
    assert [x[CODE] for x in identity.identities(ASKED).values()] == ["first"] * 2
    assert [x[CODE] for x in identity.identities(ASKED).values()] == ["second"] * 2


def test_a_worker_says_what_it_loaded_whatever_became_of_the_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    versions = iter(["loaded", "edited"])
    monkeypatch.setattr(identity, "_package", lambda: next(versions))
    identity._standing_package.cache_clear()
    identity.standing_identity.cache_clear()
    for question in ASKED:
        (said,) = identity.standing_identities([question]).values()
        assert said[CODE] == "loaded"
    identity._standing_package.cache_clear()
    identity.standing_identity.cache_clear()
