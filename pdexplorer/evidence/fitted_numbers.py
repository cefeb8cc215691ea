"""What is fitted, section by section: numbers, where each starts, how far from there it plausibly lies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Table = dict[str, tuple[Any, ...]]
"""Efficiency entries by part."""

RESIDUAL = 0.04
"""Log ratio a fitted row is usually off by: one row's pull against a prior's."""

EVERY_EFFECT = ("engine", "format", "family", "accelerator", "kernel")
"""Kinds of effects a number may have where chips, engines and formats were all measured."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers fitted together to the columns of some groups: their starts, the log distance a base or an
    effect plausibly has, and the kinds of effects they may have. Effects that no row asks for are dropped.
    """

    groups: tuple[str, ...]
    start: Mapping[str, float]
    spread: Mapping[str, float]
    effects: tuple[str, ...] = EVERY_EFFECT


@dataclass(frozen=True, slots=True)
class Section:
    """One kind of kernels: its part of an Efficiency, what is fitted in which order, and its constants."""

    name: str
    part: str
    numbers: tuple[Numbers, ...]
    constants: Mapping[str, float]


ELEMENTWISE = Section(
    "elementwise",
    "elementwise",
    (Numbers(("elementwise",), {"launch_s": 3e-6, "mbu": 0.8}, {"launch_s": 0.5, "mbu": 0.2}, ()),),
    {},
)
GEMM = Section(
    "gemm",
    "gemm",
    (
        Numbers(
            ("dense", "head"),
            {"mfu": 0.72, "mbu": 0.87, "launch_s": 5e-6, "sharpness": 2.8, "small_launch_ratio": 1.0},
            # Weights stream at much the same share everywhere; launches are what differs, quantisation most.
            {"mfu": 0.2, "mbu": 0.04, "launch_s": 0.8, "sharpness": 0.2, "small_launch_ratio": 0.1},
        ),
    ),
    {},
)

_PREFILL = {"prefill_mfu": 0.75, "prefill_tile_tokens": 400.0, "prefill_launch_s": 27e-6}
_PREFILL_SPREAD = {"prefill_mfu": 0.3, "prefill_tile_tokens": 0.6, "prefill_launch_s": 0.4}
_DECODE = {"decode_mbu": 0.88, "decode_launch_s": 12e-6, "decode_half_heads": 0.55, "decode_head_s": 8e-9}
_DECODE_SPREAD = {
    "decode_mbu": 0.1,
    "decode_launch_s": 0.6,
    "decode_half_heads": 0.3,
    "decode_head_s": 0.6,
}
_ATTENTION = {
    "softmax_dims": 60.0,
    "decode_mfu": 0.5,
    "decode_heads_floor": 1.0,
    "prefill_absorbed": 0.0,
    "serial_key_s": 0.0,
    "mixed_block_rows": 0.0,
}

BLOCK_ROWS = 64.0
"""Query rows of one block of FlashAttention-2's kernel for sequences of mixed lengths; a decode fills one
row of it.
"""

ATTENTION = Section(
    "attention",
    "attention",
    (Numbers(("prefill",), _PREFILL, _PREFILL_SPREAD), Numbers(("decode",), _DECODE, _DECODE_SPREAD)),
    _ATTENTION,
)
JOINED_ATTENTION = Section(
    "attention_joined",
    "attention",
    (
        Numbers(
            ("prefill",),
            {**_PREFILL, "serial_key_s": 2e-8},
            {**_PREFILL_SPREAD, "serial_key_s": 0.7},
            ("accelerator",),
        ),
        Numbers(("decode",), _DECODE, _DECODE_SPREAD, ("accelerator",)),
    ),
    {**_ATTENTION, "mixed_block_rows": BLOCK_ROWS},
)
"""Whole iterations were timed: prefill and decode of a mixed step share a kernel that splits no keys."""

_LATENT_DECODE = {"decode_launch_s": 50e-6, "decode_mfu": 0.4, "decode_mbu": 0.7, "decode_head_s": 1e-7}
LATENT_ATTENTION = Section(
    "attention_latent",
    "attention",
    (
        Numbers(
            ("prefill",),
            {**_PREFILL, "prefill_launch_s": 60e-6},
            {"prefill_mfu": 0.4, "prefill_tile_tokens": 1.0, "prefill_launch_s": 1.0},
            ("engine",),
        ),
        Numbers(
            ("decode",),
            {**_DECODE, **_LATENT_DECODE},
            {**_DECODE_SPREAD, "decode_mfu": 0.4},
            ("engine",),
        ),
    ),
    _ATTENTION,
)
EXPERTS = Section(
    "experts",
    "experts",
    (
        Numbers(
            ("experts",),
            {
                "mfu": 0.45,
                "mbu": 0.8,
                "launch_s": 18e-6,
                "sharpness": 1.9,
                "touch_exponent": 0.85,
                "padding_tokens": 5.0,
                "ep_imbalance_ratio": 1.8,
                "ep_launch_s": 60e-6,
            },
            {
                "mfu": 0.3,
                "mbu": 0.1,
                "launch_s": 0.5,
                "sharpness": 0.15,
                "touch_exponent": 0.1,
                "padding_tokens": 0.7,
                "ep_imbalance_ratio": 0.3,
                "ep_launch_s": 0.6,
            },
        ),
    ),
    {},
)

DIRECT_BYTES = float(8 * 2**20)
"""Largest all-reduce vLLM's own kernels take; NCCL's ring takes those above."""

NVLINK = Section(
    "nvlink",
    "collective",
    (
        Numbers(
            ("collectives",),
            {"latency_s": 5e-6, "bandwidth_fraction": 0.6, "size_exponent": 0.92},
            {"latency_s": 0.5, "bandwidth_fraction": 0.3, "size_exponent": 0.08},
            ("engine", "family", "accelerator"),
        ),
    ),
    {"ring_fan_exponent": 0.0, "direct_bytes": 0.0, "direct_fraction": 1.0, "direct_fan_exponent": 1.0},
)
PCIE = Section(
    "pcie",
    "collective",
    (
        Numbers(
            ("collectives",),
            {
                "latency_s": 6e-6,
                "bandwidth_fraction": 0.6,
                "ring_fan_exponent": 0.8,
                "direct_fraction": 0.6,
                "direct_fan_exponent": 1.0,
            },
            {
                "latency_s": 0.5,
                "bandwidth_fraction": 0.3,
                "ring_fan_exponent": 1.0,
                "direct_fraction": 0.3,
                "direct_fan_exponent": 0.3,
            },
            ("accelerator",),
        ),
    ),
    {"size_exponent": 1.0, "direct_bytes": DIRECT_BYTES},
)
SECTIONS = (ELEMENTWISE, GEMM, ATTENTION, JOINED_ATTENTION, EXPERTS, NVLINK, PCIE, LATENT_ATTENTION)
"""In the order of fitting: later ones use the earlier. Each starts with a format its prior stands for."""

PRIOR_FORMATS: Mapping[str, str] = {
    "elementwise": "any",
    "gemm": "bf16",
    "attention": "bf16",
    "experts": "bf16",
    "nvlink": "nvlink",
    "pcie": "pcie",
    "attention_latent": "mla_fp8",
}
"""Format a section's starting numbers stand for where no row of it was measured."""

SOFTMAX_DIMS = {
    "hopper": 63.0,
    "blackwell": 131.0,
    "ampere": 32.0,
    "ada": 16.0,
    "blackwell_workstation": 17.0,
}
"""Datasheet bf16 FLOP/s ÷ (4 × exponentials/s), at 16 a clock and SM: H100 989e12/(4·3.9e12), B200
2,250e12/(4·4.3e12), A100 312e12/(4·2.4e12), L40S 362e12/(4·5.7e12), RTX PRO 6000 504e12/(4·7.2e12)."""

LATENT_HEADS_FLOOR = {"sglang": 128.0}
"""Heads an engine's latent-attention kernel computes at least: SGLang's takes as long for 16 heads as for
128.
"""

LATENT_ABSORBED = {"sglang": 1.0}
"""Engines whose latent kernel multiplies the latent in prefill too: SGLang's takes 3.4 times as long per pair
as others', as 1,088 dimensions against 320 would."""
