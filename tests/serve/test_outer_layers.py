from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from driftanchor.serve.outer_layers import OuterLayers


class Named:
    def __init__(self, app: Any, name: str, seen: list[str]) -> None:
        self.app, self.name, self.seen = app, name, seen

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.seen.append(self.name)
            assert isinstance(scope["app"], OuterLayers)
        await self.app(scope, receive, send)


def test_the_last_layer_is_the_outermost() -> None:
    app, seen = OuterLayers(), list[str]()
    assert TestClient(app).get("/").status_code == 404
    app.add_middleware(Named, name="inner", seen=seen)
    app.add_middleware(Named, name="outer", seen=seen)
    assert TestClient(app).get("/").status_code == 404
    assert seen == ["outer", "inner"]
