"""Why an accelerator suits a role: its compute and its memory against those of the others."""

from collections.abc import Callable, Mapping

import numpy as np

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.catalog.hardware import Accelerator
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.formats import compute_flop_per_s
from pdexplorer.study.words import number

_GOOD, _BAD = 1.25, 0.8


def role_text(
    catalog: Catalog, prices_usd_per_hour: Mapping[str, float | None]
) -> Callable[[str, str, str], str]:
    """A function of (accelerator id, role, weight format): one line with the numbers for or against it.

    Prefill wants compute per USD, decode memory bandwidth and room per USD; per chip where it has no price.
    """
    devices = [catalog.accelerators[name] for name in prices_usd_per_hour]

    def text(name: str, role: str, weight_format: str) -> str:
        price = prices_usd_per_hour[name]
        device = catalog.accelerators[name]
        if role == "prefill":
            own, median = _against(device, devices, prices_usd_per_hour, lambda d: _flops(d, weight_format))
            return _line(own, median, "TFLOP/s", 1e12, price, weight_format)
        own, median = _against(device, devices, prices_usd_per_hour, lambda d: d.memory_byte_per_s)
        room = "" if device.memory_bytes is None else f", {number(device.memory_bytes / 1e9)} GB"
        return _line(own, median, "TB/s", 1e12, price, "memory") + room

    return text


def _against(
    device: Accelerator,
    devices: list[Accelerator],
    prices: Mapping[str, float | None],
    figure: Callable[[Accelerator], float | None],
) -> tuple[float | None, float | None]:
    """(its figure, median of the others'), per USD and hour where it has a price, else per chip."""
    price = prices[device.id]
    own = figure(device)
    if own is None:
        return None, None
    others = []
    for other in devices:
        value, cost = figure(other), prices[other.id]
        if value is not None and (price is None or cost is not None):
            others.append(value if price is None else value / (cost or 1.0))
    return own if price is None else own / price, float(np.median(others))


def _line(
    own: float | None, median: float | None, unit: str, scale: float, price: float | None, what: str
) -> str:
    if own is None or not median:
        return f"no {what} figure"
    word = "good" if own > _GOOD * median else "poor" if own < _BAD * median else "average"
    per = " per USD an hour" if price is not None else " a chip"
    return f"{word}: {number(own / scale)} {unit} {what}{per} (median {number(median / scale)})"


def _flops(device: Accelerator, weight_format: str) -> float | None:
    rate = compute_flop_per_s(device, weight_format)
    return None if isinstance(rate, Infeasible) else rate
