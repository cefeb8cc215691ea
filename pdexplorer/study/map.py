"""The gain of splitting over any two settings, with the line where it breaks even."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.axes import AXES, VECTOR_AXES
from pdexplorer.study.break_even import gains
from pdexplorer.study.compare import priced
from pdexplorer.study.contours import Point, contour_lines
from pdexplorer.study.space import design_space

Array = NDArray[np.float64]

_ITERATIONS = 8
_CLASSES = 6


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
    for key in (x_key, y_key):
        if key not in VECTOR_AXES:
            raise ValueError(f"map axis = {key!r} must be one of {', '.join(VECTOR_AXES)}")
    if x_key == y_key:
        raise ValueError(f"map axes = {x_key!r} twice; they must differ")
    catalog = (catalog or load_catalog()).with_overrides(scenario.overrides)
    x, y = (_axis(key, values) for key, values in ((x_key, x_values), (y_key, y_values)))
    scenario = _with_axes_on(scenario, (x_key, y_key))
    space = design_space(scenario, catalog)
    per_dollar = priced(space)
    axes = {x_key: x[None, :], y_key: y[:, None]}
    gain = np.broadcast_to(gains(space, axes, per_dollar, _ITERATIONS, _CLASSES), (len(y), len(x)))
    field = np.clip(np.log(np.clip(gain, 1e-3, 1e3)), -1.0, 1.0)
    lines = contour_lines(_straight(x_key, x), _straight(y_key, y), field, 0.0)
    back = [[(_bent(x_key, px), _bent(y_key, py)) for px, py in line] for line in lines]
    return MapResult(
        x_key, y_key, x, y, gain, "goodput_per_dollar_ratio" if per_dollar else "goodput_per_gpu_ratio",
        _winner(gain), back,
    )  # fmt: skip


def _axis(key: str, values: Sequence[float] | Array | None) -> Array:
    if values is not None:
        return np.sort(np.asarray(values, dtype=float))
    axis = AXES[key]
    if axis.scale == "log":
        return np.geomspace(axis.low, axis.high, 40)
    return np.linspace(axis.low, axis.high, 40)


def _with_axes_on(scenario: Scenario, keys: tuple[str, str]) -> Scenario:
    """Arrivals that use the axis: burstiness means Gamma arrivals, requests in flight a closed loop."""
    arrivals: Mapping[str, str] = {"workload.burstiness": "gamma", "workload.concurrency": "closed_loop"}
    for key in keys:
        if key in arrivals:
            workload = scenario.workload.model_copy(update={"arrivals": arrivals[key]})
            scenario = scenario.model_copy(update={"workload": workload})
    return scenario


def _straight(key: str, values: Array) -> Array:
    return np.log(values) if AXES[key].scale == "log" else values


def _bent(key: str, value: float) -> float:
    return float(np.exp(value)) if AXES[key].scale == "log" else value


def _winner(gain: Array) -> NDArray[np.str_]:
    names = np.full(gain.shape, "equal", dtype="<U13")
    names[gain >= 1.1] = "disaggregated"
    names[gain <= 1.0 / 1.1] = "colocated"
    names[np.isnan(gain)] = "neither"
    return names
