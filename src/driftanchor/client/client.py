"""Client: a campaign on a server, with the `ask` and `tell` of `Campaign`."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import fields
from types import TracebackType
from typing import Any, TypeVar, overload
from urllib.parse import quote

from driftanchor.client.defaults import Default, DefaultQueue, default_arm
from driftanchor.client.transport import Transport, problem_error
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

WAIT_SHARE = 0.9  # of `default_after`; the rest is for returning the default
REPORT_TIMEOUT = 2.0  # seconds
MAX_DECISIONS = 1_000  # of one call
MAX_REWARDS = 500  # of one request: a server takes 64 KiB
T = TypeVar("T", Decision, Receipt)


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
        default_after: Seconds within which `ask` returns the default, if one is given. It waits
            90 % of them for the server.

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
        self._shared_session = _Session(url, key, self._timeout)

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
        count = 1 if n is None else check.whole(n, "n", low=1, high=MAX_DECISIONS)
        body: Record = {
            "unit": _text(unit, "unit"),
            "exclude": [str(x) for x in check.items(exclude, "exclude")],
            "n": None if n is None else count,
            "peek": check.flag(peek, "peek"),
        }
        body = {name: value for name, value in body.items() if value not in (None, [], False)}
        if key is None and unit is None:
            key = secrets.token_hex(16)
        key = _text(key, "key")
        if default is None:
            answers = self._ask(body, key, self._timeout)
            self._keep_decision(body)
        else:
            answers = self._ask_or_default(body, key, count, default)
        return answers[0] if n is None else answers

    def tell(self, decision_id: str, reward: float, *, allow_outside: bool = False) -> Receipt:
        """Report the reward of a decision, as `Campaign.tell` does. Safe to retry.

        The reward of a default is ignored, and the receipt says so.
        """
        arm = default_arm(decision_id)
        if arm is not None:
            return Receipt(decision_id, "ignored", arm, None)
        body = {"value": _reward(reward), **_outside(allow_outside)}
        return _receipt(self._session.transport.call("PUT", _path(decision_id, "reward"), body))

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
        body = {
            "value": _reward(reward),
            "before": check.number(before, "before"),
            **({} if reason is None else {"reason": _text(reason, "reason")}),
            **_outside(allow_outside),
        }
        return _receipt(self._session.transport.call("PATCH", _path(decision_id, "reward"), body))

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
        settings = {
            "reward_window": reward_window,
            "default_reward": default_reward,
            "floor": floor,
            "control": control,
            "allow_outside": allow_outside,
            "bias_bound": bias_bound,
            "relative_bound": relative_bound,
        }
        body = {"reason": _text(reason, "reason")}
        body |= {name: _setting(name, x) for name, x in settings.items() if x is not KEEP}
        session = self._session
        session.transport.call("PATCH", session.path(self.name), body)

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
        items: list[tuple[int, Record]] = []  # position and content of each reward to send
        for decision_id, reward in reward_pairs(rewards):
            outcomes.append(_local_outcome(decision_id, reward))
            if outcomes[-1] is None:
                item = {"decision_id": decision_id, "value": _reward(reward), **outside}
                items.append((len(outcomes) - 1, item))
        for start in range(0, len(items), MAX_REWARDS):
            batch = items[start : start + MAX_REWARDS]
            body = {"rewards": [item for _, item in batch]}
            results = _member(self._session.transport.call("POST", "/v1/rewards", body), "results")
            if len(results) != len(batch):
                raise _unusable("results")
            for (position, _), result in zip(batch, results, strict=True):
                outcomes[position] = _outcome(result)
        return [x for x in outcomes if x is not None]

    def expose(self, decision_id: str) -> Receipt:
        """Report that a decision was shown, as `Campaign.expose` does."""
        arm = default_arm(decision_id)
        if arm is not None:
            return Receipt(decision_id, "ignored", arm, None)
        return _receipt(self._session.transport.call("POST", _path(decision_id, "exposure")))

    def status(self) -> Record:
        """Return the campaign's status, as `Campaign.status().to_json()` does."""
        session = self._session
        status = session.transport.call("GET", session.path(self.name))
        if not isinstance(status, dict):
            raise _unusable("status")
        return status

    def report_defaults(self) -> int:
        """Try to report the defaults that were played; return how many are still unreported.

        A background thread retries until all are reported. Defaults still unreported when the
        process ends are lost.
        """
        return self._session.defaults.report()

    def close(self) -> None:
        """Try once to report pending defaults, then close the connections."""
        self._session.close()

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

    @property
    def _session(self) -> _Session:
        session = self._shared_session
        if session.pid != os.getpid():  # forked: the connections belong to the parent
            session.open()
        return session

    def _ask(self, body: Record, key: str | None, timeout: float) -> list[Decision]:
        session = self._session
        path = f"{session.path(self.name)}/decisions"
        answer = session.transport.call("POST", path, body, timeout=timeout, idempotency_key=key)
        if "n" in body:
            return [_read(Decision, one) for one in _member(answer, "decisions")]
        return [_read(Decision, answer)]

    def _keep_decision(self, body: Record) -> None:
        """Keep the unit's decision: it was returned, so no pending report may close it."""
        if "unit" in body and "peek" not in body:
            self._session.defaults.keep_decision(self.name, body["unit"])

    def _ask_or_default(
        self, body: Record, key: str | None, count: int, arm: object
    ) -> list[Decision]:
        """Return the decisions, or the default if the server does not answer in time."""
        if not isinstance(arm, str) or not arm:
            raise InvalidInput(f"must be the name of an arm, got {shown(arm)}", argument="default")
        session, unit, at = self._session, body.get("unit"), time.monotonic()
        wait = WAIT_SHARE * self._default_after
        try:
            decisions = session.transport.run_within(wait, lambda: self._ask(body, key, wait))
        except (TimeoutError, StoreUnavailable, CampaignPaused, DefaultPlayed) as error:
            reason = str(error)
        except DriftanchorError as error:
            if type(error) is not DriftanchorError:  # the caller's error
                raise
            reason = str(error)  # the server failed
        else:
            self._keep_decision(body)
            return decisions
        if key is None:
            default = Default(self.name, secrets.token_hex(16), arm, at, unit)
        else:
            default = Default(self.name, key, arm, at)
        if "peek" not in body:
            session.defaults.add(default)
        return [
            Decision(
                id=default.decision_id(i),
                arm=arm,
                propensity=float("nan"),
                replayed=False,
                campaign=self.name or "",
                number=0,
                unit=unit,
                note=f"the caller's default: {reason}",
            )
            for i in range(count)
        ]


class _Session:
    """The connections and pending defaults that all clients of one server share.

    Attributes:
        pid: The process that opened the connections.
        transport: Sends requests.
        defaults: Defaults not yet reported.
    """

    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        self._url, self._key, self._timeout = url, key, timeout
        self._only: str | None = None
        self.open()

    def open(self) -> None:
        """Start with new connections and no pending defaults."""
        self.pid = os.getpid()
        self.transport = Transport(self._url, self._key, self._timeout)
        self.defaults = DefaultQueue(self._report)

    def path(self, campaign: str | None) -> str:
        """Return a campaign's path; `None` means the server's only campaign."""
        if campaign is None:
            campaign = self._only = self._only or self._only_campaign()
        return f"/v1/campaigns/{quote(campaign, safe='')}"

    def close(self) -> None:
        """Try once to report pending defaults, then close the connections."""
        self.defaults.close()
        self.transport.close()

    def _only_campaign(self) -> str:
        campaigns = _member(self.transport.call("GET", "/v1/campaigns"), "campaigns")
        names = [str(x.get("name")) for x in campaigns if isinstance(x, dict)]
        if len(names) != 1:
            known = ", ".join(names[:10]) or "none"
            raise InvalidInput(
                f"is needed: the server has {len(names)} campaigns ({known})", argument="campaign"
            )
        return names[0]

    def _report(self, campaign: str | None, defaults: list[Default]) -> None:
        now = time.monotonic()
        items = [
            {"key": x.key, "arm": x.arm, "ago": now - x.at}
            | ({} if x.unit is None else {"unit": x.unit})
            for x in defaults
        ]
        path = f"{self.path(campaign)}/defaults"
        self.transport.call("POST", path, {"defaults": items}, timeout=REPORT_TIMEOUT)


def _path(decision_id: object, part: str) -> str:
    return f"/v1/decisions/{quote(decision_id_text(decision_id), safe='')}/{part}"


def _read(kind: type[T], data: Any) -> T:
    """Build a decision or receipt from JSON; unknown members are ignored."""
    try:
        return kind(**{x.name: data[x.name] for x in fields(kind) if x.name in data})
    except (TypeError, KeyError):
        raise _unusable(kind.__name__.lower()) from None


def _receipt(data: Any) -> Receipt:
    return _read(Receipt, data)


def _outcome(data: Any) -> Receipt | Exception:
    """Return the receipt of one reward of a batch, or the error that `tell` would raise."""
    if isinstance(data, dict) and data.get("status") == "refused":
        return problem_error(422, data)
    return _receipt(data)


def _local_outcome(decision_id: object, reward: object) -> Receipt | Exception | None:
    """Return the outcome of a reward that cannot or need not be sent; `None` for the others."""
    arm = default_arm(decision_id)
    if arm is not None:
        return Receipt(str(decision_id), "ignored", arm, None)
    try:
        decision_id_text(decision_id)
        _reward(reward)
    except InvalidInput as error:
        return error
    return None


def _member(data: Any, name: str) -> list[Any]:
    """Return a list from a JSON object."""
    items = data.get(name) if isinstance(data, dict) else None
    if not isinstance(items, list):
        raise _unusable(name)
    return items


def _unusable(name: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"the server's answer has no usable {name}: check that the address is that of "
        "driftanchor, and that the server's version fits the client's"
    )


def _reward(value: object) -> float:
    """Validate a reward; the server checks its range."""
    if type(value).__name__ in ("bool", "bool_"):
        raise InvalidInput(f"must be a number, got {value!r}: write 1 or 0", argument="reward")
    return check.number(value, "reward")


def _setting(name: str, value: object) -> object:
    """Convert a setting or bound to JSON; an infinite bound becomes null."""
    if isinstance(value, Mapping):
        return {str(label): _setting(name, x) for label, x in value.items()}
    if value is None or isinstance(value, bool):
        return value
    number = check.number(value, name, infinite=name.endswith("_bound"))
    return None if number == float("inf") else number


def _outside(allowed: bool) -> Record:
    return {"allow_outside": True} if check.flag(allowed, "allow_outside") else {}


def _text(value: object, argument: str) -> Any:
    """Check that the value is text or None; the server checks the rest."""
    if value is None or isinstance(value, str):
        return value
    raise InvalidInput(f"must be text, got {shown(value)}", argument=argument)


def _name(campaign: object) -> str:
    if not isinstance(campaign, str) or not campaign:
        raise InvalidInput(
            f"must be the name of a campaign, got {shown(campaign)}", argument="campaign"
        )
    return campaign
