from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from served_app import App, running_app

from driftanchor import OfflineData

pyarrow = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder: Path = tmp_path_factory.mktemp("store")
    with running_app(f"sqlite:///{folder / 'store.db'}") as running:
        running.create("c")
        running.create("yes", reward="binary")
        running.create("timed", reward_window=10.0, default_reward=0.0, sticky=None)
        yield running


def test_a_reward_counts_once(app: App) -> None:
    decision = app.ask("c")["id"]
    answers = [
        app.http.put(f"/v1/decisions/{decision}/reward", json={"value": value})
        for value in (0.5, 0.5, 0.25)
    ]
    assert [answer.status_code for answer in answers] == [201, 200, 409]
    assert [answer.json().get("status") for answer in answers[:2]] == ["recorded", "replayed"]
    problem = answers[2].json()
    assert (problem["code"], problem["recorded_at"]) == ("reward_conflict", app.clock.now)
    assert "0.25" not in answers[2].text
    status = app.http.get("/v1/campaigns/c").json()
    assert sum(arm["live_n"] for arm in status["arms"].values()) == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ('{"value": NaN}', "reward_not_finite"),
        ('{"value": Infinity}', "reward_not_finite"),
        ('{"value": -Infinity}', "reward_not_finite"),
        ('{"value": 1e999}', "reward_not_finite"),
        ('{"value": "0.5"}', "reward_not_number"),
        ('{"value": true}', "reward_not_number"),
        ('{"value": null}', "reward_not_number"),
        ('{"value": [1]}', "reward_not_number"),
        ('{"value": 7.25}', "reward_out_of_range"),
        ('{"value": -7.25}', "reward_out_of_range"),
        ("{}", "invalid"),
        ("7.25", "invalid"),
        ('{"value": 1, "other": 7.25}', "unknown_member"),
    ],
)
def test_what_is_no_reward_is_refused(app: App, body: str, code: str) -> None:
    decision = app.ask("c")["id"]
    headers = {"Content-Type": "application/json"}
    answer = app.http.put(f"/v1/decisions/{decision}/reward", content=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert "7.25" not in answer.text
    assert app.state.campaign("c").decision(decision).reward is None


@pytest.mark.parametrize("body", ["", "{", '{"value": 1}x', "[" * 100_000, '"\\ud800"', "\xff"])
def test_what_is_no_json_is_refused(app: App, body: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = app.http.put("/v1/decisions/x/reward", content=body.encode("latin-1"), headers=headers)
    assert answer.status_code in (400, 413)
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_missing_value_is_named(app: App) -> None:
    problem = app.http.put("/v1/decisions/x/reward", json={}).json()
    assert (problem["detail"], problem["pointer"]) == ("`value` is missing", "/value")


def test_a_body_must_say_that_it_is_json(app: App) -> None:
    answer = app.http.put("/v1/decisions/x/reward", content=b'{"value": 1}')
    assert (answer.status_code, answer.json()["code"]) == (415, "not_json")


def test_a_reward_that_is_no_answer_to_the_question_is_refused(app: App) -> None:
    decision = app.ask("yes")["id"]
    answer = app.http.put(f"/v1/decisions/{decision}/reward", json={"value": 0.5})
    assert (answer.status_code, answer.json()["code"]) == (422, "reward_out_of_range")


@pytest.mark.parametrize("name", ["none", "a" * 10_000, "%C3%A9", "__proto__", "' OR 1=1"])
def test_a_decision_that_nobody_made_is_not_found(app: App, name: str) -> None:
    answer = app.http.put(f"/v1/decisions/{name}/reward", json={"value": 1})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_late_reward_is_noted(app: App) -> None:
    decision = app.ask("timed")["id"]
    app.clock.now += 11
    answer = app.http.put(f"/v1/decisions/{decision}/reward", json={"value": 1})
    assert (answer.status_code, answer.json()["status"]) == (201, "late")
    assert answer.json()["reward"] == 0.0


def test_a_reward_of_an_archived_arm_counts(app: App) -> None:
    made = app.ask("c")
    app.state.campaign("c").archive_arm(made["arm"])
    answer = app.http.put(f"/v1/decisions/{made['id']}/reward", json={"value": 1})
    assert answer.status_code == 201
    assert app.ask("c")["arm"] != made["arm"]
    app.state.campaign("c").restore_arm(made["arm"])


def test_of_many_rewards_those_that_are_right_count(app: App) -> None:
    first, second = app.ask("c")["id"], app.ask("yes")["id"]
    items = [
        {"decision_id": first, "value": 1},
        {"decision_id": second, "value": 1},
        {"decision_id": first, "value": 1},
        {"decision_id": first, "value": 0.5},
        {"decision_id": "none", "value": 1},
        {"decision_id": first, "value": "1"},
        {"decision_id": first},
        {"decision_id": 7, "value": 1},
        "junk",
    ]
    answer = app.http.post("/v1/rewards", json={"rewards": items})
    assert answer.status_code == 200
    found = [(x["status"], x.get("code")) for x in answer.json()["results"]]
    assert found == [
        ("recorded", None),
        ("recorded", None),
        ("replayed", None),
        ("refused", "reward_conflict"),
        ("refused", "not_found"),
        ("refused", "reward_not_number"),
        ("refused", "invalid"),
        ("refused", "invalid"),
        ("refused", "invalid"),
    ]


def test_a_batch_may_be_as_large_as_it_says(app: App) -> None:
    made = app.ask("c", n=20)["decisions"]
    items = [{"decision_id": decision["id"], "value": 0.125} for decision in made] * 50
    text = json.dumps({"rewards": items}, indent=2)
    assert len(items) == 1_000
    assert len(text) > 65_536  # which other bodies may not have
    answer = app.http.post(
        "/v1/rewards", content=text, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 200, answer.text
    found = [x["status"] for x in answer.json()["results"]]
    assert found == ["recorded"] * 20 + ["replayed"] * 980


def test_a_batch_has_an_end(app: App) -> None:
    answer = app.http.post("/v1/rewards", json={"rewards": [1] * 1_001})
    assert (answer.status_code, answer.json()["code"]) == (413, "batch_too_large")


def test_a_reward_is_corrected(app: App) -> None:
    decision = app.ask("c")["id"]
    path = f"/v1/decisions/{decision}/reward"
    early = app.http.patch(path, json={"value": 0.5, "before": 1.0})
    assert (early.status_code, early.json()["code"]) == (409, "conflict")
    app.http.put(path, json={"value": 1.0})
    body = {"value": 0.25, "before": 1.0, "reason": "refund"}
    answers = [app.http.patch(path, json=body) for _ in range(2)]
    assert [(x.status_code, x.json()["status"], x.json()["reward"]) for x in answers] == [
        (200, "corrected", 0.25),
        (200, "replayed", 0.25),
    ]
    other = app.http.patch(path, json={"value": 0.0, "before": 1.0})
    assert (other.status_code, other.json()["code"]) == (409, "reward_conflict")
    for wrong, code in (
        ({"value": 7.0, "before": 0.25}, "reward_out_of_range"),
        ({"value": 0.5}, "invalid"),
        ({"value": 0.5, "before": 0.25, "reason": "\x1b[31m"}, "invalid"),
    ):
        answer = app.http.patch(path, json=wrong)
        assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    assert app.http.patch("/v1/decisions/nobody/reward", json=body).status_code == 404
    app.state.campaign("c").verify()


def test_a_value_far_outside_the_logs_needs_a_member(app: App) -> None:
    frame = pyarrow.table({"arm": ["A", "B"] * 1_000, "paid": [0.0, 80.0, 20.0, 10.0] * 500})
    logs = OfflineData.from_logs(frame, arm="arm", reward="paid")
    options = {"arms": None, "offline": logs, "bias_bound": 1.0, "reward_range": None}
    app.create("paid", **options, policy=None)
    decision = app.ask("paid")["id"]
    path = f"/v1/decisions/{decision}/reward"
    refused = app.http.put(path, json={"value": 51200000000.30})
    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (422, "reward_outside_logs")
    assert "the logged rewards, which are from 0 to 80" in problem["detail"]
    assert "allow_outside" in problem["detail"]
    assert "512" not in problem["detail"]
    items = [{"decision_id": decision, "value": 1e9}]
    many = app.http.post("/v1/rewards", json={"rewards": items}).json()["results"]
    assert many[0]["code"] == "reward_outside_logs"
    items[0]["allow_outside"] = True
    many = app.http.post("/v1/rewards", json={"rewards": items}).json()["results"]
    assert many[0]["status"] == "recorded"


def test_minus_zero_is_zero(app: App) -> None:
    campaign = app.create("zero")
    decision = app.ask("zero")["id"]
    headers = {"Content-Type": "application/json"}
    address = f"/v1/decisions/{decision}/reward"
    answer = app.http.put(address, content='{"value": -0.0}', headers=headers)
    assert answer.status_code == 201
    assert '"reward":0.0' in answer.text.replace(" ", "")
    assert campaign.verify().rewards == 1
