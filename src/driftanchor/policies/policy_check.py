"""Whether a policy that somebody gives is one."""

from driftanchor.errors import InvalidInput, shown
from driftanchor.policies.base import Policy


def valid_policy(value: object) -> Policy:
    """A policy, not its class or its name."""
    if not isinstance(value, Policy):
        raise InvalidInput(
            f"must be a Policy such as AnchorTS(), got {shown(value)}", argument="policy"
        )
    return value
