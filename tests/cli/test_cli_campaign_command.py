from __future__ import annotations

import inspect

from driftanchor.cli import campaign_arm, campaign_run
from driftanchor.cli.campaign_command import Done, on_campaign


def test_a_command_has_the_name_first_and_the_common_options_last() -> None:
    assert list(inspect.signature(campaign_run.pause).parameters) == [
        *("name", "store", "as_json", "quiet")
    ]
    added = list(inspect.signature(campaign_arm.add).parameters)
    assert added[:3] == ["name", "label", "offline"]
    assert added[-3:] == ["store", "as_json", "quiet"]


def test_a_command_keeps_the_help_of_the_function() -> None:
    def work(campaign: object) -> Done:
        """Do it."""
        return Done("done", {})

    command = on_campaign(work)
    assert (command.__name__, command.__doc__) == ("work", "Do it.")
