"""Traffic as a small discrete mixture, for the closed form."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.scenario.workload_block import Workload
from pdexplorer.workload.lengths import length_quantiles
from pdexplorer.workload.prefix import warm_hit_fraction
from pdexplorer.workload.requests import Requests
from pdexplorer.workload.traces import read_trace

_SUBPOINTS = 64


@dataclass(frozen=True, eq=False)
class RequestClasses:
    """Arrays of one shape: the weight of each class (sum 1) and its tokens. cached_tokens < input_tokens."""

    weight: NDArray[np.float64]
    input_tokens: NDArray[np.float64]
    cached_tokens: NDArray[np.float64]
    output_tokens: NDArray[np.float64]


def request_classes(workload: Workload, points: int = 16) -> RequestClasses:
    """The scenario's traffic as `points` classes, twice that where warm and cold requests differ.

    Each class is one of `points` equally likely strata of the prompt length, by its conditional mean, paired
    with a stratum of the output length so that the two are as good as uncorrelated. Means are exactly the
    scenario's. Lengths of a trace keep the trace's own means and their pairing, and its block hashes give the
    prefix hits.
    Raises ValueError where the trace cannot be read.
    """
    trace = None
    if "trace" in (workload.input_distribution, workload.output_distribution):
        trace = read_trace(workload.trace_file)
    inputs = _strata(
        workload.input_distribution, workload.input_tokens, workload.input_p95_tokens, points, trace, "input"
    )
    outputs = _strata(
        workload.output_distribution,
        workload.output_tokens,
        workload.output_p95_tokens,
        points,
        trace,
        "output",
    )
    if trace is not None and workload.input_distribution == workload.output_distribution == "trace":
        outputs = _stratum_means(trace.output_tokens[_by_input(trace)], points)
    else:
        outputs = _uncorrelated(inputs, outputs)
    if trace is not None and workload.input_distribution == "trace" and trace.block_hashes is not None:
        cached = _stratum_means(trace.cached_tokens[_by_input(trace)], points)
        return RequestClasses(np.full(points, 1.0 / points), inputs, cached, outputs)
    return _warm_and_cold(workload, inputs, outputs)


def _strata(
    distribution: str,
    mean_tokens: float,
    p95_tokens: float | None,
    points: int,
    trace: Requests | None,
    which: str,
) -> NDArray[np.float64]:
    """Conditional means of equally likely strata, ascending, shape (points,)."""
    if trace is not None and distribution == "trace":
        return _stratum_means(
            np.sort(trace.input_tokens if which == "input" else trace.output_tokens), points
        )
    u = (np.arange(points * _SUBPOINTS) + 0.5) / (points * _SUBPOINTS)
    lengths = length_quantiles(distribution, mean_tokens, p95_tokens, u)
    strata = lengths.reshape(points, _SUBPOINTS).mean(axis=1)
    # The midpoint rule misses a little of the tail, and lengths below one token were lifted to one.
    for _ in range(8):
        strata = np.maximum(1.0, strata * (mean_tokens / strata.mean()))
    return np.asarray(strata)


def _by_input(trace: Requests) -> NDArray[np.int64]:
    return np.argsort(trace.input_tokens, kind="stable")


def _stratum_means(values: NDArray[np.int64], points: int) -> NDArray[np.float64]:
    """Means over `points` equal shares of the values, in their order; works for fewer values than points."""
    edges = np.linspace(0.0, len(values), points + 1)
    total = np.interp(edges, np.arange(len(values) + 1), np.concatenate(([0.0], np.cumsum(values))))
    return np.asarray(np.diff(total) / np.diff(edges))


def _uncorrelated(inputs: NDArray[np.float64], outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The outputs in that order among i·step mod points whose covariance with the inputs is smallest."""
    points = len(inputs)
    target = inputs.mean() * outputs.mean()
    best, best_error = outputs, math.inf
    for step in range(1, points):
        if math.gcd(step, points) != 1:
            continue
        for offset in range(points):
            order = outputs[(np.arange(points) * step + offset) % points]
            error = abs(float((inputs * order).mean()) - target)
            if error < best_error * (1.0 - 1e-9):
                best, best_error = order, error
    return best


def _warm_and_cold(
    workload: Workload, inputs: NDArray[np.float64], outputs: NDArray[np.float64]
) -> RequestClasses:
    points = len(inputs)
    weight = np.full(points, 1.0 / points)
    hit = warm_hit_fraction(workload.prefix_hit_fraction, workload.warm_fraction)
    # One token of a prompt is always computed.
    cached = np.maximum(0.0, np.minimum(inputs * hit, inputs - 1.0))
    warm = workload.warm_fraction
    if hit == 0.0 or warm >= 1.0:
        return RequestClasses(weight, inputs, cached, outputs)
    return RequestClasses(
        np.concatenate((weight * warm, weight * (1.0 - warm))),
        np.concatenate((inputs, inputs)),
        np.concatenate((cached, np.zeros(points))),
        np.concatenate((outputs, outputs)),
    )
