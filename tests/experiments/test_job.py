"""The keys of jobs: the same where all that their numbers depend on is the same."""

from pathlib import Path

import pytest

from driftanchor import AnchorTS, HybridTS
from driftanchor.core.evidence import ArmEvidence
from driftanchor.core.posterior import Posterior
from driftanchor.experiments import spec, sweep
from driftanchor.experiments.job import Sources, uses_bounds

SMALL = (Path(__file__).parent / "small.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(("relative", "keys"), [("", 1), (", relative_bound = 0.0", 2)])
def test_cells_that_differ_in_bounds_alone_share_a_policy_without_use_for_them(
    relative: str, keys: int
) -> None:
    text = SMALL.replace('vary.coverage = ["uniform", "optimal"]', "vary.bias_bound = [0.0, 0.5]")
    text = text.replace('["ts", {', '["hybrid-ts", {').replace("= 30 }", f"= 30{relative} }}")
    jobs = sweep.jobs([spec.parse(text, "small.toml")], 0)
    hybrid, anchor = ([job.key() for job in jobs[i::2]] for i in range(2))
    assert len(set(hybrid)) == 2 * keys  # of two gaps
    assert len(set(anchor)) == 4


def test_a_policy_that_changes_one_without_use_for_bounds_may_use_them() -> None:
    class Careful(HybridTS):
        name = "careful"

        def believe(self, arm: ArmEvidence) -> Posterior:
            return super().believe(arm._replace(offline_pulls=0 if arm.bias_bound > 0.1 else 9))

    class Renamed(HybridTS):
        name = "renamed"

    asked = [HybridTS, Renamed, Careful, AnchorTS]
    assert [uses_bounds(policy) for policy in asked] == [False, False, True, True]


def test_a_source_that_is_read_once_gives_the_same_keys() -> None:
    jobs = sweep.jobs([spec.parse(SMALL, "small.toml")], 0)
    sources: Sources = {}
    assert [job.key(sources) for job in jobs] == [job.key() for job in jobs]
    assert len(sources) == 2  # of two policies in eight jobs
