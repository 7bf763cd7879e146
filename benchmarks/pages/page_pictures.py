"""Pictures of the page for the docs: `python -m benchmarks.pages.page_pictures`.

Every view in light, in dark and on a phone, of the demo 70 seconds after its start. They are made
with a real Chromium, which must be on the PATH.
"""

from __future__ import annotations

import argparse
import io
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.serve.app import create_app
from driftanchor.serve.app_state import AppState
from driftanchor.serve.demo import CAMPAIGNS, Demo
from driftanchor.serve.request_log import Log
from driftanchor.serve.server import listen, url_of

OUT = Path(__file__).parents[2] / "docs" / "pictures"
STEPS = 280  # of the demo, four in a second
LOOKS: dict[str, tuple[Any, int, int]] = {
    "light": ("light", 1120, 1240),
    "dark": ("dark", 1120, 1240),
    "phone": ("light", 420, 1500),
}
READY = {
    "overview": "text=/^3 campaigns, 1 with an alarm$/",
    "campaign": ".part-saved .word",
    "decision": "tr.won",
    "start": ".steps",
}
COLOURS = 200


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS, help="of the demo before the pictures")
    asked = parser.parse_args()
    with Demo(speed=0) as demo:
        demo.play(asked.steps)
        paths = _paths(demo)
        with _serving(demo) as url, sync_playwright() as driver:
            program = shutil.which("chromium")
            browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
            for look in LOOKS:
                _take_all(browser, look, {view: url + path for view, path in paths.items()})
            browser.close()


def _paths(demo: Demo) -> dict[str, str]:
    """The address of each view; the decision is one that the rule made."""
    name = CAMPAIGNS[0].name
    campaign = Campaign.load(name, store=demo.store, clock=demo.clock)
    with campaign.at_one_moment() as reading:
        rows = list(reading.reader.all_decisions(after=reading.current.counters.decisions - 200))
    chosen = next(x.id for x in rows if "largest index" in campaign.explain(x.id).reason)
    return {
        "overview": "/",
        "campaign": f"/campaigns/{name}",
        "decision": f"/campaigns/{name}/decisions/{chosen}",
        "start": "/start",
    }


@contextmanager
def _serving(demo: Demo) -> Iterator[str]:
    listening = listen("127.0.0.1", 0)
    state = AppState(demo.store, clock=demo.clock, log=Log(io.StringIO()), demo=True)
    config = uvicorn.Config(create_app(state), log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    yield url_of(listening)
    server.should_exit = True
    thread.join(30)


def _take_all(browser: Browser, look: str, urls: dict[str, str]) -> None:
    scheme, width, height = LOOKS[look]
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    for view, url in urls.items():
        page.goto(url)
        page.wait_for_selector(READY[view], timeout=30_000)
        page.wait_for_timeout(1_000)  # the chart is drawn
        _take(page, f"page-{view}-{look}", width, height)
    page.close()


def _take(page: Page, name: str, width: int, most: int) -> None:
    """One picture, as far as the page goes and no further, in few colours: files stay small."""
    tall = min(most, int(page.evaluate("document.querySelector('footer').offsetTop")))
    path = OUT / f"{name}.png"
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": width, "height": tall})
    Image.open(path).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(
        path, optimize=True
    )


if __name__ == "__main__":
    main()
