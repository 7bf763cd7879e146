"""The last requests that a process refused or could not answer, for the page."""

from __future__ import annotations

import re
from collections import deque
from typing import Any

from starlette.types import Scope

from driftanchor.serve.problem import Problem

MAX_KEPT = 200
MAX_SHOWN = 10
RECORDED = ("/v1/", "/ofrep/")
_CAMPAIGN = re.compile(r"/(?:v1/campaigns|ofrep/v1/evaluate/flags)/([^/]+)")


class RecentErrors:
    """A bounded log of error responses, without any submitted values."""

    def __init__(self) -> None:
        self._errors: deque[dict[str, Any]] = deque(maxlen=MAX_KEPT)

    def add(self, scope: Scope, problem: Problem, at: float) -> None:
        """Record the error response to a request, unless the page itself sent it."""
        if scope["path"].startswith(RECORDED):
            self._errors.append(
                {
                    "at": at,
                    "status": problem.status,
                    "method": scope["method"],
                    "route": getattr(scope.get("route"), "path", "unmatched"),
                    "campaign": campaign_in(scope["path"]),
                    "code": problem.code,
                    "detail": problem.detail,
                }
            )

    def of(self, campaign: str) -> list[dict[str, Any]]:
        """Return the last errors of a campaign and of no campaign, newest first."""
        errors = [error for error in list(self._errors) if error["campaign"] in (campaign, None)]
        return errors[: -MAX_SHOWN - 1 : -1]


def campaign_in(path: str) -> str | None:
    """Return the campaign that a request's path names.

    Example:
        >>> campaign_in("/v1/campaigns/ads/decisions"), campaign_in("/v1/decisions/5/reward")
        ('ads', None)
        >>> campaign_in("/ofrep/v1/evaluate/flags/ads")
        'ads'
    """
    match = _CAMPAIGN.match(path)
    return None if match is None else match[1]
