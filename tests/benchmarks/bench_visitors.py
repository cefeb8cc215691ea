"""Prints what visitors wait for: `python -m tests.benchmarks.bench_visitors`. Nothing is asserted.

A fresh server each time, started as `pdexplorer app` starts it. First loads and key presses are timed inside
Debian's chromium; the twenty visitors speak the page's websocket protocol, so that two cores are not spent on
twenty browsers. Their processor time is counted apart from the server's.
"""

import asyncio
import os
import random
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.page_browser import EMPTY, first_load_s, key_presses_s, opened
from tests.benchmarks.page_server import Server, cpu_of, served, tree
from tests.benchmarks.page_visitor import Seen, Visitor, visit

VISITORS, EVERY_S, MINUTE_S = 20, 4.0, 60.0
PRESSES = 25
CHANGED = ("in.workload.output_tokens", "in.workload.input_tokens", "in.workload.rate_per_s")
PRESETS = ("rag_h100", "short_chat_h100", "agent_long_context", "code_generation")


def main() -> None:
    """All of them, or those named: load, keys, visitors."""
    wanted = sys.argv[1:] or ["load", "keys", "visitors"]
    if "load" in wanted:
        _loads()
    if "keys" in wanted:
        _keys()
    if "visitors" in wanted:
        with served() as server:
            asyncio.run(_visitors(server))


def _loads() -> None:
    """The very first visit after the server's start, then visits by others, each with an empty browser."""
    with TemporaryDirectory() as folder, opened() as browser:
        script = Path(folder) / "empty.py"
        script.write_text(EMPTY)
        with served(str(script)) as server:
            first_load_s(browser, server.address, charts=0)
            empty = statistics.median(first_load_s(browser, server.address, charts=0)[0] for _ in PRESETS)
    with served() as server, opened() as browser:
        first = first_load_s(browser, server.address)
        later = [first_load_s(browser, f"{server.address}?preset={name}") for name in PRESETS]
        again = [first_load_s(browser, f"{server.address}?preset={name}") for name in PRESETS]
    print(f"load average {os.getloadavg()[0]:.2f}; server answered {server.ready_s:.1f} s after its start")
    print(f"an empty page of Streamlit's      {empty:.2f} s (median of {len(PRESETS)})")
    print(f"first visit ever (target 3 s)    verdict {first[0]:.2f} s, charts drawn {first[1]:.2f} s")
    for what, found in (("first visit, new question", later), ("first visit, known question", again)):
        verdict, drawn = (statistics.median(values) for values in zip(*found, strict=True))
        print(f"{what:<32} verdict {verdict:.2f} s, charts drawn {drawn:.2f} s (medians of {len(found)})")


def _keys() -> None:
    with served() as server, opened() as browser:
        first_load_s(browser, server.address)
        before, own = server.cpu_s(), cpu_of(os.getpid())
        presses = key_presses_s(browser, f"{server.address}?preset=rag_h100", PRESSES)
        server_s = server.cpu_s() - before
        browser_s = sum(cpu_of(p) for p in tree(os.getpid()) if p not in tree(server.process)) - own
    print(
        f"load average {os.getloadavg()[0]:.2f}; {len(presses)} presses; CPU of server {server_s:.1f} s, "
        f"of browser and driver {browser_s:.1f} s"
    )
    for what, values in zip(
        ("new verdict (target 500)", "whole page with map"), zip(*presses, strict=True), strict=True
    ):
        took = sorted(value * 1e3 for value in values)
        print(
            f"key press to {what:<25} P50 {statistics.median(took):.0f} ms, best {took[0]:.0f}, "
            f"worst {took[-1]:.0f}"
        )


async def _visitors(server: Server) -> None:
    visitors = [await visit(server.port, {"preset": PRESETS[i % len(PRESETS)]}) for i in range(VISITORS)]
    opened_first = [await visitor.open() for visitor in visitors]
    cpu, page_cpu, own = server.cpu_s(), server.page_cpu_s(), time.process_time()
    started = time.perf_counter()
    most = server.rss_mib()
    seen: list[Seen] = []

    async def change(visitor: Visitor, turn: int) -> None:
        draw = random.Random(turn)
        await asyncio.sleep(EVERY_S * turn / VISITORS)
        while time.perf_counter() - started < MINUTE_S:
            next_at = time.perf_counter() + EVERY_S
            key = draw.choice(CHANGED)
            value = round(10 ** draw.uniform(2.0, 3.5)) / (100 if key.endswith("per_s") else 1)
            seen.append(await visitor.set_number(key, float(value)))
            await asyncio.sleep(max(next_at - time.perf_counter(), 0.0))

    tasks = [asyncio.create_task(change(visitor, turn)) for turn, visitor in enumerate(visitors)]
    while not all(task.done() for task in tasks):
        await asyncio.wait(tasks, timeout=1.0)
        most = max(most, server.rss_mib())
    await asyncio.gather(*tasks)
    took, cpu = time.perf_counter() - started, server.cpu_s() - cpu
    page_cpu = server.page_cpu_s() - page_cpu
    own = time.process_time() - own
    errors = [error for answer in (*opened_first, *seen) for error in answer.errors]
    print(f"load average {os.getloadavg()[0]:.2f}")
    print(
        f"{VISITORS} visitors, a change every {EVERY_S:g} s for {took:.0f} s: {len(seen)} changes, "
        f"{len(errors)} errors; server {cpu / took:.2f} cores, {cpu / len(seen) * 1e3:.0f} ms a change "
        f"({page_cpu / len(seen) * 1e3:.0f} of it the page's own process); "
        f"visitors' own {own / took:.2f} cores; most memory {most:.0f} MiB (target 600)"
    )
    for what, values in (
        ("verdict", [s.verdict_s for s in seen]),
        ("whole page with map (target P95 2 s)", [s.done_s for s in seen]),
    ):
        cut = statistics.quantiles(values, n=20)
        print(f"  {what:<40} P50 {cut[9]:.2f} s, P95 {cut[18]:.2f} s, worst {max(values):.2f} s")
    for error in dict.fromkeys(errors):
        print(f"  error: {error}")


if __name__ == "__main__":
    main()
