import re
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.browser

VERDICT = ".st-key-verdict h4"


def open_page(page, url):
    page.goto(url)
    page.locator(VERDICT).wait_for()
    settled(page)


def settled(page):
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    page.locator("svg.marks").nth(1).wait_for()


def shown(page):
    return page.locator(VERDICT).inner_text()


def test_the_first_screen_holds_the_whole_answer(page, address):
    failures = []
    page.on("requestfailed", lambda request: failures.append(request.url))
    page.on("pageerror", lambda error: failures.append(str(error)))
    open_page(page, address)
    charts = page.locator("svg.marks")
    assert charts.count() == 2
    for part in (page.locator(VERDICT), page.locator(".st-key-headline"), charts.nth(0), charts.nth(1)):
        box = part.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800
    metrics = page.locator("[data-testid=stMetricLabel]").all_inner_texts()
    assert len(metrics) == 4
    assert all("estimated" in metric for metric in metrics)
    assert failures == []


def test_slider_address_reopen_and_back(page, address):
    open_page(page, address)
    page.locator(".st-key-slide-workload-input_tokens").locator("input[type=range], [role=slider]").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("location.search.includes('workload.input_tokens=')")
    page.wait_for_timeout(500)
    settled(page)
    link = page.evaluate("location.href")
    query = parse_qs(urlsplit(link).query)
    assert {"preset", "v", "hash", "workload.input_tokens"} <= set(query)
    verdict = shown(page)
    other = page.context.new_page()
    open_page(other, link)
    assert shown(other) == verdict
    assert other.locator("[data-testid=stAlert]").count() == 0
    page.go_back()
    page.wait_for_function("!location.href.includes(" + repr(query["workload.input_tokens"][0]) + ")")


def test_a_bad_link_opens_and_says_what_was_refused(page, address):
    open_page(
        page, address + "?preset=nope&workload.input_tokens=1e99&foo=%3Cb%3E&network.link=carrier_pigeon"
    )
    said = page.locator("[data-testid=stAlert]").first.inner_text()
    for key in ("preset", "workload.input_tokens", "foo", "network.link"):
        assert key in said


def test_a_frame_shows_one_view_without_sidebar_in_the_dark_on_a_phone(browser, address):
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    page = context.new_page()
    page.goto(address + "?embed=true&view=verdict")
    page.locator(VERDICT).wait_for()
    assert (
        page.locator("[data-testid=stSidebar]").count() == 0
        or not page.locator("[data-testid=stSidebar]").is_visible()
    )
    assert page.locator("svg.marks").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    ground = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert max(int(value) for value in re.findall(r"\d+", ground)[:3]) < 64
    context.close()
