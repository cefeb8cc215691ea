"""Settings that can vary over the cells of one vectorised evaluation, and what the page calls them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.steady.load import LOAD_AXES
from pdexplorer.steady.wire import WIRE_AXES

Array = NDArray[np.float64]

VECTOR_AXES = (*LOAD_AXES, *WIRE_AXES)
PRICE = "money.usd_per_hour."
"""Prefix of the price of an accelerator."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One setting: its bounds worth scanning, its unit, and whether they are spaced by ratio or by
    difference.
    """

    key: str
    low: float
    high: float
    unit: str
    scale: Literal["log", "linear"] = "log"


AXES = {
    axis.key: axis
    for axis in (
        Axis("workload.input_tokens", 64.0, 131072.0, "tokens"),
        Axis("workload.output_tokens", 8.0, 16384.0, "tokens"),
        Axis("workload.prefix_hit_fraction", 0.0, 0.98, "", "linear"),
        Axis("workload.rate_per_s", 0.05, 1000.0, "requests/s"),
        Axis("workload.concurrency", 1.0, 8192.0, "requests in flight"),
        Axis("workload.burstiness", 0.1, 4.0, ""),
        Axis("workload.peak_to_mean_ratio", 1.0, 10.0, "×"),
        Axis("network.nic_gbit_per_s", 1.0, 3200.0, "Gbit/s"),
        Axis("network.latency_ms", 0.1, 10_000.0, "ms"),
        Axis("network.effective_fraction", 0.02, 1.0, ""),
        Axis("slo.ttft_s", 0.05, 60.0, "s"),
        Axis("slo.tpot_ms", 4.0, 400.0, "ms"),
        Axis("slo.e2e_s", 0.5, 600.0, "s"),
        Axis("routing.overhead_ms", 0.1, 1000.0, "ms"),
    )
}


def axis_of(key: str, catalog: Catalog) -> Axis:
    """ValueError where it cannot vary over cells."""
    if key in AXES:
        return AXES[key]
    if key.startswith(PRICE) and key.removeprefix(PRICE) in catalog.accelerators:
        return Axis(key, 0.05, 50.0, "$/h")
    allowed = ", ".join((*VECTOR_AXES, f"{PRICE}ACCELERATOR"))
    raise ValueError(f"map axis = {key!r} must be one of {allowed}")


def current(scenario: Scenario, catalog: Catalog, key: str) -> float | None:
    """The scenario's value of a setting; None where it is off (no limit) or has no number."""
    if key == "network.nic_gbit_per_s" and scenario.network.nic_gbit_per_s is None:
        return catalog.links[scenario.network.link].byte_per_s * 8e-9
    if key == "network.latency_ms" and scenario.network.latency_ms is None:
        return catalog.links[scenario.network.link].latency_s * 1e3
    if key == "network.effective_fraction" and scenario.network.effective_fraction is None:
        return catalog.links[scenario.network.link].effective_fraction
    block, field = key.split(".")
    value = getattr(getattr(scenario, block), field)
    return None if value is None else float(value)


def prices_of(axes: Mapping[str, Array]) -> dict[str, Array]:
    """Those of the axes that are prices, by accelerator, over cells (y, x)."""
    return {
        key.removeprefix(PRICE): np.atleast_2d(values)
        for key, values in axes.items()
        if key.startswith(PRICE)
    }
