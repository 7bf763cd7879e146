"""`driftanchor campaign`: registers the subcommands."""

import typer

from driftanchor.cli.boundary import Boundary
from driftanchor.cli.campaign_arm import add, archive, distrust, restore
from driftanchor.cli.campaign_arm import pause as pause_arm
from driftanchor.cli.campaign_ask import ask, expose
from driftanchor.cli.campaign_change import change
from driftanchor.cli.campaign_create import create
from driftanchor.cli.campaign_records import explain, export, verify
from driftanchor.cli.campaign_run import epoch, pause, resume, sweep
from driftanchor.cli.campaign_show import list_all, show
from driftanchor.cli.campaign_tell import correct, tell
from driftanchor.cli.command import Command

campaign = typer.Typer(cls=Boundary, pretty_exceptions_enable=False)
arm = typer.Typer(cls=Boundary, pretty_exceptions_enable=False)
for command in (create, show, ask, tell, correct, expose, pause, resume, epoch, sweep, change):
    campaign.command(cls=Command)(command)
campaign.command("list", cls=Command)(list_all)
for command in (explain, export, verify):
    campaign.command(cls=Command)(command)
for command in (add, archive, restore, distrust):
    arm.command(cls=Command)(command)
arm.command("pause", cls=Command)(pause_arm)
campaign.add_typer(arm, name="arm")


@campaign.callback()
def _campaign() -> None:
    """Decide live, and keep every decision and reward in a store.

    Any number of processes may ask and tell at the same time. An acknowledged decision or reward is
    never lost and never counted twice.

    Examples:
      driftanchor campaign create checkout last.csv --arm ad --reward won --bias-bound 0.02
      driftanchor campaign ask checkout --unit user-1 --json
      driftanchor campaign tell checkout DECISION 1
      driftanchor campaign show checkout

    Exit codes: 3 no such campaign or decision, 4 a conflict with what is recorded, 5 the store
    cannot be reached or used, 10 an alarm (show --check).
    """


@arm.callback()
def _arm() -> None:
    """Add, pause, archive or restore the arms of a campaign.

    Examples:
      driftanchor campaign arm add checkout C
      driftanchor campaign arm pause checkout C
    """
