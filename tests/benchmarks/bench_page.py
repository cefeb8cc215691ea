"""Prints the page's script time: `python -m tests.benchmarks.bench_page`. Nothing is asserted.

The page runs as Streamlit's AppTest runs it, in this process; the time is `main()` alone, so neither
AppTest's own work nor the browser's is in it. The processor time of the processes that work out answers and
maps is counted apart, the whole of a first run's start in it; the wall time waits for both.
"""

import os
import statistics

from streamlit.testing.v1 import AppTest

from tests.benchmarks.page_server import cpu_of, tree

TRIES = 15


def _timed_page() -> None:
    import time

    import streamlit as st

    from pdexplorer.ui.page import main

    cpu, wall = time.process_time(), time.perf_counter()
    main()
    st.session_state["took"] = (time.perf_counter() - wall, time.process_time() - cpu)


def main() -> None:
    """A first run, reruns with everything cached, and reruns with a value nobody has asked for yet."""
    page = AppTest.from_function(_timed_page, default_timeout=60)
    page.run()
    assert not page.exception, page.exception
    print(f"load average {os.getloadavg()[0]:.2f}")
    _print("first run", [(*page.session_state["took"], _beside_cpu_s())])
    _print("rerun, cached (target 60 ms)", [_again(page) for _ in range(TRIES)])
    inputs = page.number_input(key="in.workload.input_tokens")
    _print(
        "new input length, same map (target 120 ms)",
        [_again(page, inputs, 5000.0 + 37 * i) for i in range(TRIES)],
    )
    outputs = page.number_input(key="in.workload.output_tokens")
    _print(
        "new output length, new map (target 120 ms)",
        [_again(page, outputs, 205.0 + 3 * i) for i in range(TRIES)],
    )


def _again(page: AppTest, widget=None, value=None) -> tuple[float, float, float]:
    before = _beside_cpu_s()
    if widget is not None:
        page.number_input(key=widget.key).set_value(value)
    page.run()
    assert not page.exception
    return *page.session_state["took"], _beside_cpu_s() - before


def _beside_cpu_s() -> float:
    return sum(cpu_of(process) for process in tree(os.getpid())[1:])


def _print(what: str, took: list[tuple[float, float, float]]) -> None:
    wall, cpu, beside = (sorted(values) for values in zip(*took, strict=True))
    print(
        f"{what:<45} wall median {statistics.median(wall) * 1e3:7.1f} ms, best {wall[0] * 1e3:7.1f} ms; "
        f"CPU median {statistics.median(cpu) * 1e3:7.1f} ms, best {cpu[0] * 1e3:7.1f} ms; "
        f"processes beside it {statistics.fmean(beside) * 1e3:4.0f} ms"
    )


if __name__ == "__main__":
    main()
