"""Prints what physics costs, and single all-reduces beside their measured times: `python -m
tests.benchmarks.bench_physics`. Not a test; nothing is asserted.
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.evidence.reduce_points import read_reduce_points, reduce_point_s
from pdexplorer.physics.instance import Instance, Parallelism, build_instance
from pdexplorer.physics.resolve import resolve_instance
from pdexplorer.physics.step import step_time_s
from pdexplorer.physics.timer import compile_timer, prefill_pairs
from pdexplorer.scenario.scenario import Scenario


def microseconds(call: Callable[[], object], repeats: int) -> float:
    """Mean time of a call, the first one (which compiles and remembers) left out."""
    call()
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats * 1e6


def main() -> None:
    """One line a figure."""
    catalog, scenario = load_catalog(), Scenario()

    def resolve() -> Instance:
        found = resolve_instance(catalog, scenario, accelerator_id="h100_sxm", tp=4)
        assert isinstance(found, Instance)
        return found

    instance = resolve()
    print(f"resolve and compile an instance       {microseconds(lambda: resolve().plan, 200):9.1f} us")
    for shape in ((), (40, 40), (50, 50)):
        tokens, batch = np.full(shape, 2048.0), np.full(shape, 64.0)
        took = microseconds(
            lambda tokens=tokens, batch=batch: step_time_s(  # type: ignore[misc]
                instance, prefill_tokens=tokens, decode_batch=batch, decode_context_tokens=4000.0
            ),
            300,
        )
        print(f"step_time_s of shape {shape!s:16} {took:9.1f} us")
    timer = compile_timer(instance)
    pairs = prefill_pairs(2048, 1000)
    counter = iter(range(10**9))
    seen = microseconds(lambda: timer.mixed_s(2048, pairs, 0.0, 1000.0, 0.0, 1, 64, 2.5e5, 0.0), 100_000)
    fresh = microseconds(
        lambda: timer.mixed_s(next(counter), pairs, 0.0, 1000.0, 0.0, 1, 64, 2.5e5, 0.0), 10_000
    )
    print(f"mixed_s, token counts seen before     {seen:9.2f} us")
    print(f"mixed_s, new token counts             {fresh:9.2f} us")
    decode = microseconds(lambda: timer.decode_coefficients(64), 100_000)
    print(f"decode_coefficients                   {decode:9.2f} us")
    all_reduces()


def all_reduces() -> None:
    """Predicted beside measured (vLLM's kernels, one node); the fit has seen these rows."""
    catalog = load_catalog()
    print("\nall-reduce           GPUs      MiB   measured   predicted")
    for point in read_reduce_points(Path(__file__).parents[1] / "reference" / "all_reduces.csv"):
        one = build_instance(
            catalog.accelerators[point.accelerator],
            catalog.models["llama_3_1_8b"],
            Parallelism(1),
            "bf16",
            "bf16",
            catalog.engines["vllm"],
        )
        assert isinstance(one, Instance)
        predicted = reduce_point_s(one.efficiency.collective, point, catalog)
        print(
            f"{point.accelerator:20} {point.gpus:4d} {point.payload_bytes / 2**20:8.3f} "
            f"{point.seconds * 1e6:8.1f} us {predicted * 1e6:8.1f} us  {predicted / point.seconds - 1:+.1%}"
        )


if __name__ == "__main__":
    main()
