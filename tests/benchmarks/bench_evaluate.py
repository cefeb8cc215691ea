"""Times of the closed form, printed: python -m tests.benchmarks.bench_evaluate."""

import time
from collections.abc import Callable

import numpy as np

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import evaluate
from pdexplorer.study.map import break_even_map


def best_ms(work: Callable[[], object], repeats: int = 7) -> tuple[float, float]:
    """(wall, processor) milliseconds of the fastest of several runs; they differ where the machine is
    shared.
    """
    walls, processors = [], []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return 1e3 * min(walls), 1e3 * min(processors)


def main() -> None:
    scenario = Scenario()
    evaluate(scenario)
    tokens, speed = np.geomspace(200, 64000, 40), np.geomspace(5, 800, 40)
    answers, limits = np.geomspace(10, 4000, 40), np.geomspace(8, 200, 40)
    cases: dict[str, Callable[[], object]] = {
        "evaluate": lambda: evaluate(scenario),
        "evaluate without break-evens": lambda: evaluate(scenario, with_break_even=False),
        "40×40 map, input tokens × network": lambda: break_even_map(
            scenario, x_values=tokens, y_values=speed
        ),
        "40×40 map, input × output tokens": lambda: break_even_map(
            scenario, y_key="workload.output_tokens", x_values=tokens, y_values=answers
        ),
        "40×40 map, input tokens × TPOT limit": lambda: break_even_map(
            scenario, y_key="slo.tpot_ms", x_values=tokens, y_values=limits
        ),
    }
    for name, work in cases.items():
        wall, processor = best_ms(work)
        print(f"{name:40s} {wall:7.1f} ms wall {processor:7.1f} ms processor")


if __name__ == "__main__":
    main()
