"""The shape of a command that changes or checks one campaign: open it, work, report.

Annotations of a command in this shape are no strings, so a command's file leaves out the import
of `annotations`: only `campaign` may be a string, as its class is imported when it is needed.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from driftanchor.cli import options as opt
from driftanchor.cli import output
from driftanchor.cli import store_options as at

KEYWORD = inspect.Parameter.KEYWORD_ONLY
BEFORE = (inspect.Parameter("name", KEYWORD, annotation=at.Name),)
AFTER = (
    inspect.Parameter("store", KEYWORD, default=at.DEFAULT, annotation=at.StoreAddress),
    inspect.Parameter("as_json", KEYWORD, default=False, annotation=opt.Json),
    inspect.Parameter("quiet", KEYWORD, default=False, annotation=opt.Quiet),
)


class Done(NamedTuple):
    """What a command did.

    Attributes:
        words: For people.
        data: For programs.
    """

    words: str
    data: dict[str, Any]


def on_campaign(work: Callable[..., Done]) -> Callable[..., None]:
    """Make a command of a function that gets an open campaign and its own options.

    The command has the name of the campaign as its first argument, and --store, --json and --quiet
    as its last options.
    """
    _, *own = inspect.signature(work).parameters.values()

    @functools.wraps(work)
    def run(*, name: str, store: str, as_json: bool, quiet: bool, **given: Any) -> None:
        with at.campaign_in(store, name) as campaign, output.plain_warnings(quiet=quiet):
            done = work(campaign, **given)
        output.report(done.words, done.data, as_json=as_json, quiet=quiet)

    parameters = [*BEFORE, *(each.replace(kind=KEYWORD) for each in own), *AFTER]
    run.__dict__["__signature__"] = inspect.Signature(parameters)  # typer reads these
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run
