"""The fitted numbers: what share of the datasheet's ceilings each kind of kernel reaches, and its fixed
times.

They are data, in data/efficiencies.toml: bases and effects (catalog.effects), and for each chip, engine and
format an entry with source, number of points, errors and spread. Nobody measured most accelerators: they take
the nearest entry (same chip, else same family, else the default) and say so.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any

from pdexplorer.catalog.effects import records_of_section
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
    """Matrix products with weights: the join of compute and (launch + memory), `sharpness` its p-norm.

    mfu and mbu are shares of the ceilings; launch_s is per product (quantising its input included);
    small_launch_ratio scales it up to 16 rows, where some engines have a kernel of their own.
    """

    mfu: float
    mbu: float
    launch_s: float
    sharpness: float
    small_launch_ratio: float
    fit: Fit


@dataclass(frozen=True, slots=True)
class AttentionEfficiency:
    """Attention kernels.

    softmax_dims: what a (query, key) pair's exponential takes, in head dimensions' worth of FLOP: datasheet
    FLOP/s over 4 × exponentials/s; derived, not fitted; where products take longer they hide most of it.
    prefill_tile_tokens: extra keys each query pays for (tile edges, loads). decode_half_heads: KV heads in
    flight at which a context token costs twice its bytes. decode_head_s: fixed time per sequence and KV head.
    decode_heads_floor: heads a latent-attention kernel computes at least, however few a GPU holds.
    prefill_absorbed: above 0, it multiplies the latent in prefill too, not expanded heads. Launches are per
    layer. serial_key_s: seconds a layer needs per key of its longest sequence where nothing splits keys over
    the chip. mixed_block_rows: above 0, decoding sequences of a mixed step run in the prefill kernel and each
    costs as much as this many query rows.
    """

    prefill_mfu: float
    softmax_dims: float
    prefill_tile_tokens: float
    prefill_launch_s: float
    decode_mbu: float
    decode_mfu: float
    decode_launch_s: float
    decode_half_heads: float
    decode_head_s: float
    decode_heads_floor: float
    prefill_absorbed: float
    serial_key_s: float
    mixed_block_rows: float
    fit: Fit


@dataclass(frozen=True, slots=True)
class ExpertEfficiency:
    """Routed experts: launch + the join of compute and memory.

    touch_exponent below 1: routing is skewed, so t tokens touch as few experts as t**exponent uniform ones.
    padding_tokens: rows each touched expert wastes on tiles. With expert parallelism the fullest GPU computes
    ep_imbalance_ratio times the mean, and dispatch adds ep_launch_s a layer.
    """

    mfu: float
    mbu: float
    launch_s: float
    sharpness: float
    touch_exponent: float
    padding_tokens: float
    ep_imbalance_ratio: float
    ep_launch_s: float
    fit: Fit


@dataclass(frozen=True, slots=True)
class CollectiveEfficiency:
    """Collectives inside one instance: latency_s + (bytes through one GPU)**size_exponent over bandwidth.

    bandwidth_fraction holds at 64 MB and two GPUs; over PCIe it falls as (gpus / 2)**ring_fan_exponent.
    Payloads up to direct_bytes (0: never) are read straight from every peer, at direct_fraction of the link,
    in a time that grows as (gpus − 1)**direct_fan_exponent.
    """

    latency_s: float
    bandwidth_fraction: float
    size_exponent: float
    ring_fan_exponent: float
    direct_bytes: float
    direct_fraction: float
    direct_fan_exponent: float
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
        """One standard deviation of step time, as a fraction: the larger of its main parts'."""
        return max(self.gemm.fit.spread_fraction, self.attention.fit.spread_fraction)

    @property
    def fits(self) -> tuple[Fit, ...]:
        """Provenance of every part."""
        return tuple(getattr(self, field.name).fit for field in fields(self))


PARTS: dict[str, type[Any]] = {
    "gemm": GemmEfficiency,
    "attention": AttentionEfficiency,
    "experts": ExpertEfficiency,
    "collective": CollectiveEfficiency,
    "elementwise": ElementwiseEfficiency,
}
_FIT_KEYS = tuple(field.name for field in fields(Fit))
_OPTIONAL_KEYS = ("median_error_fraction", "p90_error_fraction")


def parse_efficiencies(text: str) -> dict[str, tuple[Any, ...]]:
    """Entries by part from TOML text. A missing number is a ValueError naming entry and key."""
    return entries_of(tomllib.loads(text))


def entries_of(document: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Entries by part. A section is an array of tables, or rows of a `part` with its numbers beside them."""
    sources = document.get("sources", {})
    found: dict[str, list[Any]] = {part: [] for part in PARTS}
    for name, section in document.items():
        if isinstance(section, list):
            found[name] += [_entry(name, record) for record in section]
        elif name != "sources":
            part = section.get("part", name)
            found[part] += [_entry(part, record) for record in records_of_section(section, sources)]
    return {part: tuple(entries) for part, entries in found.items()}


def _entry(part: str, raw: dict[str, Any]) -> Any:
    numbers = {field.name for field in fields(PARTS[part])} - {"fit"}
    missing = (numbers | set(_FIT_KEYS)) - set(raw) - set(_OPTIONAL_KEYS)
    if missing:
        where = f"{part} entry of {raw.get('accelerator', '?')}"
        raise ValueError(f"efficiencies.toml: {where} lacks {', '.join(sorted(missing))}")
    known: dict[str, Any] = {key: raw.get(key) for key in _FIT_KEYS}
    for key in _OPTIONAL_KEYS:
        known[key] = None if known[key] == "" else known[key]
    return PARTS[part](**{key: raw[key] for key in numbers}, fit=Fit(**known))


@cache
def load_efficiencies() -> dict[str, tuple[Any, ...]]:
    """The entries shipped with the package: the fitted ones and those read off single published figures."""
    return with_reported(entries_of(fitted_document()))


def fitted_document() -> dict[str, Any]:
    """The shipped efficiencies.toml, parsed: what `pdexplorer catalog fit` writes."""
    text = files("pdexplorer.catalog.data").joinpath("efficiencies.toml").read_text("utf-8")
    return tomllib.loads(text)


def with_reported(fitted: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Any, ...]]:
    """Fitted entries and, behind them, those of efficiencies_reported.toml."""
    text = files("pdexplorer.catalog.data").joinpath("efficiencies_reported.toml").read_text("utf-8")
    reported = parse_efficiencies(text)
    return {part: (*fitted[part], *reported[part]) for part in PARTS}


def efficiency_for(
    accelerator: Accelerator,
    engine: str,
    *,
    dense_format: str,
    expert_format: str,
    kv_format: str,
    attention: str = "gqa",
    compressed: bool = False,
    entries: Mapping[str, Sequence[Any]] | None = None,
) -> Efficiency:
    """The nearest measured numbers for this chip, engine and formats; what is inherited says so: compressed
    attention takes MLA's.
    """
    table = load_efficiencies() if entries is None else entries

    def nearest(part: str, fmt: str) -> Any:
        best = min(table[part], key=lambda entry: distance(entry.fit, accelerator, engine, fmt))
        if best.fit.accelerator == accelerator.id:
            return best
        return _inherited(best, f"not measured on {accelerator.id}", _OTHER_CHIP_SPREAD)

    latent = nearest("attention", f"mla_{kv_format}" if attention == "mla" else kv_format)
    if compressed:
        latent = _inherited(latent, "compressed attention was not measured", _COMPRESSED_SPREAD)
    return Efficiency(
        gemm=nearest("gemm", dense_format),
        head=nearest("gemm", "bf16"),
        attention=latent,
        experts=nearest("experts", expert_format),
        collective=nearest("collective", link_kind(accelerator)),
        elementwise=nearest("elementwise", "any"),
    )


PCIE_BYTE_PER_S = 70e9
"""Scale-up links below this are PCIe (or a network port), which collectives share instead of owning."""


def link_kind(accelerator: Accelerator) -> str:
    """`nvlink` for chips with a scale-up fabric of their own, `pcie` for the others."""
    link = accelerator.scale_up_byte_per_s or accelerator.pcie_byte_per_s or 0.0
    return "nvlink" if link > PCIE_BYTE_PER_S else "pcie"


_SIMILAR_FORMATS = {
    "fp8": ("bf16",),
    "fp8_block": ("fp8", "bf16"),
    "int8": ("fp8", "bf16"),
    "nvfp4": ("fp8", "bf16"),
    "int4": ("mxfp4", "bf16"),
    "mxfp4": ("int4", "bf16"),
    "fp16": ("bf16",),
    "mla_bf16": ("mla_fp8",),
    "mla_fp8": ("mla_bf16",),
}
"""Formats whose kernels reach like shares of their own ceilings, nearest first. int4 and mxfp4 are widened to
16 bits on the way in, by kernels of one kind (Marlin, Triton).
"""


def distance(fit: Fit, accelerator: Accelerator, engine: str, fmt: str) -> float:
    """How far an entry is from what is asked: chip and family first, then kernels of another format, then
    engine.
    """
    if fit.accelerator == accelerator.id:
        chip = 0.0
    elif fit.family == accelerator.family:
        chip = 1.0
    else:
        chip = 2.0 if fit.accelerator == "default" else 2.5
    similar = _SIMILAR_FORMATS.get(fmt, ())
    if fit.format in (fmt, "any"):
        form = 0.0
    elif fit.format in similar:
        form = 0.7 + 0.1 * similar.index(fit.format)
    else:
        form = 8.0 if fit.format.startswith("mla") == fmt.startswith("mla") else 100.0
    # An engine's kernels for a format differ (block scales most), so its own for a similar format come first.
    made_by = 0.0 if fit.engine == engine else 0.9 if fit.engine == "vllm" else 1.0
    few = 0.3 if 0 < fit.points < 8 and chip > 0 else 0.0
    return chip + form + made_by + few


_OTHER_CHIP_SPREAD = 0.15
_COMPRESSED_SPREAD = 0.4
"""Published runs of DeepSeek-V4-Flash, which no fit used, took 0.75 to 1.7 times what its parts predict
(tests/physics/test_compressed.py)."""


def _inherited(entry: Any, why: str, least_spread: float) -> Any:
    source = f"{why}; taken from {entry.fit.accelerator}: {entry.fit.source}"
    spread = max(entry.fit.spread_fraction, least_spread)
    fit = replace(entry.fit, kind="assumed", source=source, spread_fraction=spread)
    return replace(entry, fit=fit)


def normalises_queries(model_name: str) -> bool:
    """Whether a model normalises queries and keys per head in attention, an extra kernel or two a layer."""
    return model_name.lower().startswith(("qwen3", "glm-4.5-air"))
