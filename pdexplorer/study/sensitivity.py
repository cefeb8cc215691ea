"""How far each input moves the gain of splitting: one row of a tornado each, the others held."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.metrics.money import price_of
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.break_even import SLIDERS, gains
from pdexplorer.study.compare import priced
from pdexplorer.study.search.axes import AXES, current
from pdexplorer.study.search.space import Space, design_space
from pdexplorer.study.search.space_of import mapped
from pdexplorer.study.search.spread import Key, spreads, with_factors
from pdexplorer.study.words import setting

Array = NDArray[np.float64]

STEP_RATIO = 1.25
HIT_STEP = 0.1
_KEYS = (*SLIDERS, "network.latency_ms", "routing.overhead_ms")
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class SensitivityRow:
    """low, high: the values tried on either side of the scenario's own, and the gain there; None where a side
    cannot run. step: what was done to it, in words.
    """

    key: str
    label: str
    unit: str
    value: float
    low_value: float
    high_value: float
    gain_low: float | None
    gain_high: float | None
    step: str

    @property
    def swing(self) -> float:
        """Width of the bar; infinite where one end has no gain to show."""
        if self.gain_low is None or self.gain_high is None:
            return float("inf")
        return abs(self.gain_high - self.gain_low)


@dataclass(frozen=True)
class Sensitivity:
    """rows: widest first. gain: at the scenario's own values, goodput per USD (or per GPU, gain_key) at
    unrounded scale.
    """

    gain: float | None
    gain_key: str
    rows: tuple[SensitivityRow, ...]


def sensitivity(scenario: Scenario, catalog: Catalog | None = None) -> Sensitivity:
    """Inputs by a quarter, prefix hit by ten points, prices by a quarter, kernels by their spread."""
    catalog = (catalog or load_catalog()).with_overrides(scenario.overrides)
    space = design_space(scenario, catalog)
    dollars = priced(space)
    own = {key: current(scenario, catalog, key) for key in _keys(scenario)}
    tried = {
        key: _ends(key, value, scenario)
        for key, value in own.items()
        if value is not None and (value > 0.0 or "hit" in key)
    }
    base, found = _scan(space, tried, {key: float(own[key] or 0.0) for key in tried}, dollars)
    rows = [
        SensitivityRow(
            key,
            setting(key),
            AXES[key].unit,
            float(own[key] or 0.0),
            *tried[key],
            *found[key],
            "± 10 points" if key == "workload.prefix_hit_fraction" else "× or ÷ 1.25",
        )
        for key in tried
    ]
    rows += _kernels(space, dollars)
    if dollars:
        rows += _prices(scenario, space, catalog)
    rows.sort(key=lambda row: -row.swing)
    return Sensitivity(
        _number(base), "goodput_per_dollar_ratio" if dollars else "goodput_per_gpu_ratio", tuple(rows)
    )


def _keys(scenario: Scenario) -> tuple[str, ...]:
    keys = list(_KEYS)
    workload = scenario.workload
    if workload.mode == "offline":
        keys = [key for key in keys if not key.startswith(("slo.", "routing.")) and "rate" not in key]
    elif workload.arrivals == "closed_loop":
        keys = ["workload.concurrency" if key == "workload.rate_per_s" else key for key in keys]
    if "trace" in (workload.input_distribution, workload.output_distribution):
        keys.remove("workload.prefix_hit_fraction")
    return tuple(keys)


def _ends(key: str, value: float, scenario: Scenario) -> tuple[float, float]:
    if key == "workload.prefix_hit_fraction":
        return max(value - HIT_STEP, 0.0), min(value + HIT_STEP, scenario.workload.warm_fraction, 0.98)
    return value / STEP_RATIO, value * STEP_RATIO


def _scan(
    space: Space, tried: Mapping[str, tuple[float, float]], own: Mapping[str, float], dollars: bool
) -> tuple[float, dict[str, tuple[float | None, float | None]]]:
    """Every input's two ends in one row of cells, the scenario itself first."""
    width = 1 + 2 * len(tried)
    axes: dict[str, Array] = {}
    for index, (key, ends) in enumerate(tried.items()):
        row = np.full((1, width), own[key])
        row[0, 1 + 2 * index : 3 + 2 * index] = ends
        axes[key] = row
    gain = np.broadcast_to(gains(space, axes, dollars, 16), (1, width))[0]
    pairs = gain[1:].reshape(-1, 2)
    return float(gain[0]), {
        key: (_number(low), _number(high)) for key, (low, high) in zip(tried, pairs, strict=True)
    }


def _kernels(space: Space, dollars: bool) -> list[SensitivityRow]:
    """All kernels of an accelerator slower or faster by their spread, compute-bound or memory-bound ones."""
    spread = spreads(space)
    rows = []
    for device, side in sorted({(key[0], key[2]) for key in spread}):
        keys = [key for key in spread if key[0] == device and key[2] == side]
        typical = float(np.mean([spread[key] for key in keys]))
        ends = []
        for sign in (-1.0, 1.0):
            factors: dict[Key, float] = {key: float(np.exp(-sign * spread[key])) for key in keys}
            moved = mapped(space, lambda i, f=factors: with_factors(i, f))  # type: ignore[misc]
            ends.append(_number(float(gains(moved, {}, dollars, 16).item())))
        rows.append(
            SensitivityRow(
                f"efficiency.{device}.{side}",
                f"{side}-bound kernels of {device}",
                "× speed",
                1.0,
                float(np.exp(-typical)),
                float(np.exp(typical)),
                ends[0],
                ends[1],
                "± one measured spread",
            )
        )
    return rows


def _prices(scenario: Scenario, space: Space, catalog: Catalog) -> list[SensitivityRow]:
    rows = []
    for device in dict.fromkeys(i.accelerator.id for i in (*space.prefill, *space.decode, *space.colocated)):
        price = price_of(catalog.accelerators[device], scenario.money).usd_per_hour or 0.0
        ends: list[float | None] = []
        for value in (price / STEP_RATIO, price * STEP_RATIO):
            prices = {**scenario.money.usd_per_hour, device: value}
            money = scenario.money.model_copy(update={"usd_per_hour": prices})
            changed = replace(space, scenario=scenario.model_copy(update={"money": money}))
            ends.append(_number(float(gains(changed, {}, True, 16).item())))
        key = f"money.usd_per_hour.{device}"
        low, high = price / STEP_RATIO, price * STEP_RATIO
        rows.append(
            SensitivityRow(key, setting(key), "USD/h", price, low, high, ends[0], ends[1], "× or ÷ 1.25")
        )
    return rows


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) and value > _LEAST else None
