"""Where along each setting the decision flips: a scan of the whole search, then a finer one inside each
crossing.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.load import load_of, single_precision
from pdexplorer.study import words
from pdexplorer.study.axes import AXES, Axis, current
from pdexplorer.study.nearby import nearby_costs
from pdexplorer.study.score import (
    MANY_CELLS,
    colocated_cost,
    disaggregated_cost,
    gain_of,
    score_colocated,
    score_disaggregated,
)
from pdexplorer.study.space import Space
from pdexplorer.verdict import BreakEven

Array = NDArray[np.float64]

SLIDERS = (
    "workload.input_tokens",
    "workload.output_tokens",
    "workload.prefix_hit_fraction",
    "workload.rate_per_s",
    "network.nic_gbit_per_s",
    "slo.ttft_s",
    "slo.tpot_ms",
)
_SCAN = 9
_FINE = 4
_SCAN_ITERATIONS = 7
_CLASSES = 6


def gains(
    space: Space, axes: Mapping[str, Array], per_dollar: bool, iterations: int = 10, points: int = 8
) -> Array:
    """Gain of splitting at unrounded scale over cells: the disaggregated goodput per cost over the
    colocated one.
    """
    load = single_precision(load_of(space.scenario, axes, points))
    space = space.single_precision
    shape = np.broadcast_shapes((1, 1), *(value.shape for value in axes.values()))
    if shape[0] * shape[1] > MANY_CELLS:
        return gain_of(*nearby_costs(space, load, axes, per_dollar, iterations, points))
    colocated = colocated_cost(space, score_colocated(space, load, iterations), per_dollar)
    split = disaggregated_cost(space, score_disaggregated(space, load, axes, iterations), per_dollar)
    return gain_of(*np.broadcast_arrays(colocated, split))


def break_evens(
    space: Space, per_dollar: bool, thresholds: Sequence[float], anchor: float | None
) -> tuple[BreakEven, ...]:
    """The nearest flip along every slider. thresholds: the gains at which the decision changes.

    anchor: the gain the verdict was decided by; the scan is scaled to meet it at the scenario's own value,
    so that whole instances shift the flip as they shift the decision.
    """
    scenario, catalog = space.scenario, space.catalog
    keys = _sliders(space)
    at = {key: current(scenario, catalog, key) for key in keys}
    scans = {key: _values(AXES[key], value) for key, value in at.items() if value is not None}
    base = {key: value for key, value in at.items() if value is not None}
    found = _scan(space, scans, base, per_dollar)
    fine: dict[str, Array] = {}
    for key, values in scans.items():
        found[key] = found[key] * shift(values, found[key], base[key], anchor)
        bracket = _nearest(values, found[key], base[key], thresholds, AXES[key])
        if bracket is not None:
            low, high = values[bracket[0]], values[bracket[0] + 1]
            fine[key] = _between(low, high, _FINE, AXES[key])
    finer = _scan(space, fine, base, per_dollar) if fine else {}
    results = []
    for key, values in scans.items():
        axis = AXES[key]
        if key in fine:
            scale = _shift_of(values, found[key], fine[key], finer[key])
            values, gain = fine[key], finer[key] * scale
        else:
            gain = found[key]
        results.append(break_even(axis, values, gain, base[key], thresholds))
    return tuple(results)


def _sliders(space: Space) -> tuple[str, ...]:
    workload = space.scenario.workload
    if workload.mode == "offline":
        return tuple(key for key in SLIDERS if not key.startswith("slo.") and key != "workload.rate_per_s")
    traces = (workload.input_distribution, workload.output_distribution)
    keys = [
        "workload.concurrency" if key == "workload.rate_per_s" and workload.arrivals == "closed_loop" else key
        for key in SLIDERS
    ]
    return tuple(key for key in keys if not (key == "workload.prefix_hit_fraction" and "trace" in traces))


def _values(axis: Axis, own: float) -> Array:
    """The scan, with the scenario's own value among it."""
    values = _between(min(axis.low, own), max(axis.high, own), _SCAN, axis)
    return np.unique(np.append(values, own))


def _between(low: float, high: float, count: int, axis: Axis) -> Array:
    return np.geomspace(low, high, count) if axis.scale == "log" else np.linspace(low, high, count)


def _scan(
    space: Space, scans: Mapping[str, Array], base: Mapping[str, float], per_dollar: bool
) -> dict[str, Array]:
    """Every slider's values in one row of cells, the others held."""
    sizes = [len(values) for values in scans.values()]
    edges = np.concatenate(([0], np.cumsum(sizes)))
    axes = {}
    for index, (key, values) in enumerate(scans.items()):
        row = np.full((1, int(edges[-1])), base[key])
        row[0, edges[index] : edges[index + 1]] = values
        axes[key] = row
    if "workload.prefix_hit_fraction" in axes and space.scenario.workload.warm_fraction < 1.0:
        axes["workload.prefix_hit_fraction"] = np.minimum(
            axes["workload.prefix_hit_fraction"], space.scenario.workload.warm_fraction
        )
    gain = np.broadcast_to(gains(space, axes, per_dollar, _SCAN_ITERATIONS, _CLASSES), (1, int(edges[-1])))[0]
    return {key: gain[edges[i] : edges[i + 1]].copy() for i, key in enumerate(scans)}


def shift(values: Array, gain: Array, own: float, anchor: float | None) -> float:
    here = float(gain[int(np.argmin(np.abs(values - own)))])
    usable = anchor is not None and np.isfinite(here) and here > 0.0 and np.isfinite(anchor) and anchor > 0.0
    return anchor / here if usable and anchor is not None else 1.0


def _shift_of(values: Array, gain: Array, fine: Array, finer: Array) -> float:
    """Keep the scale of the coarse scan, which shares its end points with the fine one."""
    at = int(np.argmin(np.abs(values - fine[0])))
    usable = np.isfinite(gain[at]) and np.isfinite(finer[0]) and finer[0] > 0.0 and gain[at] > 0.0
    return float(gain[at] / finer[0]) if usable else 1.0


def _nearest(
    values: Array, gain: Array, own: float, thresholds: Sequence[float], axis: Axis
) -> tuple[int, float] | None:
    """(index of the interval, threshold) of the crossing nearest to the own value, in the axis's measure."""
    x = np.log(np.maximum(values, 1e-12)) if axis.scale == "log" else values
    here = np.log(max(own, 1e-12)) if axis.scale == "log" else own
    best: tuple[float, int, float] | None = None
    for threshold in thresholds:
        above = np.nan_to_num(gain, nan=0.0) >= threshold
        for index in np.nonzero(above[1:] != above[:-1])[0]:
            if np.isnan(gain[index]) or np.isnan(gain[index + 1]):
                continue
            distance = abs(0.5 * (x[index] + x[index + 1]) - here)
            if best is None or distance < best[0]:
                best = float(distance), int(index), threshold
    return None if best is None else (best[1], best[2])


def break_even(axis: Axis, values: Array, gain: Array, own: float, thresholds: Sequence[float]) -> BreakEven:
    crossing = _nearest(values, gain, own, thresholds, axis)
    if crossing is None:
        return BreakEven(axis.key, None, axis.unit, None, words.no_flip(axis.key))
    index, threshold = crossing
    low, high = np.clip(gain[index : index + 2], 1e-6, 1e6)
    share = (np.log(threshold) - np.log(low)) / (np.log(high) - np.log(low))
    ends = values[index], values[index + 1]
    if axis.scale == "log":
        value = float(np.exp(np.log(ends[0]) + share * (np.log(ends[1]) - np.log(ends[0]))))
    else:
        value = float(ends[0] + share * (ends[1] - ends[0]))
    direction = "above" if high > low else "below"
    return BreakEven(axis.key, value, axis.unit, direction, words.flip(axis.key, value, axis.unit, direction))  # type: ignore[arg-type]
