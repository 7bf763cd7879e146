"""OFREP over HTTP: single and bulk evaluation, what counts when, and what clients may keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from served_app import App, running_app

from driftanchor.serve.ofrep import value_of

URL = "/ofrep/v1/evaluate/flags"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("store")
    with running_app(f"sqlite:///{folder / 'store.db'}") as running:
        running.create("c", reward_window=60, default_reward=0)
        running.create("reported", exposure="report")
        running.create("fresh", sticky=None)
        running.create("paused").pause()
        yield running


def one(app: App, flag: str, unit: str) -> dict[str, Any]:
    answer = app.http.post(f"{URL}/{flag}", json={"context": {"targetingKey": unit}})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def every(app: App, unit: str) -> dict[str, dict[str, Any]]:
    answer = app.http.post(URL, json={"context": {"targetingKey": unit}})
    assert answer.status_code == 200, answer.text
    return {flag["key"]: flag for flag in answer.json()["flags"]}


def pending(app: App, name: str) -> int:
    found: int = app.state.campaign(name).status().pending
    return found


def test_one_flag_is_an_arm_that_stays_and_counts(app: App) -> None:
    before = pending(app, "c")
    first, again = one(app, "c", "single"), one(app, "c", "single")
    assert first == again
    assert first["key"] == "c"
    assert first["reason"] == "SPLIT"
    assert first["value"] == first["variant"]
    assert first["variant"] in ("A", "B", "C")
    assert 0 < first["metadata"]["propensity"] <= 1
    assert pending(app, "c") == before + 1
    told = app.http.put(
        f"/v1/decisions/{first['metadata']['decision_id']}/reward", json={"value": 1.0}
    )
    assert (told.status_code, told.json()["status"]) == (201, "recorded")


def test_all_flags_are_only_assigned_until_they_are_shown(app: App) -> None:
    before = pending(app, "c")
    flags = every(app, "bulk")
    assert {"c", "fresh", "paused", "reported"} <= flags.keys()
    assert pending(app, "c") == before
    mine = flags["c"]["metadata"]["decision_id"]
    assert every(app, "bulk") == flags
    app.clock.now += 61  # nobody saw it: no default reward counts for it
    rewards = app.state.campaign("c").status().rewards
    assert app.http.post(f"/v1/decisions/{mine}/exposure").json()["status"] == "recorded"
    assert pending(app, "c") == 1
    app.clock.now += 61
    assert app.state.campaign("c").status().rewards == rewards + 1
    app.state.campaign("c").verify()


def test_a_flag_that_was_assigned_counts_once_it_is_evaluated_by_itself(app: App) -> None:
    before = pending(app, "c")
    flags = every(app, "both")
    assert one(app, "c", "both") == flags["c"]
    assert pending(app, "c") == before + 1


def test_a_reward_for_an_assigned_decision_counts(app: App) -> None:
    flags = every(app, "told")
    path = f"/v1/decisions/{flags['reported']['metadata']['decision_id']}/reward"
    assert app.http.put(path, json={"value": 0.5}).json()["reward"] == 0.5


def test_a_paused_campaign_has_no_value_and_one_that_is_not_sticky_is_named(app: App) -> None:
    flags = every(app, "u")
    expected = {"key": "paused", "reason": "DISABLED", "variant": "disabled", "metadata": {}}
    assert flags["paused"] == one(app, "paused", "u") == expected
    assert flags["fresh"]["errorCode"] == "GENERAL"
    assert "evaluate it alone" in flags["fresh"]["errorDetails"]
    ids = {one(app, "fresh", "u")["metadata"]["decision_id"] for _ in range(2)}
    assert len(ids) == 2


def test_pausing_takes_the_value_from_all_and_resuming_gives_it_back(app: App) -> None:
    campaign = app.create("stops")
    first = one(app, "stops", "u")
    campaign.pause()
    assert one(app, "stops", "u")["reason"] == "DISABLED"
    campaign.resume()
    assert one(app, "stops", "u") == first
    campaign.pause()


def test_what_a_client_has_already_is_not_sent_again(app: App) -> None:
    body = {"context": {"targetingKey": "cached"}}
    first = app.http.post(URL, json=body)
    tag = first.headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        same = app.http.post(URL, json=body, headers={"If-None-Match": known})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    assert app.http.post(URL, json=body, headers={"If-None-Match": '"x"'}).status_code == 200
    app.state.campaign("c").new_epoch()
    changed = app.http.post(URL, json=body, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "PARSE_ERROR"),
        (b"{}", "TARGETING_KEY_MISSING"),
        (b'{"context": {"targetingKey": 3}}', "INVALID_CONTEXT"),
        (b"[", "PARSE_ERROR"),
        (b"\xff", "PARSE_ERROR"),
        (b"9" * 5_000, "PARSE_ERROR"),
    ],
)
def test_what_is_wrong_is_said_as_openfeature_says_it(app: App, content: bytes, code: str) -> None:
    headers = {"Content-Type": "application/json"}
    for path in (f"{URL}/c", URL):
        answer = app.http.post(path, content=content, headers=headers)
        assert (answer.status_code, answer.json()["errorCode"]) == (400, code)
        assert answer.json()["errorDetails"]
        assert answer.json().get("key") == ("c" if path != URL else None)


@pytest.mark.parametrize("name", ["none", "..", "a b", "'; DROP TABLE", "x" * 300])
def test_an_unknown_campaign_is_an_unknown_flag(app: App, name: str) -> None:
    answer = app.http.post(f"{URL}/{name}", json={"context": {"targetingKey": "u"}})
    assert answer.status_code in (404, 405)
    if name != "..":
        assert answer.json()["errorCode"] == "FLAG_NOT_FOUND"
        assert "DROP" not in answer.json()["errorDetails"]


@pytest.mark.parametrize(
    ("arms", "values"),
    [
        (["A", "B"], ["A", "B"]),
        (["true", "false"], [True, False]),
        (["true", "other"], ["true", "other"]),
        (["1", "20"], [1, 20]),
        (["1", "2.50", "-3"], [1.0, 2.5, -3.0]),
        (["007", "1"], ["007", "1"]),
        (["1e5", "nan"], ["1e5", "nan"]),
        (["9" * 20, "1"], ["9" * 20, "1"]),
    ],
)
def test_all_arms_have_values_of_one_type(arms: list[str], values: list[Any]) -> None:
    found = [value_of(arm, arms) for arm in arms]
    assert found == values
    assert len({type(x) for x in found}) == 1
    assert [type(x) for x in found] == [type(x) for x in values]


def test_a_whole_float_has_its_point(app: App) -> None:
    app.create("price", arms=["1", "2.5"])
    units = ({"context": {"targetingKey": f"u{i}"}} for i in range(20))
    texts = [app.http.post(f"{URL}/price", json=unit).text for unit in units]
    assert any('"value": 1.0' in text for text in texts)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "TARGETING_KEY_MISSING"),
        ({"context": {}}, "TARGETING_KEY_MISSING"),
        ({"context": {"targetingKey": ""}}, "TARGETING_KEY_MISSING"),
        ({"context": {"targetingKey": None}}, "TARGETING_KEY_MISSING"),
        ({"context": {"targetingKey": 7}}, "INVALID_CONTEXT"),
        ({"context": {"targetingKey": "a\u0000"}}, "INVALID_CONTEXT"),
        ({"context": {"targetingKey": "x" * 257}}, "INVALID_CONTEXT"),
        ({"context": []}, "INVALID_CONTEXT"),
        ([], "INVALID_CONTEXT"),
        (7, "INVALID_CONTEXT"),
    ],
)
@pytest.mark.parametrize("path", [URL, f"{URL}/c"])
def test_who_is_asked_for_must_be_said(app: App, path: str, body: Any, code: str) -> None:
    answer = app.http.post(path, json=body)
    assert (answer.status_code, answer.json()["errorCode"]) == (400, code)
    assert answer.json()["errorDetails"]
    assert answer.headers["content-type"] == "application/json"


def test_other_members_of_the_context_do_not_matter(app: App) -> None:
    body = {"context": {"targetingKey": "user-1", "age": 7}, "more": 1}
    assert app.http.post(f"{URL}/c", json=body).status_code == 200
