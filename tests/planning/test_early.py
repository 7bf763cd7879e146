"""Early numbers: one line for each as soon as it is known, and the same ones as at the end."""

from driftanchor.core.offline import OfflineData
from driftanchor.planning.early import loss
from driftanchor.planning.plan import plan

LOGS = OfflineData.from_summary({"A": (900, 0.5, 0.25), "B": (900, 0.2, 0.16)})


def test_the_loss_of_each_contender_is_told_as_soon_as_it_is_known() -> None:
    lines: list[str] = []
    found = plan(LOGS, bias_bound=0.05, horizon=50, worlds=4, early=lines.append)
    for label, line in zip((x for x in found.lost if x != "log-best"), lines, strict=False):
        how = "without" if found.contenders[label].cold else "with"
        assert line == f"{label} {how} the logs: loses {loss(found.lost[label])}"
    assert len(lines) == len(found.lost) - 1  # log-best plays no run
