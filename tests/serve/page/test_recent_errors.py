from pathlib import Path

from served_app import running_app

from driftanchor.serve.page.recent_errors import MAX_KEPT, RecentErrors
from driftanchor.serve.problem import Problem


def test_refused_requests_are_kept_without_their_values(tmp_path: Path) -> None:
    with running_app(f"sqlite:///{tmp_path / 'store.db'}") as app:
        app.create("c")
        ok = app.ask("c")
        app.http.put(f"/v1/decisions/{ok['id']}/reward", json={"value": 77})
        app.http.post("/v1/campaigns/c/decisions", json={"unit": 5, "secret": "hunter2"})
        app.http.get("/v1/campaigns/other")
        app.http.get("/nowhere")
        errors = app.http.get("/page/campaigns/c/errors.json").json()["errors"]
    assert [(x["status"], x["campaign"]) for x in errors] == [(422, "c"), (422, None)]
    assert errors[0]["route"] == "/v1/campaigns/{name}/decisions"
    assert "hunter2" not in str(errors)
    assert "77" not in str([x["detail"] for x in errors])


def test_old_errors_are_dropped() -> None:
    log = RecentErrors()
    scope = {"path": "/v1/rewards", "method": "POST"}
    for i in range(MAX_KEPT + 5):
        log.add(scope, Problem(404, "not_found", "there is no such decision"), at=i)
    assert [x["at"] for x in log.of("c")][:2] == [MAX_KEPT + 4, MAX_KEPT + 3]
    assert len(log.of("c")) == 10
    assert len(log._errors) == MAX_KEPT
