"""The gain of splitting over any two settings, with the line where it breaks even."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import priced
from pdexplorer.study.contours import Point, contour_lines
from pdexplorer.study.search.axes import PRICE, Axis, axis_of
from pdexplorer.study.search.nearby import all_designs, hats, near_designs
from pdexplorer.study.search.score import gain_of
from pdexplorer.study.search.space import Space, design_space

Array = NDArray[np.float64]

_CLASSES, _CLASSES_OF_WHOLE = 6, 12
"""Lengths told apart; more where the whole request has a limit, for prompt and answer share that."""
_COARSE = 9
"""Along an axis, cells in which every design is tried."""


@dataclass(frozen=True, eq=False)
class MapResult:
    """gain (y, x): goodput per dollar (or per GPU, gain_key) of the best split over the best colocated
    fleet, each at unrounded scale; 0 where only colocated can, infinite where only split can, NaN where
    neither. winner (y, x): `disaggregated`, `colocated`, `equal` within 10%, `neither`. contours: lines
    of gain = 1.
    """

    x_key: str
    y_key: str
    x_values: Array
    y_values: Array
    gain: Array
    gain_key: str
    winner: NDArray[np.str_]
    contours: list[list[Point]]

    def to_json(self) -> dict[str, Any]:
        """Plain types; a gain that is not finite is null, and the winner says which side cannot."""
        shown = [[float(g) if np.isfinite(g) else None for g in row] for row in self.gain]
        return {
            "x_key": self.x_key,
            "y_key": self.y_key,
            "x_values": [float(x) for x in self.x_values],
            "y_values": [float(y) for y in self.y_values],
            "gain_key": self.gain_key,
            "gain": shown,
            "winner": self.winner.tolist(),
            "contours": [[list(point) for point in line] for line in self.contours],
        }


def break_even_map(
    scenario: Scenario,
    x_key: str = "workload.input_tokens",
    y_key: str = "network.nic_gbit_per_s",
    x_values: Sequence[float] | Array | None = None,
    y_values: Sequence[float] | Array | None = None,
    catalog: Catalog | None = None,
) -> MapResult:
    """Both designs searched in every cell. ValueError for a key that cannot be an axis."""
    catalog = (catalog or load_catalog()).with_overrides(scenario.overrides)
    x_axis, y_axis = axis_of(x_key, catalog), axis_of(y_key, catalog)
    if x_key == y_key:
        raise ValueError(f"map axes = {x_key!r} twice; they must differ")
    x, y = _cells(x_axis, x_values), _cells(y_axis, y_values)
    scenario = _with_axes_on(scenario, {x_key: float(x[0]), y_key: float(y[0])})
    space = design_space(scenario, catalog)
    per_dollar = priced(space)
    axes = {x_key: x[None, :], y_key: y[:, None]}
    gain = _gains(space, axes, per_dollar, (len(y), len(x)))
    field = np.clip(np.log(np.clip(gain, 1e-3, 1e3)), -1.0, 1.0)
    lines = contour_lines(_straight(x_axis, x), _straight(y_axis, y), field, 0.0)
    back = [[(_bent(x_axis, px), _bent(y_axis, py)) for px, py in line] for line in lines]
    return MapResult(
        x_key, y_key, x, y, gain, "goodput_per_dollar_ratio" if per_dollar else "goodput_per_gpu_ratio",
        _winner(gain), back,
    )  # fmt: skip


def _gains(space: Space, axes: Mapping[str, Array], per_dollar: bool, shape: tuple[int, int]) -> Array:
    space = space.single_precision
    rows, columns = (_coarse(size) for size in shape)
    thin = {
        key: values[rows if len(values) > 1 else slice(None)][
            :, columns if values.shape[1] > 1 else slice(None)
        ]
        for key, values in axes.items()
    }
    whole = space.scenario.slo.e2e_s is not None or "slo.e2e_s" in axes
    points = _CLASSES_OF_WHOLE if whole and space.scenario.workload.mode == "online" else _CLASSES
    known = all_designs(space, thin, per_dollar, points)
    if len(rows) < shape[0] or len(columns) < shape[1]:
        down, across = (
            hats(np.interp(np.arange(size), at, np.arange(len(at))), len(at))
            for size, at in zip(shape, (rows, columns), strict=True)
        )
        known = near_designs(space, axes, per_dollar, points, known, down, across)
    return np.broadcast_to(gain_of(*np.broadcast_arrays(*known.costs)), shape)


def _coarse(size: int) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, size - 1, min(size, _COARSE)).round().astype(np.intp))


def _cells(axis: Axis, values: Sequence[float] | Array | None) -> Array:
    if values is not None:
        return np.sort(np.asarray(values, dtype=float))
    spaced = np.geomspace if axis.scale == "log" else np.linspace
    return np.asarray(spaced(axis.low, axis.high, 40))


def _with_axes_on(scenario: Scenario, axes: Mapping[str, float]) -> Scenario:
    """Settings that use the axis: burstiness means Gamma arrivals, requests in flight a closed loop, and a
    price is known.
    """
    arrivals: Mapping[str, str] = {"workload.burstiness": "gamma", "workload.concurrency": "closed_loop"}
    for key, value in axes.items():
        if key in arrivals:
            workload = scenario.workload.model_copy(update={"arrivals": arrivals[key]})
            scenario = scenario.model_copy(update={"workload": workload})
        if key.startswith(PRICE):
            prices = {**scenario.money.usd_per_hour, key.removeprefix(PRICE): value}
            money = scenario.money.model_copy(update={"usd_per_hour": prices})
            scenario = scenario.model_copy(update={"money": money})
    return scenario


def _straight(axis: Axis, values: Array) -> Array:
    return np.log(values) if axis.scale == "log" else values


def _bent(axis: Axis, value: float) -> float:
    return float(np.exp(value)) if axis.scale == "log" else value


def _winner(gain: Array) -> NDArray[np.str_]:
    names = np.full(gain.shape, "equal", dtype="<U13")
    names[gain >= 1.1] = "disaggregated"
    names[gain <= 1.0 / 1.1] = "colocated"
    names[np.isnan(gain)] = "neither"
    return names
