"""The page in a real browser: the demo from its first minute, what people do, and who may."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from campaign_parts import Clock, create
from page_server import Browser, Silent, browsing, serving
from playwright.sync_api import Page, expect

from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.stores.access_keys import make_key
from driftanchor.serve.app_state import AppState
from driftanchor.serve.demo import CAMPAIGNS, Demo
from driftanchor.serve.upkeep import warm_up

HOSTILE = "<img src=x onerror=alert(1)>"
NAME = CAMPAIGNS[0].name
QUICK = dataclasses.replace(CAMPAIGNS[0], after=5 * 900.0, visitors=24)


@dataclasses.dataclass
class Shown:
    """A demo, and a browser that looks at it."""

    demo: Demo
    browser: Browser


@pytest.fixture(scope="module")
def shown() -> Iterator[Shown]:
    """The demo before its arm moves, on a clock that the tests move."""
    with Demo(speed=0, start=1.79e9, campaigns=(QUICK, CAMPAIGNS[1])) as demo:
        state = AppState(demo.store, clock=demo.clock, log=Silent(), demo=True)
        warm_up(state)  # as every server does before it answers
        demo.play(16)
        with serving(state) as url, browsing(url) as browser:
            yield Shown(demo, browser)


def share(page: Page, arm: str) -> float:
    """The share of an arm as the page shows it, in per cent."""
    cell = page.locator(f'tr[data-arm="{arm}"] td[data-label="Share"]').first
    found = re.match(r"[<> ]*([\d.]+)", cell.inner_text().replace("Share", "").strip())
    assert found is not None
    return float(found[1])


def check(page: Page) -> None:
    """Axe finds nothing serious, in light and in dark."""
    for _ in range(2):
        found = Axe().run(page).response["violations"]
        bad = [x for x in found if x["impact"] in ("serious", "critical")]
        assert not bad, [(x["id"], [node["html"] for node in x["nodes"][:3]]) for x in bad]
        page.click("#theme")


def test_the_demo_is_seen_to_move_until_the_alarm_rings(shown: Shown) -> None:
    page = shown.browser.open("/")
    expect(page.locator("#demo")).to_be_visible()
    page.locator(f'[data-campaign="{NAME}"] a').click()
    expect(page.locator("h1")).to_have_text(NAME)
    expect(page.locator(".part-alarms .alarm-box")).to_have_count(0)
    before = share(page, "Gift card")
    shown.demo.play(44)
    expect(page.locator(".part-alarms")).to_contain_text("Gift card")
    expect(page.locator(".sentence.big")).to_contain_text("Gift card leads")
    assert share(page, "Gift card") > before + 10
    expect(page.locator(".changes")).to_contain_text("alarm: Gift card moved further")


def test_every_view_is_accessible(shown: Shown) -> None:
    page = shown.browser.open("/")
    page.wait_for_selector(".card")
    check(page)
    shown.browser.open(f"/campaigns/{NAME}")
    page.wait_for_selector("table.arms tbody tr")
    page.wait_for_selector(".legend button")
    check(page)
    page.get_by_role("link", name="why?").first.click()
    page.wait_for_selector("table.why-table tbody tr")
    check(page)
    shown.browser.open("/start")
    page.wait_for_selector(".steps")
    check(page)


def test_a_decision_is_explained_and_found_by_its_unit(shown: Shown) -> None:
    page = shown.browser.open(f"/campaigns/{NAME}")
    page.fill("#find", "visitor-12")
    page.press("#find", "Enter")
    page.locator(".finder table a").first.click()
    expect(page.locator("h1")).to_have_text("Decision #12")
    expect(page.locator(".title-row")).to_contain_text("Replayed exactly")
    expect(page.locator("tr.won")).to_have_count(1)
    expect(page.locator("tr.won .halo")).to_have_count(1)
    json_link = page.locator("#json").get_attribute("href") or ""
    answer = page.request.get(shown.browser.url + json_link).json()
    assert answer["explanation"]["decision"] == 12
    assert page.locator("tr.won th .arm-name").inner_text() == answer["decision"]["arm"]


def test_a_number_is_explained_on_hover_and_by_keyboard(shown: Shown) -> None:
    page = shown.browser.open(f"/campaigns/{NAME}")
    page.locator('thead [data-word="p_best"]').first.hover()
    expect(page.locator("#tip")).to_contain_text("How likely this arm is to be the best")
    page.keyboard.press("Escape")
    expect(page.locator("#tip")).to_be_hidden()
    page.locator('thead [data-word="share"]').first.focus()
    expect(page.locator("#tip")).to_contain_text("The share of all decisions")


def test_the_chart_has_its_modes(shown: Shown) -> None:
    page = shown.browser.open(f"/campaigns/{NAME}")
    for mode, words in (("p_best", "P(best)"), ("believed", "Means"), ("reward", "Rewards")):
        page.click(f'button[value="{mode}"]')
        expect(page.locator(".plot")).to_have_attribute(
            "aria-label", re.compile(re.escape(words) + ".*Gift card")
        )


def test_the_chart_is_read_with_the_pointer_and_by_keyboard(shown: Shown) -> None:
    page = shown.browser.open(f"/campaigns/{NAME}")
    page.click('button[value="believed"]')
    arms = page.locator(".legend button").count()
    expect(page.locator(".plot .line .band")).to_have_count(arms)
    box = page.locator(".plot").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
    bubble = page.locator(".bubble")
    expect(bubble).to_contain_text(re.compile(r"UTC.*Gift card[\d.]+ \([\d.−]+ to [\d.]+\)", re.S))
    expect(page.locator(".plot .cursor circle")).to_have_count(arms)
    page.mouse.move(0, 0)
    expect(bubble).to_be_hidden()
    page.locator(".plot").focus()
    page.keyboard.press("ArrowLeft")
    last = bubble.inner_text()
    page.keyboard.press("ArrowLeft")
    assert bubble.inner_text() != last
    page.keyboard.press("Escape")
    expect(bubble).to_be_hidden()


def test_an_arm_is_taken_out_of_the_chart(shown: Shown) -> None:
    page = shown.browser.open(f"/campaigns/{NAME}")
    page.wait_for_selector(".plot .line")
    arms = page.locator(".legend button").count()
    expect(page.locator(".plot .line")).to_have_count(arms)
    page.get_by_role("button", name="Gift card").click()
    expect(page.locator(".plot .line")).to_have_count(arms - 1)
    expect(page.locator(".plot")).not_to_have_attribute("aria-label", re.compile("Gift card"))


def test_ticks_are_round_and_none_overlap(shown: Shown) -> None:
    """On a wide and on a narrow screen, for numbers, shares and times of any size."""
    page = shown.browser.open(f"/campaigns/{NAME}")
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 900})
        for mode in ("share", "believed"):
            page.click(f'button[value="{mode}"]')
            boxes = page.locator(".plot .ticks text").evaluate_all(
                "all => all.map((x) => x.getBoundingClientRect().toJSON())"
            )
            assert len(boxes) >= 6
            for one, other in itertools.combinations(boxes, 2):
                beside = one["right"] <= other["left"] or other["right"] <= one["left"]
                assert beside or one["bottom"] <= other["top"] or other["bottom"] <= one["top"]
    page.set_viewport_size({"width": 1200, "height": 900})
    ask = """async ([name, given]) =>
        (await import("/page/static/ticks.js"))[name](...given).map((x) => x.text)"""

    def ticks(name: str, *given: object) -> object:
        return page.evaluate(ask, [name, given])

    assert ticks("numberTicks", 0, 1, 5) == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert ticks("numberTicks", -0.013, 0.021, 4) == ["−0.01", "0.00", "0.01", "0.02"]
    assert ticks("numberTicks", 0, 1, 4, True) == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    assert ticks("numberTicks", 12_300, 45_600, 4) == ["20,000", "30,000", "40,000"]
    assert ticks("numberTicks", 1, 1, 4) == []
    noon = 1_790_078_400  # 22 September 2026, 12:00 UTC
    assert ticks("timeTicks", noon, noon + 5_400, 4) == ["12:00", "12:30", "13:00", "13:30"]
    assert ticks("timeTicks", noon, noon + 86_400, 3) == ["12:00", "23 Sept", "12:00"]
    assert ticks("timeTicks", noon, noon + 3 * 86_400, 4) == ["23 Sept", "24 Sept", "25 Sept"]


def test_a_hostile_arm_is_shown_as_text(shown: Shown) -> None:
    campaign = Campaign.load(NAME, store=shown.demo.store, clock=shown.demo.clock)
    campaign.add_arm(HOSTILE)
    shown.demo.play(4)
    page = shown.browser.open(f"/campaigns/{NAME}")
    expect(page.locator("table.arms").first).to_contain_text(HOSTILE)
    expect(page.locator(".legend")).to_contain_text(HOSTILE)
    assert page.locator('img[src="x"]').count() == 0
    with campaign.at_one_moment() as reading:
        column = reading.current.terms.arms.column(HOSTILE)
        last = next(x.id for x in reading.reader.all_decisions() if x.column == column)
    shown.browser.open(f"/campaigns/{NAME}/decisions/{last}")
    expect(page.locator(".sentence.big")).to_contain_text(HOSTILE)
    assert page.locator('img[src="x"]').count() == 0


def test_it_fits_a_phone(shown: Shown) -> None:
    page = shown.browser.page
    page.set_viewport_size({"width": 420, "height": 800})
    for path in ("/", f"/campaigns/{NAME}", "/start"):
        shown.browser.open(path)
        page.wait_for_selector(".card")
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
    page.set_viewport_size({"width": 1200, "height": 900})


def test_only_a_key_may_pause_and_a_link_may_read(shown: Shown) -> None:
    page, store, now = shown.browser.page, shown.demo.store, shown.demo.clock()
    complaints = len(shown.browser.complaints)
    admin, row = make_key(["admin"], now=now)
    store.add_key(row)
    reader, row = make_key(["read"], now=now)
    store.add_key(row)
    page.wait_for_timeout(1_100)  # the server looks for new keys every second
    shown.browser.open(f"/campaigns/{NAME}#key={reader}")
    assert reader not in page.url
    page.locator("#pause").click()
    expect(page.locator(".manage .status")).to_contain_text("It needs the role admin")
    page.click("#key")
    page.fill("#key-text", admin)
    page.click("dialog button[type=submit]")
    page.locator("#pause").click()
    expect(page.locator(".part-badges")).to_contain_text("Paused")
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator(".manage output")).to_contain_text("#key=da_read_")
    link = page.locator(".manage output").inner_text()
    page.locator("#pause").click()
    expect(page.locator(".part-badges")).not_to_contain_text("Paused")
    page.evaluate("sessionStorage.clear()")
    shown.browser.open("/")
    expect(page.locator("h1")).to_have_text("A key is needed")
    page.goto(link)
    page.reload()
    expect(page.locator("h1")).to_have_text(NAME)
    expect(page.locator(".part-recent")).to_have_text("A share link shows no single decisions.")
    expect(page.locator("#fresh")).to_have_text("Live")
    shown.browser.open("/")  # the other campaigns are not shared
    expect(page.locator("h1")).to_have_text("A key is needed")
    del shown.browser.complaints[complaints:]  # browsers report every refusal as an error


def test_nothing_was_complained_of(shown: Shown) -> None:
    assert shown.browser.complaints == []


def test_one_campaign_with_two_rewards_claims_nothing(shown: Shown, tmp_path: Path) -> None:
    campaign = create(str(tmp_path / "c.db"))
    for decision in campaign.ask(n=2):
        campaign.tell(str(decision.id), 1.0)
    with serving(AppState(campaign.store, clock=Clock(), log=Silent())) as url:
        chromium = shown.browser.page.context.browser
        assert chromium is not None
        browser = Browser(chromium.new_page(), url)
        page = browser.open("/")
        expect(page.locator("main")).to_contain_text("1 campaign, no alarm")
        expect(page.locator(".card dl")).to_contain_text("–")
        page.locator('[data-campaign="c"] a').click()
        tiles = page.locator(".part-tiles .tile")
        expect(tiles.nth(0)).to_contain_text("too few rewards to say")
        expect(tiles.nth(1).locator(".tile-value")).to_have_text("–")
        expect(page.locator('td[data-label="P(best)"]').first).to_have_text("–")
        page.close()
    assert browser.complaints == []
