"""What stands on the screen while a new question is answered, frame by frame."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.browser.test_page import VERDICT, open_page

pytestmark = pytest.mark.browser

PARTS = {
    "case": ".st-key-case p",
    "verdict": VERDICT,
    "flips": ".st-key-flips p",
    "ttft": ".st-key-headline [data-testid=stMetricValue]",
}
WATCH = """
parts => {
  window.frames_seen = [];
  const opacity = e => {
    let product = 1;
    for (; e; e = e.parentElement) product *= getComputedStyle(e).opacity;
    return product;
  };
  const look = () => {
    const seen = {};
    for (const [name, selector] of Object.entries(parts)) {
      const e = document.querySelector(selector);
      if (e) seen[name] = [e.innerText, getComputedStyle(e).visibility === 'hidden' ? 0 : opacity(e)];
    }
    window.frames_seen.push(seen);
    window.frames_next = requestAnimationFrame(look);
  };
  look();
}
"""


@pytest.mark.parametrize("killed", [False, True])
def test_nothing_of_the_old_question_stands_at_full_strength_beside_the_new(page, address, killed):
    open_page(page, address)
    for tokens in ("577", "8123", "2911"):
        old = texts_of(page)
        page.evaluate(WATCH, PARTS)
        box = page.locator(".st-key-in-workload-input_tokens input").first
        box.fill(tokens)
        if killed:
            kill_workers()
        box.press("Enter")
        page.locator(".st-key-case p", has_text=f"{int(tokens):,} in").wait_for()
        page.wait_for_function("document.querySelector('[data-test-script-state=notRunning]')")
        page.wait_for_timeout(300)
        new = texts_of(page)
        seen = page.evaluate("cancelAnimationFrame(window.frames_next), window.frames_seen")
        told = [name for name in PARTS if old[name] != new[name]]
        assert {"case", "verdict", "flips"} <= set(told)
        for frame in seen:
            strong = {name: frame[name][0] for name in told if name in frame and frame[name][1] > 0.5}
            assert not (
                any(strong[name] == old[name] for name in strong)
                and any(strong[name] == new[name] for name in strong)
            ), frame


PLACES = """
const parts = ['.st-key-headline', '[class*=st-key-cost-]', '[class*=st-key-map-]', '[role=tablist]'];
window.places = [];
setInterval(() => {
  const found = parts.map(part => document.querySelector(part));
  if (found.some(e => !e)) return;
  // Streamlit fetches what draws the page's own rules together with all else that a browser sees first.
  if (getComputedStyle(document.querySelector('.st-key-flips')).marginTop === '0px') return;
  window.places.push(found.map(e => e.getBoundingClientRect().y));
}, 20);
"""


@pytest.mark.parametrize("width", [1280, 360])
def test_what_is_not_there_yet_holds_its_place(browser, address, width):
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.add_init_script(PLACES)
    open_page(page, address + "?preset=rag_h100")
    page.wait_for_timeout(500)
    places = page.evaluate("window.places")
    context.close()
    assert len(places) > 10
    for first, last in zip(places[0], places[-1], strict=True):
        assert abs(first - last) <= 4, (places[0], places[-1])


def texts_of(page):
    return {name: page.locator(selector).first.inner_text() for name, selector in PARTS.items()}


def kill_workers():
    """Ends the processes that answer for the page this test started, as a machine out of memory would."""
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        words = status.read_bytes().split(b"\0")
        if b"pdexplorer.ui.work.screen" in words and parents(int(status.parent.name)) & {os.getpid()}:
            os.kill(int(status.parent.name), 9)


def parents(pid):
    found = set()
    while pid > 1:
        found.add(pid)
        text = subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, text=True).stdout
        pid = int(text or 0)
    return found
