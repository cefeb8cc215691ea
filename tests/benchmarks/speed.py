"""Prints how long the main paths take: `python -m tests.benchmarks.speed`. Nothing is asserted."""

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from pdexplorer.scenario.presets import load_presets
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.study.compare import evaluate
from pdexplorer.study.map import break_even_map
from pdexplorer.workload.generate import generate_requests

_PRESET = "rag_h100"
_TRIES = 5


def main() -> None:
    """One line a path: the best and the median of a few tries."""
    scenario = load_presets()[_PRESET].scenario
    evaluation = evaluate(scenario)
    inputs, rates = np.geomspace(256, 131_072, 40), np.geomspace(10, 800, 40)

    def process() -> None:
        subprocess.run(
            [sys.executable, "-m", "pdexplorer", "evaluate", _PRESET], check=True, capture_output=True
        )

    def replay() -> None:
        requests = generate_requests(scenario.workload, 2000, seed=0)
        if evaluation.colocated_fleet is not None:
            simulate_colocated(evaluation.colocated_fleet, requests, SimulationOptions())
        if evaluation.disaggregated_fleet is not None:
            simulate_disaggregated(evaluation.disaggregated_fleet, requests, SimulationOptions())

    def grid() -> None:
        break_even_map(scenario, "workload.input_tokens", "network.nic_gbit_per_s", inputs, rates)

    _print_time("evaluate as a process (target 1,500 ms)", process)
    _print_time("evaluate once imported (target 50 ms)", lambda: evaluate(scenario))
    _print_time("40x40 map (target 150 ms)", grid)
    _print_time("2,000 requests through both fleets (target 1,000 ms)", replay)


def _print_time(what: str, work: Callable[[], object]) -> None:
    took_ms = []
    for _ in range(_TRIES):
        start = time.perf_counter()
        work()
        took_ms.append((time.perf_counter() - start) * 1e3)
    print(f"{what:<55} best {min(took_ms):8.1f} ms, median {sorted(took_ms)[_TRIES // 2]:8.1f} ms")


if __name__ == "__main__":
    main()
