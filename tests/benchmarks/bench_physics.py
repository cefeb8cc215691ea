"""Prints what physics costs: `python tests/benchmarks/bench_physics.py`. Not a test; nothing is asserted."""

import time
from collections.abc import Callable

import numpy as np

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.physics.instance import Instance, resolve_instance
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


if __name__ == "__main__":
    main()
