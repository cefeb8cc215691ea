import json
import re
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.browser

VERDICT = ".st-key-verdict h4"
ARTIFACTS = Path(__file__).parents[2] / "test-artifacts"


def open_page(page, url):
    page.goto(url)
    page.locator(VERDICT).wait_for()
    settled(page)


def settled(page):
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    page.locator("svg.marks").nth(1).wait_for()


def shown(page):
    return page.locator(VERDICT).inner_text()


def keep(page, name):
    """The screen as an artefact of the test run."""
    ARTIFACTS.mkdir(exist_ok=True)
    page.wait_for_timeout(600)
    page.screenshot(path=str(ARTIFACTS / f"{name}.png"))


def test_the_first_screen_holds_the_whole_answer(page, address):
    failures = []
    page.on("requestfailed", lambda request: failures.append(request.url))
    page.on("pageerror", lambda error: failures.append(str(error)))
    open_page(page, address)
    keep(page, "first_visit")
    open_page(page, address + "?preset=rag_h100")
    keep(page, "first_screen")
    charts = page.locator("svg.marks")
    assert charts.count() == 2
    tabs = page.locator("[role=tablist]")
    for part in (page.locator(VERDICT), page.locator(".st-key-headline"), charts.nth(0), charts.nth(1), tabs):
        box = part.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800
    last = page.locator("[role=tab]").last.bounding_box()
    assert last["x"] + last["width"] <= 1280
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


def test_a_clicked_cell_of_the_map_becomes_the_scenario_in_one_step(page, address):
    open_page(page, address + "?preset=rag_h100")
    entries = page.evaluate("history.length")
    map_chart = page.locator("svg.marks").nth(1)
    box = map_chart.bounding_box()
    map_chart.click(position={"x": box["width"] * 0.2, "y": box["height"] * 0.3})
    use = page.locator(".st-key-use-chart-map button")
    use.wait_for()
    keep(page, "map_picked")
    use.click()
    page.wait_for_function("location.search.includes('network.nic_gbit_per_s=')")
    query = parse_qs(urlsplit(page.evaluate("location.href")).query)
    assert float(query["workload.input_tokens"][0]) < 8000
    assert page.evaluate("history.length") == entries + 1
    use.wait_for(state="detached")


def test_a_clicked_point_of_a_curve_becomes_the_scenario_too(page, address):
    open_page(page, address + "?preset=rag_h100&view=load")
    curve = page.locator("svg.marks").nth(2)
    curve.wait_for()
    box = curve.bounding_box()
    curve.click(position={"x": box["width"] * 0.7, "y": box["height"] * 0.5})
    use = page.locator(".st-key-use-chart-load-goodput button")
    use.wait_for()
    keep(page, "curve_picked")
    use.click()
    page.wait_for_function("location.search.includes('workload.rate_per_s=')")
    query = parse_qs(urlsplit(page.evaluate("location.href")).query)
    assert float(query["workload.rate_per_s"][0]) > 8
    use.wait_for(state="detached")


def test_a_bad_link_opens_and_says_what_was_refused(page, address):
    open_page(
        page, address + "?preset=nope&workload.input_tokens=1e99&foo=%3Cb%3E&network.link=carrier_pigeon"
    )
    said = page.locator("[data-testid=stAlert]").first.inner_text()
    for key in ("preset", "workload.input_tokens", "foo", "network.link"):
        assert key in said


def test_a_frame_in_a_foreign_page_shows_one_view_in_the_dark_on_a_phone(browser, address, foreign_page):
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    page = context.new_page()
    source = f"{address}?embed=true&view=verdict"
    page.goto(foreign_page(f"<iframe src='{source}' style='width:340px;height:700px;border:0'></iframe>"))
    frame = page.frame_locator("iframe")
    frame.locator(VERDICT).wait_for()
    keep(page, "foreign_frame")
    assert not frame.locator("[data-testid=stSidebar]").is_visible()
    assert frame.locator("svg.marks").count() == 0
    inner = page.frames[1]
    assert inner.evaluate("document.documentElement.scrollWidth") <= 360
    ground = inner.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert max(int(value) for value in re.findall(r"\d+", ground)[:3]) < 64
    context.close()


def test_everything_the_share_tab_names_is_there(page, address):
    open_page(page, address + "?preset=short_chat_h100&view=share&workload.output_tokens=160")
    page.locator(".st-key-share-view").wait_for()
    settled(page)
    keep(page, "share")
    blocks = page.locator("[data-testid=stCode]").all_inner_texts()
    links = [link for block in blocks for link in re.findall(r"http://[^\s\"'<>)]+", block)]
    live = [link for link in links if re.search(r"/(chart\.(svg|png)|api/v1/evaluate|memo\.md)\?", link)]
    assert len(set(live)) == 6
    verdict = shown(page)
    for link in set(live):
        with urllib.request.urlopen(link, timeout=60) as answer:
            body = answer.read()
        assert answer.status == 200
        if "/api/" in link:
            assert json.loads(body)["scenario"]["workload"]["output_tokens"] == 160
        else:
            assert len(body) > 1000
    for link in (links[0], links[1]):
        open_page(page, link)
        assert shown(page) == verdict


def test_both_languages_from_the_browser_and_the_switch(browser, address):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="zh-CN")
    page = context.new_page()
    open_page(page, address + "?preset=short_chat_h100")
    assert "同构" in shown(page)
    keep(page, "chinese")
    page.get_by_role("radio", name="English").or_(page.get_by_role("button", name="English")).first.click()
    page.wait_for_function("location.search.includes('lang=en')")
    page.locator(VERDICT, has_text="Stay colocated").wait_for()
    context.close()


def test_a_phone_gets_the_verdict_first(browser, address):
    context = browser.new_context(viewport={"width": 360, "height": 780})
    page = context.new_page()
    open_page(page, address + "?view=share&preset=rag_h100")
    tab = page.locator("[role=tab][aria-selected=true]")
    assert tab.inner_text() == "Share & export"
    assert tab.evaluate("e => { const r = e.getBoundingClientRect(); return r.left >= 0 && r.right <= 360 }")
    open_page(page, address)
    keep(page, "phone")
    verdict = page.locator(".st-key-verdict").bounding_box()
    case = page.locator(".st-key-case").bounding_box()
    assert verdict["y"] < case["y"]
    assert verdict["y"] < 120
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


def test_a_keyboard_reaches_inputs_tabs_and_points_and_charts_say_what_they_show(page, address):
    open_page(page, address + "?preset=rag_h100")
    seen, outlines = [], {}
    for _ in range(60):
        page.keyboard.press("Tab")
        name, role, outline = page.evaluate(
            "(() => { const e = document.activeElement; return [e.getAttribute('aria-label') || e.innerText,"
            " e.getAttribute('role'), getComputedStyle(e).outlineStyle] })()"
        )
        seen.append(str(name))
        outlines[role] = outline
    words = " ".join(seen)
    for name in ("Preset", "Input tokens", "KV link", "List of points", "Simulation"):
        assert name in words, name
    assert outlines["tab"] == "solid"
    described = page.locator("[aria-label*='stacked bars'], [aria-label*='Map of the gain']")
    assert described.count() >= 2
    page.locator(".st-key-list-chart-map button").focus()
    page.keyboard.press("Enter")
    box = page.locator(".st-key-choose-chart-map input")
    box.wait_for()
    page.keyboard.press("Tab")
    assert box.evaluate("e => e === document.activeElement")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    use = page.locator(".st-key-use-chart-map button")
    use.wait_for()
    keep(page, "point_by_keyboard")
    for _ in range(3):
        page.keyboard.press("Tab")
        if use.evaluate("e => e === document.activeElement"):
            break
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('network.nic_gbit_per_s=')")
    use.wait_for(state="detached")


def test_the_offline_page_needs_no_network(browser, address, tmp_path):
    with urllib.request.urlopen(f"{address}page.html?preset=rag_h100", timeout=90) as answer:
        (tmp_path / "page.html").write_bytes(answer.read())
    context = browser.new_context(viewport={"width": 1000, "height": 900}, offline=True)
    page = context.new_page()
    failures = []
    page.on("requestfailed", lambda request: failures.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    keep(page, "offline_page")
    assert page.locator("svg").count() >= 2
    assert "costs" in page.locator("main").inner_text()
    assert failures == []
    context.close()
