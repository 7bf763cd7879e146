"""OuterLayers: an app whose layers are outside of the framework, not inside of it.

What a layer answers by itself then costs nothing of the framework.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send


class OuterLayers(FastAPI):
    """An app that goes through its layers before anything else; the last one added is first."""

    _layers: ASGIApp | None = None

    def add_middleware(self, middleware_class: Any, *args: Any, **options: Any) -> None:
        """Put a layer around all that is there."""
        inside = super().__call__ if self._layers is None else self._layers
        self._layers = middleware_class(inside, *args, **options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope["app"] = self
        answer = super().__call__ if self._layers is None else self._layers
        await answer(scope, receive, send)
