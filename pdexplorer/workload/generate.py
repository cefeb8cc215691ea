"""A scenario's traffic as individual requests, from independent seeded streams."""

import numpy as np
from numpy.typing import NDArray

from pdexplorer.scenario.workload_block import Workload
from pdexplorer.workload.arrivals import gamma_arrivals, poisson_arrivals
from pdexplorer.workload.lengths import length_sample
from pdexplorer.workload.prefix import cached_sample
from pdexplorer.workload.requests import Requests, selected
from pdexplorer.workload.traces import read_trace


def generate_requests(
    workload: Workload,
    requests: int,
    seed: int,
    rate_scale: float = 1.0,
    window_s: tuple[float, float] | None = None,
) -> Requests:
    """That many requests (fewer where a trace has fewer), by arrival; arrivals come rate_scale times as fast.

    Arrivals, prompt lengths, output lengths and prefix hits each have their own stream, so changing one
    quantity leaves the draws of the others. Trace arrivals keep the trace's rows in order; other arrivals
    with trace lengths draw rows at random. A closed loop's arrivals are 0: the simulator lets a new one in
    as one finishes.
    Of a batch job (offline) every request is there at time 0.
    Raises ValueError where the trace cannot be read or has no arrival times.
    """
    arrivals, inputs, outputs, prefixes = (
        np.random.Generator(np.random.PCG64(stream)) for stream in np.random.SeedSequence(seed).spawn(4)
    )
    trace = None
    if "trace" in (workload.arrivals, workload.input_distribution, workload.output_distribution):
        trace = read_trace(workload.trace_file, window_s, seed)
        trace = _rows(workload, trace, requests, arrivals)
        requests = len(trace)
    rate_per_s = workload.rate_per_s * rate_scale
    arrival_s: NDArray[np.float64] = np.zeros(requests)
    if workload.mode == "offline":
        pass  # a batch job is all there at the start
    elif workload.arrivals == "poisson":
        arrival_s = poisson_arrivals(rate_per_s, requests, arrivals)
    elif workload.arrivals == "gamma":
        arrival_s = gamma_arrivals(rate_per_s, workload.burstiness, requests, arrivals)
    elif trace is not None and workload.arrivals == "trace":
        arrival_s = trace.arrival_s / rate_scale
    if trace is not None and workload.input_distribution == "trace":
        input_tokens = trace.input_tokens
    else:
        input_tokens = length_sample(
            workload.input_distribution, workload.input_tokens, workload.input_p95_tokens, requests, inputs
        )
    if trace is not None and workload.output_distribution == "trace":
        output_tokens = trace.output_tokens
    else:
        output_tokens = length_sample(
            workload.output_distribution,
            workload.output_tokens,
            workload.output_p95_tokens,
            requests,
            outputs,
        )
    hashes = trace.block_hashes if trace is not None and workload.input_distribution == "trace" else None
    if trace is not None and hashes is not None:
        cached_tokens = trace.cached_tokens
    else:
        cached_tokens = cached_sample(
            input_tokens, workload.prefix_hit_fraction, workload.warm_fraction, prefixes
        )
    dropped_rows = 0 if trace is None else trace.dropped_rows
    return Requests(arrival_s, input_tokens, cached_tokens, output_tokens, hashes, dropped_rows)


def _rows(workload: Workload, trace: Requests, requests: int, generator: np.random.Generator) -> Requests:
    if workload.arrivals != "trace":
        return selected(trace, generator.integers(0, len(trace), requests))
    if not trace.timed:
        raise ValueError(
            f"workload.arrivals = 'trace', but {workload.trace_file} has lengths only; "
            "allowed: poisson, gamma or closed_loop"
        )
    return selected(trace, np.arange(min(requests, len(trace))))
