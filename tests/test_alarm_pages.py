"""The loop that the page on alarms is measured with raises the alarms that a campaign would."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.pages import alarm_loop, alarms
from driftanchor.compiled import rules
from driftanchor.core.noise import Stream, wrapping
from driftanchor.live.watch.alarms import Mark
from driftanchor.live.watch.watch import Watch, add_alarms, fold
from driftanchor.simulation.engine import allocate, keys_of
from driftanchor.simulation.world import World, draw_reward, world_of

ROUNDS = 400


@pytest.mark.parametrize("setting", alarms.SETTINGS[:4], ids=lambda setting: setting.label)
def test_the_loop_and_the_watch_raise_the_same_alarm(
    setting: alarms.Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewards: list[tuple[int, float]] = []

    def noted(world: World, arm: int, stream: Stream) -> float:
        rewards.append((arm, draw_reward(world, arm, stream)))
        return rewards[-1][1]

    monkeypatch.setattr(alarm_loop, "draw_reward", noted)
    strong = replace(setting, means=np.full(5, 0.1), bound=0.1, common=0.0)
    own = np.array([0.0, 0.9, 0.0, 0.0, 0.0]) * (4.0 if setting.reward == "gaussian" else 1.0)
    bandit = strong.bandit(own, strong.means)
    terms = alarms.terms_of(strong, bandit, 1)
    watch = Watch.start(terms)
    rulers = np.array([list(arm.ruler) for arm in watch.arms], np.float64)
    world, found = world_of(bandit), np.zeros(2, np.int64)
    state, keys = allocate(world, terms.policy), keys_of(1, terms.policy.name)
    rule, kept = rules.chooser(terms.policy), np.zeros((5, 3))
    with wrapping():
        assert alarm_loop.play_watched(
            rule,
            np.zeros(1),
            world,
            keys,
            0,
            ROUNDS,
            state,
            rulers,
            wide=0.0,
            floor=0.15,
            kept=kept,
            found=found,
        )
    assert len({arm for arm, _ in rewards}) == 5
    for t, (arm, reward) in enumerate(rewards, 1):
        watch = add_alarms(fold(watch, [arm], [reward], Mark(t)), Mark(t))
    assert 0 < found[0] == len(rewards)  # it stops there
    assert watch.alarms[0].seen.number == found[0]
    assert 1 in watch.alarms[0].columns
