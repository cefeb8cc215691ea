"""The fitted numbers: what share of the datasheet's ceilings each kind of kernel reaches, and its fixed times.

They are data, in data/efficiencies.toml, each entry with source, number of points, errors and spread. Nobody
measured most accelerators: they take the nearest entry (same chip, else same family, else the default) and say so.
"""

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

from pdexplorer.catalog.figure import Kind
from pdexplorer.catalog.hardware import Accelerator


@dataclass(frozen=True, slots=True)
class Fit:
    """Where one entry comes from. Errors are |predicted / measured − 1| on the rows it was fitted to."""

    accelerator: str
    family: str
    engine: str
    format: str
    kind: Kind
    source: str
    points: int
    median_error_fraction: float | None
    p90_error_fraction: float | None
    spread_fraction: float


@dataclass(frozen=True, slots=True)
class GemmEfficiency:
    """Matrix products with weights. mfu and mbu are shares of the ceilings; launch_s is per product."""

    mfu: float
    mbu: float
    launch_s: float
    sharpness: float
    fit: Fit


@dataclass(frozen=True, slots=True)
class AttentionEfficiency:
    """Attention kernels. prefill_tile_tokens: extra key tokens each query pays (tile edges, loads, softmax setup)."""

    prefill_mfu: float
    prefill_tile_tokens: float
    prefill_launch_s: float
    decode_mbu: float
    decode_mfu: float
    decode_launch_s: float
    decode_half_batch: float
    decode_per_sequence_s: float
    fit: Fit


@dataclass(frozen=True, slots=True)
class ExpertEfficiency:
    """Routed experts. touch_exponent below 1: real routing is skewed, fewer experts are touched than if uniform."""

    mfu: float
    mbu: float
    launch_s: float
    sharpness: float
    touch_exponent: float
    padding_tokens: float
    fit: Fit


@dataclass(frozen=True, slots=True)
class CollectiveEfficiency:
    """Collectives inside one instance: time = latency_s + bytes moved per GPU over a size-dependent bandwidth.

    direct_bytes: up to this payload each GPU reads every other's (PCIe: (n − 1) × payload at direct_fraction).
    """

    latency_s: float
    bandwidth_fraction: float
    size_exponent: float
    direct_bytes: float
    direct_fraction: float
    fit: Fit


@dataclass(frozen=True, slots=True)
class ElementwiseEfficiency:
    """Norms and activations between the products: launch_s per kernel, mbu of their traffic."""

    launch_s: float
    mbu: float
    fit: Fit


@dataclass(frozen=True, slots=True)
class Efficiency:
    """All fitted numbers of one accelerator, engine and pair of formats."""

    gemm: GemmEfficiency
    head: GemmEfficiency
    attention: AttentionEfficiency
    experts: ExpertEfficiency
    collective: CollectiveEfficiency
    elementwise: ElementwiseEfficiency

    @property
    def spread_fraction(self) -> float:
        """One standard deviation of step time, as a fraction: the largest of its parts' that dominate steps."""
        return max(self.gemm.fit.spread_fraction, self.attention.fit.spread_fraction)

    @property
    def fits(self) -> tuple[Fit, ...]:
        """Provenance of every part."""
        return tuple(getattr(self, field.name).fit for field in fields(self))


_PARTS: dict[str, type[Any]] = {
    "gemm": GemmEfficiency,
    "attention": AttentionEfficiency,
    "experts": ExpertEfficiency,
    "collective": CollectiveEfficiency,
    "elementwise": ElementwiseEfficiency,
}
_FIT_KEYS = tuple(field.name for field in fields(Fit))


def parse_efficiencies(text: str) -> dict[str, tuple[Any, ...]]:
    """Entries by part from TOML text. KeyError-free: a missing number is a ValueError naming entry and key."""
    document = tomllib.loads(text)
    return {part: tuple(_entry(part, raw) for raw in document.get(part, [])) for part in _PARTS}


def _entry(part: str, raw: dict[str, Any]) -> Any:
    numbers = {field.name for field in fields(_PARTS[part])} - {"fit"}
    missing = (numbers | set(_FIT_KEYS)) - set(raw) - {"median_error_fraction", "p90_error_fraction"}
    if missing:
        where = f"{part} entry of {raw.get('accelerator', '?')}"
        raise ValueError(f"efficiencies.toml: {where} lacks {', '.join(sorted(missing))}")
    fit = Fit(**{key: raw.get(key) for key in _FIT_KEYS})
    return _PARTS[part](**{key: raw[key] for key in numbers}, fit=fit)


@cache
def load_efficiencies() -> dict[str, tuple[Any, ...]]:
    """The entries shipped with the package."""
    return parse_efficiencies(
        files("pdexplorer.catalog.data").joinpath("efficiencies.toml").read_text("utf-8")
    )


def efficiency_for(
    accelerator: Accelerator,
    engine: str,
    *,
    dense_format: str,
    expert_format: str,
    kv_format: str,
    attention: str = "gqa",
    entries: dict[str, tuple[Any, ...]] | None = None,
) -> Efficiency:
    """The nearest measured numbers for this chip, engine and formats."""
    table = load_efficiencies() if entries is None else entries

    def nearest(part: str, fmt: str) -> Any:
        return min(table[part], key=lambda entry: _distance(entry.fit, accelerator, engine, fmt))

    return Efficiency(
        gemm=nearest("gemm", dense_format),
        head=nearest("gemm", "bf16"),
        attention=nearest("attention", f"mla_{kv_format}" if attention == "mla" else kv_format),
        experts=nearest("experts", expert_format),
        collective=nearest("collective", "any"),
        elementwise=nearest("elementwise", "any"),
    )


def _distance(fit: Fit, accelerator: Accelerator, engine: str, fmt: str) -> tuple[float, ...]:
    """Order of preference: attention kind and format class first, then chip, family, engine."""
    chip = 0.0 if fit.accelerator == accelerator.id else 1.0 if fit.family == accelerator.family else 3.0
    if chip == 3.0 and fit.accelerator == "default":
        chip = 2.0
    same_kind = fit.format.startswith("mla") == fmt.startswith("mla")
    same_engine = fit.engine == engine
    return (not same_kind, chip, fit.format not in (fmt, "any"), not same_engine)
