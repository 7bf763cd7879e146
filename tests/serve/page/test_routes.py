import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign_parts import create
from page_story import played
from served_app import LOCAL, App, running_app
from starlette.testclient import TestClient

from driftanchor.live.stores.access_keys import digest, make_key
from driftanchor.live.stores.store import Store, open_store
from driftanchor.serve.app import create_app
from driftanchor.serve.app_state import AppState
from driftanchor.serve.page.routes import ShareBody, shared_key
from driftanchor.serve.problem import Problem
from driftanchor.serve.request_log import Log

VIEWS = {
    "/": "/page/overview.json",
    "/campaigns/story": "/page/campaigns/story/view.json",
    "/start": "/page/about.json",
}


@pytest.fixture(scope="module")
def http() -> TestClient:
    """A server over the story; it is not closed, as others read on."""
    story = played()
    state = AppState(story.store, clock=story.clock, log=Log(io.StringIO()))
    return TestClient(create_app(state), LOCAL)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with running_app(f"sqlite:///{tmp_path_factory.mktemp('routes') / 'store.db'}") as found:
        yield found


def test_every_view_has_a_page_and_json(http: TestClient) -> None:
    for view, path in VIEWS.items():
        page = http.get(view)
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        assert http.get(path).headers["content-type"] == "application/json"


def test_a_decision_and_the_history_have_json(http: TestClient) -> None:
    found = http.get("/page/campaigns/story/find.json", params={"q": "#5"}).json()["found"]
    path = f"/campaigns/story/decisions/{found[0]['id']}"
    assert http.get(path).status_code == 200
    assert http.get(f"/page{path}/view.json").json()["decision"]["number"] == 5
    history = http.get("/page/campaigns/story/history.json", params={"span": "all"}).json()
    assert len(history["starts"]) == 16


def test_nothing_is_sent_twice(http: TestClient) -> None:
    for path in ("/page/overview.json", "/page/campaigns/story/view.json", "/page/static/main.js"):
        http.get(path)
        tag = http.get(path).headers["etag"]
        again = http.get(path, headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")


def test_the_policy_lets_nothing_in_from_elsewhere(http: TestClient) -> None:
    policy = http.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert http.get("/").headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/page/static/nothing.js", 404),
        ("/page/static/..%2f..%2fapp.py", 404),
        ("/page/campaigns/nobody/view.json", 404),
        ("/page/campaigns/nobody/history.json", 404),
        ("/page/campaigns/story/history.json?span=year", 422),
        ("/page/campaigns/story/find.json?q=", 422),
        ("/page/campaigns/story/find.json?q=a&through=-1", 422),
        ("/page/campaigns/story/decisions/nobody/view.json", 404),
    ],
)
def test_what_is_not_there_is_a_problem(http: TestClient, path: str, status: int) -> None:
    answer = http.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_views_need_the_role_read_and_files_need_nothing(app: App) -> None:
    assert app.http.post("/page/share", json={"campaign": "c"}).json()["code"] == "no_keys"
    assert app.http.get("/page/overview.json").json()["campaigns"] == []
    key, row = make_key(["admin"], now=app.clock())
    app.state.store.add_key(row)
    decide, row = make_key(["decide"], now=app.clock())
    app.state.store.add_key(row)
    app.create("c")
    paths = ["overview.json", "campaigns/c/view.json", "campaigns/c/history.json"]
    paths += ["campaigns/c/errors.json", "campaigns/c/find.json?q=a"]
    app.state.access._keys._read_at = float("-inf")  # as if a second had passed
    for path in paths:
        assert app.http.get(f"/page/{path}").status_code == 401, path
        mine = {"Authorization": f"Bearer {decide}"}
        assert app.http.get(f"/page/{path}", headers=mine).status_code == 403, path
        mine = {"Authorization": f"Bearer {key}"}
        assert app.http.get(f"/page/{path}", headers=mine).status_code == 200, path
    for path in ("/", "/page/about.json", "/page/static/page.css"):
        assert app.http.get(path).status_code == 200
    assert app.http.post("/page/share", json={"campaign": "c"}).status_code == 401


def test_only_a_demo_says_that_it_is_one(http: TestClient) -> None:
    assert http.get("/page/about.json").json()["demo"] is False
    assert http.get("/page/overview.json").json()["demo"] is False


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.close()


def test_the_key_of_a_link_reads_and_ends(store: Store) -> None:
    store.add_key(make_key(["admin"], now=5.0)[1])
    create(store, "c")
    link = shared_key(store, ShareBody(campaign="c", hours=2.0), now=1_000.0)
    row = {row.id: row for row in list(store.keys())}[link["id"]]
    assert (row.roles, row.campaign) == ("read", "c")
    assert row.sha256 == digest(link["key"])
    assert (row.state(1_000.0), row.state(link["expires"])) == ("active", "expired")
    assert link["expires"] == 1_000.0 + 2 * 3_600.0


def test_a_link_is_never_the_first_key(store: Store) -> None:
    with pytest.raises(Problem, match="lock you out"):
        shared_key(store, ShareBody(campaign="c"), now=0.0)
    assert list(store.keys()) == []
