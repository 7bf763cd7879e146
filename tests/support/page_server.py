"""What tests of the page share: a server in a thread, and a browser that complains of nothing."""

from __future__ import annotations

import contextlib
import io
import shutil
import threading
from collections.abc import Iterator

import uvicorn
from playwright.sync_api import Page, sync_playwright

from driftanchor.serve.app_state import AppState
from driftanchor.serve.request_log import Log
from driftanchor.serve.server import config_for, listen, url_of

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MISSING = (
    "the tests of the page need Chromium: 'make test' installs it as root where apt-get works; "
    "otherwise install it, such as with 'sudo apt-get install chromium', so that 'chromium' is on "
    "the PATH"
)


class Silent(Log):
    """A log that nobody reads."""

    def __init__(self) -> None:
        super().__init__(io.StringIO())


@contextlib.contextmanager
def serving(state: AppState) -> Iterator[str]:
    """A server in a thread; its address."""
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(config_for(state))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield url_of(listening)
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


class Browser:
    """A browser, and what went wrong in it.

    Attributes:
        page: The page that is open.
        complaints: What the console said, and what went elsewhere.
    """

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.complaints: list[str] = []
        page.on("console", lambda said: self._said(said.type, said.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._asked(request.url))

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def _asked(self, url: str) -> None:
        if not url.startswith((self.url, "data:")):
            self.complaints.append(f"asked for {url}")

    def open(self, path: str) -> Page:
        """Open a view."""
        self.page.goto(self.url + path)
        return self.page


@contextlib.contextmanager
def browsing(url: str) -> Iterator[Browser]:
    """A browser at a server."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    assert program is not None, MISSING
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.set_default_timeout(30_000)
        try:
            yield Browser(page, url)
        finally:
            browser.close()
