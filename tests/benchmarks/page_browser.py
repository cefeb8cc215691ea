"""Times inside a real browser, for the benchmarks: first loads, and from a key press to the new verdict."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, sync_playwright

_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
_SLIDER = ".st-key-slide-workload-output_tokens"
_VERDICT, CHARTS = ".st-key-verdict h4", 2
EMPTY = """
import streamlit as st
with st.container(key="verdict"):
    st.markdown("#### .")
"""
"""A page with nothing on it but the words that are waited for: what of a first load is Streamlit's own."""

_WATCH = """
() => {
  const box = () => document.querySelector('.st-key-verdict')?.innerText;
  const app = document.querySelector('[data-testid=stApp]');
  const running = () => app.dataset.testScriptState !== 'notRunning';
  const before = box();
  window.answered = new Promise((resolve) => {
    let pressed = 0, verdict = 0;
    addEventListener('keydown', () => { pressed = performance.now(); }, {capture: true, once: true});
    const watcher = new MutationObserver(() => {
      if (!pressed || box() === undefined || box() === before) return;
      const shown = (then) => requestAnimationFrame(() => requestAnimationFrame(() => {
        then(performance.now() - pressed);
      }));
      if (!verdict) { verdict = -1; shown((took) => { verdict = took; }); }
      if (!running() && verdict > 0) {
        watcher.disconnect();
        shown((took) => resolve([verdict, took]));
      }
    });
    watcher.observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
    setTimeout(() => { watcher.disconnect(); resolve(null); }, 5000);
  });
}
"""


@contextmanager
def opened() -> Iterator[Browser]:
    """The system's chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_ARGUMENTS)
        yield browser
        browser.close()


def first_load_s(browser: Browser, url: str, charts: int = CHARTS) -> tuple[float, float]:
    """Seconds until the verdict stands and until all charts are drawn, nothing kept from before."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    started = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.locator(_VERDICT).wait_for()
    verdict = time.perf_counter() - started
    if charts:
        page.locator("svg.marks").nth(charts - 1).wait_for()
    drawn = time.perf_counter() - started
    context.close()
    return verdict, drawn


def key_presses_s(browser: Browser, url: str, presses: int) -> list[tuple[float, float]]:
    """Seconds from each arrow key on a slider until other words stand in the verdict's box, and until the
    whole page with its map is there, two frames later each. A step that changes no word of the box is left
    out and another one taken, at most as many again.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(url)
    page.locator("svg.marks").nth(CHARTS - 1).wait_for()
    page.locator(_SLIDER).locator("input[type=range], [role=slider]").focus()
    took: list[tuple[float, float]] = []
    for turn in range(2 * presses):
        page.wait_for_timeout(700)  # a person looks before the next step; the map is there by then
        page.evaluate(_WATCH)
        page.keyboard.press("ArrowLeft" if turn < 8 else "ArrowRight")
        answer: Any = page.evaluate("window.answered")
        if answer is not None:
            took.append((answer[0] / 1e3, answer[1] / 1e3))
        if len(took) == presses:
            break
    context.close()
    return took
