"""Latency percentiles of the closed form, from weighted draws on a fixed grid."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.metrics.outcome import Percentiles
from pdexplorer.steady.load import Load
from pdexplorer.steady.tails import weibull_of
from pdexplorer.workload.normal import normal_quantile

Array = NDArray[np.float64]

_NODES = 128


@dataclass(frozen=True, eq=False)
class Latencies:
    """Weighted draws: (draws,) each. tpot_s: NaN for requests of one token, which have none."""

    weight: Array
    ttft_s: Array
    tpot_s: Array
    e2e_s: Array


def latency_draws(
    load: Load,
    service_s: Array,
    after_s: float,
    wait_share: float,
    mean_wait_s: float,
    step_s: float,
    interference_s: float,
    variance: float | Array,
    wobble_s: float,
    ceiling_s: float,
    late_s: Array,
    wait_cv2: float = 1.0,
) -> Latencies:
    """Every class at a grid of its prompt lengths, waits and interference; low-discrepancy, so repeatable.

    variance: of the interference, times a request's steps; by class (classes, 1), or one for all.
    """
    index = np.arange(_NODES)
    u_wait = (index + 0.5) / _NODES
    u_tpot = ((index * 0.6180339887498949) + 0.5) % 1.0
    u_size = ((index * 0.7548776662466927) + 0.5) % 1.0
    low, high = load.low_ratio[:, None], load.high_ratio[:, None]
    size = service_s[:, None] * (low + (high - low) * u_size)
    conditional = mean_wait_s / max(wait_share, 1e-12)
    rest = np.clip((1.0 - u_wait) / max(wait_share, 1e-12), 1e-9, 1.0)
    tail, scale = (float(x) for x in weibull_of(wait_cv2))
    ttft = after_s + size + conditional * scale * (-np.log(rest)) ** (1.0 / tail)
    steps = np.maximum(load.decode_steps[:, 0, 0], 1.0)[:, None]
    shift = 3.0 * np.sqrt(0.5) * wobble_s + 1e-7
    mean = interference_s + shift
    shape = 3.0 * mean / np.sqrt(variance / steps + 0.5 * wobble_s * wobble_s + 1e-18)
    z = normal_quantile(np.asarray(u_tpot, dtype=np.float64))
    root = np.maximum(1.0 - 1.0 / shape**2 + z / shape, 0.0)
    tpot = np.minimum(step_s - shift + mean * root**3, ceiling_s) + late_s[:, None] / steps
    e2e = ttft + load.decode_steps[:, 0, 0][:, None] * tpot
    weight = np.broadcast_to(load.weight[:, None] / _NODES, ttft.shape)
    decodes = np.broadcast_to(load.decode_steps[:, 0, 0][:, None] >= 0.5, ttft.shape)
    return Latencies(weight.ravel(), ttft.ravel(), np.where(decodes, tpot, np.nan).ravel(), e2e.ravel())


def percentiles(values: Array, weight: Array) -> Percentiles:
    order = np.argsort(values)
    below = np.cumsum(weight[order])
    at = np.minimum(np.searchsorted(below, np.array([0.5, 0.95, 0.99]) * below[-1]), len(values) - 1)
    p50, p95, p99 = (float(value) for value in values[order][at])
    return Percentiles(p50, p95, p99)


def within_classes(load: Load, values: Array) -> tuple[Array, Array]:
    """(values, weights) spread over each class's share of the prompt lengths, from one value a class."""
    u = (np.arange(_NODES) + 0.5) / _NODES
    low, high = load.low_ratio[:, None], load.high_ratio[:, None]
    spread = values[:, None] * (low + (high - low) * u)
    return spread.ravel(), np.broadcast_to(load.weight[:, None] / _NODES, spread.shape).ravel()
