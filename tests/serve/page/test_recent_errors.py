from pathlib import Path

from served_app import running_app

from driftanchor.serve.page import recent_errors


def test_what_was_refused_is_kept_without_what_was_sent(tmp_path: Path) -> None:
    with running_app(f"sqlite:///{tmp_path / 'store.db'}") as app:
        app.create("c")
        ok = app.ask("c")
        app.http.put(f"/v1/decisions/{ok['id']}/reward", json={"value": 77})
        app.http.post("/v1/campaigns/c/decisions", json={"unit": 5, "secret": "hunter2"})
        app.http.get("/v1/campaigns/other")
        app.http.get("/nowhere")
        found = app.http.get("/page/campaigns/c/errors.json").json()["errors"]
    assert [(x["status"], x["campaign"]) for x in found] == [(422, "c"), (422, None)]
    assert found[0]["route"] == "/v1/campaigns/{name}/decisions"
    assert "hunter2" not in str(found)
    assert "77" not in str([x["detail"] for x in found])


def test_old_errors_fall_out() -> None:
    kept = recent_errors.new()
    for i in range(recent_errors.KEPT + 5):
        kept.append({"campaign": None, "at": i})
    assert len(kept) == recent_errors.KEPT
    found = [error["at"] for error in recent_errors.of(kept, "c", most=2)]
    assert found == [recent_errors.KEPT + 4, recent_errors.KEPT + 3]
