"""Client: a campaign on a server, with the `ask` and `tell` of `Campaign`."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, overload
from urllib.parse import quote

from driftanchor.client.defaults import Default, arm_of_default
from driftanchor.client.line import Line
from driftanchor.client.read_answers import decision_of, foreign, list_in, outcome_of, receipt_of
from driftanchor.core import check
from driftanchor.core.record import Record
from driftanchor.errors import (
    CampaignPaused,
    DefaultPlayed,
    DriftanchorError,
    InvalidInput,
    StoreUnavailable,
    shown,
)
from driftanchor.live.campaigns.decision import Decision, Receipt, decision_id_text, reward_pairs
from driftanchor.live.campaigns.settings import KEEP, Keep

ANSWERS_BY = 0.9  # of `default_after`; the rest is for coming back with the default
MOST = 1_000  # decisions of one call
MOST_REWARDS = 500  # of one request: a server takes 64 KiB


class Client:
    """A campaign on a server, with the `ask` and `tell` of `Campaign`.

    Every call is idempotent, and the client retries: if the server or its store is unavailable, it
    sends the same request again with growing backoff until `timeout`. So a decision is made once,
    and a reward counts once. A request without a unit carries an idempotency key; a request with a
    unit returns the unit's existing decision. With `sticky=None` a unit has no lasting decision, so
    pass a `key` there. The client is thread-safe and keeps connections open.

    With a default arm, `ask` never fails because of the server: if the server is down or slow, or
    the campaign is paused, `ask` returns the default in time. That decision has no propensity
    (NaN), its id starts with `default-`, and its reward is ignored, because nothing was drawn. When
    the server is back, the client reports the default as a `default_used` event.

    Args:
        url: The address of the server, such as `"http://127.0.0.1:8484"`.
        key: A key from `driftanchor keys create`, if the server needs one. `ask` needs the
            role decide, `tell` and `expose` reward, `status` read.
        campaign: The name of the campaign; needed if the server has several.
        timeout: Seconds before a call fails.
        default_after: Seconds after which `ask` returns the default, if one is given.

    Example:
        >>> client = Client("http://127.0.0.1:8484", campaign="checkout")
        >>> client.campaign("banner")
        <Client: banner at http://127.0.0.1:8484>
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        campaign: str | None = None,
        timeout: float = 10.0,
        default_after: float = 0.2,
    ) -> None:
        self.url = url
        self.name = None if campaign is None else _name(campaign)
        self._timeout = check.number(timeout, "timeout", above=0.0, high=3_600.0)
        self._default_after = check.number(default_after, "default_after", above=0.0, high=3_600.0)
        self._line = Line(url, key, self._timeout)

    def campaign(self, name: str) -> Client:
        """Return a client for another campaign on the same server; they share connections."""
        other = object.__new__(Client)
        other.__dict__.update(self.__dict__)
        other.name = _name(name)
        return other

    @overload
    def ask(
        self,
        unit: str | None = None,
        *,
        exclude: Iterable[str] = (),
        n: None = None,
        peek: bool = False,
        key: str | None = None,
        default: str | None = None,
    ) -> Decision: ...
    @overload
    def ask(
        self,
        unit: str | None = None,
        *,
        exclude: Iterable[str] = (),
        n: int,
        peek: bool = False,
        key: str | None = None,
        default: str | None = None,
    ) -> list[Decision]: ...
    def ask(
        self,
        unit: str | None = None,
        *,
        exclude: Iterable[str] = (),
        n: int | None = None,
        peek: bool = False,
        key: str | None = None,
        default: str | None = None,
    ) -> Decision | list[Decision]:
        """Ask which arm to play. The decision is on the server's disk when this returns.

        Args:
            unit: As for `Campaign.ask`, like `exclude`, `n`, `peek` and `key`.
            exclude: Arms that cannot be played this time.
            n: The number of decisions; `ask` then returns a list.
            peek: Return what would be decided now, and record nothing.
            key: An idempotency key. By default a call without a unit generates one and reuses it
                for retries.
            default: The arm to play if the server is down or slow, or the campaign is paused.

        Raises:
            StoreUnavailable: The server did not answer in time, and there is no default.
            DriftanchorError: For the same reasons as `Campaign.ask`.
        """
        count = 1 if n is None else check.whole(n, "n", low=1, high=MOST)
        body = {
            "unit": _sent(unit, "unit"),
            "exclude": [str(x) for x in check.items(exclude, "exclude")],
            "n": None if n is None else count,
            "peek": check.flag(peek, "peek"),
        }
        same: str | None = _sent(key, "key")
        if same is None and unit is None:
            same = secrets.token_hex(16)
        sent = {name: value for name, value in body.items() if value not in (None, [], False)}
        if default is None:
            answers = self._asked(sent, same, self._timeout, self._timeout)
        else:
            played = _default(self.name, same, default, unit)
            answers = self._asked_or_default(sent, same, count, played)
        return answers[0] if n is None else answers

    def tell(self, decision_id: str, reward: float, *, allow_outside: bool = False) -> Receipt:
        """Report the reward of a decision, as `Campaign.tell` does. Safe to retry.

        The reward of a default is ignored, and the receipt says so.
        """
        arm = arm_of_default(decision_id)
        if arm is not None:
            return Receipt(decision_id, "ignored", arm, None)
        path = f"/v1/decisions/{quote(decision_id_text(decision_id), safe='')}/reward"
        body = {"value": _reward(reward), **_outside(allow_outside)}
        return receipt_of(self._line.call("PUT", path, body))

    def correct(
        self,
        decision_id: str,
        reward: float,
        *,
        before: float,
        reason: str | None = None,
        allow_outside: bool = False,
    ) -> Receipt:
        """Correct a reported reward, as `Campaign.correct` does. Safe to retry."""
        path = f"/v1/decisions/{quote(decision_id_text(decision_id), safe='')}/reward"
        body = {
            "value": _reward(reward),
            "before": check.number(before, "before"),
            **({} if reason is None else {"reason": _sent(reason, "reason")}),
            **_outside(allow_outside),
        }
        return receipt_of(self._line.call("PATCH", path, body))

    def change(
        self,
        reason: str,
        *,
        reward_window: float | Keep | None = KEEP,
        default_reward: float | Keep | None = KEEP,
        floor: float | Keep = KEEP,
        control: Mapping[str, float] | Keep = KEEP,
        allow_outside: bool | Keep = KEEP,
        bias_bound: float | Mapping[str, float] | Keep = KEEP,
        relative_bound: float | Mapping[str, float] | Keep = KEEP,
    ) -> None:
        """Change settings or bounds from now on, as `Campaign.change` does; needs the role admin.

        Safe to retry.
        """
        given = {
            "reward_window": reward_window,
            "default_reward": default_reward,
            "floor": floor,
            "control": control,
            "allow_outside": allow_outside,
            "bias_bound": bias_bound,
            "relative_bound": relative_bound,
        }
        body = {name: _setting(name, value) for name, value in given.items() if value is not KEEP}
        self._line.call(
            "PATCH", self._line.path(self.name), {"reason": _sent(reason, "reason"), **body}
        )

    def tell_many(
        self, rewards: Iterable[tuple[str, float]], *, allow_outside: bool = False
    ) -> list[Receipt | Exception]:
        """Report many rewards; return a receipt for each, or the error that `tell` would raise.

        Args:
            rewards: Pairs of a decision and its reward.
            allow_outside: As for `tell`.
        """
        outside = _outside(allow_outside)
        outcomes: list[Receipt | Exception | None] = []
        items, places = [], []
        for decision_id, reward in reward_pairs(rewards):
            outcomes.append(_settled_here(decision_id, reward))
            if outcomes[-1] is None:
                places.append(len(outcomes) - 1)
                items.append({"decision_id": decision_id, "value": _reward(reward), **outside})
        for i in range(0, len(items), MOST_REWARDS):
            data = self._line.call("POST", "/v1/rewards", {"rewards": items[i : i + MOST_REWARDS]})
            found = list_in(data, "results")
            here = places[i : i + MOST_REWARDS]
            if len(found) != len(here):
                raise foreign("results")
            for place, one in zip(here, found, strict=True):
                outcomes[place] = outcome_of(one)
        return [x for x in outcomes if x is not None]

    def expose(self, decision_id: str) -> Receipt:
        """Report that a decision was shown, as `Campaign.expose` does."""
        arm = arm_of_default(decision_id)
        if arm is not None:
            return Receipt(decision_id, "ignored", arm, None)
        path = f"/v1/decisions/{quote(decision_id_text(decision_id), safe='')}/exposure"
        return receipt_of(self._line.call("POST", path))

    def status(self) -> Record:
        """Return the campaign's status, as `Campaign.status().to_json()` does."""
        found = self._line.call("GET", self._line.path(self.name))
        if not isinstance(found, dict):
            raise foreign("status")
        return found

    def report_defaults(self) -> int:
        """Try to report the defaults that were played; return how many are still unreported.

        A background thread retries until all are reported. Defaults still unreported when the
        process ends are lost.
        """
        return self._line.defaults.report()

    def close(self) -> None:
        """Try once to report pending defaults, then close the connections."""
        self._line.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client: {self.name or 'the only campaign'} at {self.url}>"

    def _asked(
        self, body: Record, key: str | None, seconds: float, promised: float
    ) -> list[Decision]:
        path = f"{self._line.path(self.name)}/decisions"
        data = self._line.call(
            "POST", path, body, seconds=seconds, request_key=key, promised=promised
        )
        if "unit" in body and "peek" not in body:
            self._line.defaults.shown(self.name, body["unit"])
        if "n" in body:
            return [decision_of(one) for one in list_in(data, "decisions")]
        return [decision_of(data)]

    def _asked_or_default(
        self, body: Record, key: str | None, count: int, default: Default
    ) -> list[Decision]:
        """Return the decisions, or the default if the server does not answer in time."""
        promised = self._default_after
        seconds = ANSWERS_BY * promised
        try:
            return self._line.within(
                seconds, lambda: self._asked(body, key, seconds, promised), promised
            )
        except (TimeoutError, StoreUnavailable, CampaignPaused, DefaultPlayed) as error:
            why = str(error)
        except DriftanchorError as error:
            if type(error) is not DriftanchorError:  # the caller's error
                raise
            why = str(error)  # the server failed
        if "peek" not in body:
            self._line.defaults.add(default)
        note = f"the caller's default: {why}"
        return [
            Decision(
                default.id(i),
                default.arm,
                float("nan"),
                False,
                self.name or "",
                0,
                body.get("unit"),
                note=note,
            )
            for i in range(count)
        ]


def _default(campaign: str | None, key: str | None, arm: object, unit: str | None) -> Default:
    if not isinstance(arm, str) or not arm:
        raise InvalidInput(f"must be the name of an arm, got {shown(arm)}", argument="default")
    at = time.monotonic()
    if key is None:
        return Default(campaign, secrets.token_hex(16), arm, at, unit)
    return Default(campaign, key, arm, at)


def _settled_here(decision_id: object, reward: object) -> Receipt | Exception | None:
    """What became of a reward that is not for the server; `None` if it is."""
    arm = arm_of_default(decision_id)
    try:
        if arm is not None:
            return Receipt(str(decision_id), "ignored", arm, None)
        decision_id_text(decision_id)
        _reward(reward)
    except InvalidInput as error:
        return error
    return None


def _reward(value: object) -> float:
    """A reward that can be sent; the server knows its range."""
    if type(value).__name__ in ("bool", "bool_"):
        raise InvalidInput(f"must be a number, got {value!r}: write 1 or 0", argument="reward")
    return check.number(value, "reward")


def _setting(name: str, value: object) -> object:
    """Convert a setting or bound to JSON, with null for an infinite bound."""
    if isinstance(value, Mapping):
        return {str(label): _setting(name, x) for label, x in value.items()}
    if value is None or isinstance(value, bool):
        return value
    number = check.number(value, name, infinite=name.endswith("_bound"))
    return None if number == float("inf") else number


def _outside(allowed: bool) -> Record:
    return {"allow_outside": True} if check.flag(allowed, "allow_outside") else {}


def _sent(value: object, argument: str) -> Any:
    """A text that can be sent; the server knows what it may be."""
    if value is None or isinstance(value, str):
        return value
    raise InvalidInput(f"must be text, got {shown(value)}", argument=argument)


def _name(campaign: object) -> str:
    if not isinstance(campaign, str) or not campaign:
        raise InvalidInput(
            f"must be the name of a campaign, got {shown(campaign)}", argument="campaign"
        )
    return campaign
