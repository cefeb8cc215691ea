"""Where along each setting the decision flips: a scan of the whole search, then a finer one inside each
crossing.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pdexplorer.study import words
from pdexplorer.study.search.axes import AXES, Axis, current
from pdexplorer.study.search.nearby import all_designs, distinct_designs, hats, near_designs
from pdexplorer.study.search.score import gain_of
from pdexplorer.study.search.space import Space
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
_CLASSES = 6


def gains(space: Space, axes: Mapping[str, Array], per_dollar: bool, points: int = 8) -> Array:
    """Gain of splitting at unrounded scale over cells: the disaggregated goodput per cost over the
    colocated one, of the best of all designs in each.
    """
    found = all_designs(space.single_precision, axes, per_dollar, points)
    return gain_of(*np.broadcast_arrays(*found.costs))


def break_evens(
    space: Space, per_dollar: bool, thresholds: Sequence[float], anchor: float | None
) -> tuple[BreakEven, ...]:
    """The nearest flip along every slider. thresholds: the gains at which the decision changes.

    anchor: the gain the verdict was decided by; the scan is scaled to meet it at the scenario's own value,
    so that whole instances shift the flip as they shift the decision.
    """
    scenario, catalog = space.scenario, space.catalog
    space = space.single_precision
    at = {key: current(scenario, catalog, key) for key in _sliders(space)}
    own = {key: value for key, value in at.items() if value is not None}
    axes = [AXES[key] for key in own]
    values = np.stack([_values(axis, own[axis.key]) for axis in axes])
    known = distinct_designs(space, _scans(space, own, axes, values), per_dollar, _CLASSES)
    gain = np.array(np.broadcast_to(gain_of(*np.broadcast_arrays(*known.costs)), values.shape))
    scale = np.array(
        [shift(x, y, own[axis.key], anchor) for x, y, axis in zip(values, gain, axes, strict=True)]
    )
    gain *= scale[:, None]
    turns = {
        row: turn[0]
        for row, axis in enumerate(axes)
        if (turn := _nearest(values[row], gain[row], own[axis.key], thresholds, axis)) is not None
    }
    lines = {axis.key: (values[row], gain[row]) for row, axis in enumerate(axes)}
    if turns:
        rows, left = np.array(list(turns)), np.array(list(turns.values()))
        turning, ends = [axes[row] for row in rows], left[:, None] + np.arange(2)
        pairs = zip(values[rows[:, None], ends], turning, strict=True)
        inner = np.stack([_between(low, high, _FINE, axis)[1:-1] for (low, high), axis in pairs])
        finer = near_designs(
            space, _scans(space, own, turning, inner), per_dollar, _CLASSES,
            known.cells(rows[:, None], ends, values.shape), np.eye(len(rows)),
            hats(np.linspace(0.0, 1.0, _FINE)[1:-1], 2),
        )  # fmt: skip
        found_there = np.broadcast_to(gain_of(*np.broadcast_arrays(*finer.costs)), inner.shape)
        for axis, row, k, x, y in zip(turning, rows, left, inner, found_there, strict=True):
            lines[axis.key] = (
                np.insert(values[row, k : k + 2], 1, x),
                np.insert(gain[row, k : k + 2], 1, y * scale[row]),
            )
    return tuple(break_even(axis, *lines[axis.key], own[axis.key], thresholds) for axis in axes)


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
    return np.sort(np.append(values, own))


def _between(low: float, high: float, count: int, axis: Axis) -> Array:
    return np.geomspace(low, high, count) if axis.scale == "log" else np.linspace(low, high, count)


def _scans(space: Space, own: Mapping[str, float], axes: Sequence[Axis], values: Array) -> dict[str, Array]:
    """Cells (axis, value): along each row one setting varies, and the others stay."""
    cells = {key: np.full(values.shape, value) for key, value in own.items()}
    for row, axis in enumerate(axes):
        cells[axis.key][row] = values[row]
    hit = "workload.prefix_hit_fraction"
    if hit in cells:
        cells[hit] = np.minimum(cells[hit], space.scenario.workload.warm_fraction)
    return cells


def shift(values: Array, gain: Array, own: float, anchor: float | None) -> float:
    here = float(gain[int(np.argmin(np.abs(values - own)))])
    usable = anchor is not None and np.isfinite(here) and here > 0.0 and np.isfinite(anchor) and anchor > 0.0
    return anchor / here if usable and anchor is not None else 1.0


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
