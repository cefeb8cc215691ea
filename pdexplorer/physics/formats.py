"""How weights and KV are stored, and which compute units a stored format runs on."""

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.hardware import Accelerator
from pdexplorer.infeasible import Infeasible

_WEIGHT_BYTES = {
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "fp8_block": 1.0 + 4.0 / (128 * 128),  # one float32 scale per 128 x 128 block
    "int8": 1.0,
    "int4": 0.5 + 2.5 / 128,  # AWQ and GPTQ: groups of 128 with an fp16 scale and a 4-bit zero point
    "mxfp4": 0.5 + 1.0 / 32,  # one byte of scale per 32
    "nvfp4": 0.5 + 1.0 / 16,  # one byte of scale per 16
    "fp8_mxfp4": 1.0 + 4.0 / (128 * 128),  # of what is no expert: split_formats
}
_UNITS = {
    "bf16": "bf16",
    "fp16": "bf16",
    "fp8": "fp8",
    "fp8_block": "fp8",
    "int8": "int8",
    "int4": "bf16",  # weight-only: kernels widen to 16 bits before they multiply
    "mxfp4": "bf16",  # served with 16-bit activations
    "nvfp4": "fp4",
    "fp8_mxfp4": "fp8",
}
_SPLIT = {"mxfp4": ("bf16", "mxfp4"), "fp8_mxfp4": ("fp8_block", "mxfp4")}
"""Formats of (dense matrices, experts) of MoE checkpoints that store the two unlike."""

_KV_BYTES = {"bf16": 2.0, "fp16": 2.0, "fp8": 1.0}


def weight_formats() -> tuple[str, ...]:
    """Names a weight format may have."""
    return tuple(_WEIGHT_BYTES)


def bytes_per_weight(weight_format: str) -> float:
    """Bytes one stored weight takes, scales included. ValueError for an unknown format."""
    try:
        return _WEIGHT_BYTES[weight_format]
    except KeyError:
        allowed = ", ".join(_WEIGHT_BYTES)
        raise ValueError(f"weight_format = {weight_format!r} is not one of {allowed}") from None


def bytes_per_kv_element(kv_format: str) -> float:
    """Bytes one stored key or value element takes. ValueError for an unknown format."""
    try:
        return _KV_BYTES[kv_format]
    except KeyError:
        raise ValueError(f"kv_format = {kv_format!r} is not one of {', '.join(_KV_BYTES)}") from None


def compute_unit(accelerator: Accelerator, weight_format: str) -> str:
    """The compute format these weights run on: a chip without the units computes in bf16 (weight only)."""
    bytes_per_weight(weight_format)
    wanted = _UNITS[weight_format]
    return wanted if wanted in accelerator.flop_per_s else "bf16"


def compute_flop_per_s(accelerator: Accelerator, weight_format: str) -> float | Infeasible:
    """Dense datasheet FLOP/s for weights of this format, or which figure nobody published."""
    rate = accelerator.flop_per_s.get(compute_unit(accelerator, weight_format))
    return (
        missing_figure(accelerator.id, compute_figure(accelerator, weight_format)) if rate is None else rate
    )


def compute_figure(accelerator: Accelerator, weight_format: str) -> str:
    """The datasheet figure that says how fast these weights compute."""
    unit = compute_unit(accelerator, weight_format)
    return "tops_int8_dense" if unit == "int8" else f"tflops_{unit}_dense"


def missing_figure(accelerator_id: str, *fields: str) -> Infeasible:
    """The answer where figures nobody published are needed: all of them, so that all can be set at once."""
    keys = ", ".join(f"overrides.{accelerator_id}.{field}" for field in fields)
    return Infeasible(
        "missing_figure",
        f"no published figure for {accelerator_id} {', '.join(fields)}; set {keys} yourself",
    )


def split_formats(weight_format: str, architecture: Architecture) -> tuple[str, str]:
    """Formats of (dense matrices, routed experts). mxfp4 checkpoints of MoE models store only their experts
    so, and the rest in bf16 (gpt-oss) or, fp8_mxfp4, in block-scaled fp8 (DeepSeek-V4); others where the
    model's record says it.
    """
    if architecture.experts and weight_format in _SPLIT:
        return _SPLIT[weight_format]
    dense = "fp8_block" if weight_format == "fp8_mxfp4" else weight_format
    four_bits = weight_format in ("int4", "nvfp4")
    only = architecture.experts > 0 and architecture.only_experts_in_4_bits and four_bits
    return ("bf16" if only else dense), dense
