"""What is fitted, group by group: the numbers, where each starts and how far it may plausibly lie from
there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pdexplorer.catalog.efficiency import (
    AttentionEfficiency,
    CollectiveEfficiency,
    ElementwiseEfficiency,
    ExpertEfficiency,
    Fit,
    GemmEfficiency,
)

Table = dict[str, list[Any]]
"""Efficiency entries by part."""

RESIDUAL = 0.04
"""Log ratio a fitted row is usually off by: one row's pull against a prior's."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The fitted numbers of one group: where they start and how far (log) they may plausibly lie from it."""

    part: str
    group: str
    start: Mapping[str, float]
    spread: Mapping[str, float]


GEMM = Numbers(
    "gemm",
    "dense",
    {"mfu": 0.72, "mbu": 0.87, "launch_s": 5e-6, "sharpness": 2.8, "small_launch_ratio": 1.0},
    # Kernels stream weights at much the same share everywhere; launches are what differs, quantisation most.
    {"mfu": 0.2, "mbu": 0.04, "launch_s": 0.8, "sharpness": 0.2, "small_launch_ratio": 0.1},
)
PREFILL = Numbers(
    "attention",
    "prefill",
    {"prefill_mfu": 0.9, "prefill_tile_tokens": 400.0, "prefill_launch_s": 27e-6},
    {"prefill_mfu": 0.3, "prefill_tile_tokens": 0.6, "prefill_launch_s": 0.4},
)
SERIAL_PREFILL = Numbers(
    "attention",
    "prefill",
    {**PREFILL.start, "serial_key_s": 2e-8},
    {**PREFILL.spread, "serial_key_s": 0.7},
)
DECODE = Numbers(
    "attention",
    "decode",
    {"decode_mbu": 0.88, "decode_launch_s": 12e-6, "decode_half_heads": 0.55, "decode_head_s": 8e-9},
    {"decode_mbu": 0.1, "decode_launch_s": 0.6, "decode_half_heads": 0.3, "decode_head_s": 0.6},
)
LATENT_DECODE = Numbers(
    "attention",
    "decode",
    {**DECODE.start, "decode_launch_s": 90e-6, "decode_mfu": 0.4, "decode_mbu": 0.7, "decode_head_s": 1e-7},
    {**DECODE.spread, "decode_mfu": 0.4, "decode_mbu": 0.3},
)
LATENT_PREFILL = Numbers(
    "attention",
    "prefill",
    {**PREFILL.start, "prefill_launch_s": 150e-6},
    {"prefill_mfu": 0.4, "prefill_tile_tokens": 1.0, "prefill_launch_s": 1.0},
)
EXPERTS = Numbers(
    "experts",
    "experts",
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
)
COLLECTIVES = Numbers(
    "collective",
    "collectives",
    {"latency_s": 5e-6, "bandwidth_fraction": 0.6, "size_exponent": 0.92},
    {"latency_s": 0.5, "bandwidth_fraction": 0.3, "size_exponent": 0.08},
)
SHARED_LINK = Numbers(
    "collective",
    "collectives",
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
)
ELEMENTWISE = Numbers(
    "elementwise", "elementwise", {"launch_s": 3e-6, "mbu": 0.8}, {"launch_s": 0.5, "mbu": 0.2}
)

SOFTMAX_DIMS = {
    "hopper": 63.0,
    "blackwell": 131.0,
    "ampere": 32.0,
    "ada": 16.0,
    "blackwell_workstation": 17.0,
}
"""Datasheet bf16 FLOP/s ÷ (4 × exponentials/s), at 16 a clock and SM: H100 989e12/(4·3.9e12), B200
2,250e12/(4·4.3e12),
A100 312e12/(4·2.4e12), L40S 362e12/(4·5.7e12), RTX PRO 6000 504e12/(4·7.2e12)."""

LATENT_HEADS_FLOOR = {"sglang": 128.0}
"""Heads an engine's latent-attention kernel computes at least: SGLang's takes as long for 16 heads as for
128.
"""

BLOCK_ROWS = 64.0
"""Query rows of one block of FlashAttention-2's kernel for sequences of mixed lengths; a decode fills one
row of it.
"""

DIRECT_BYTES = float(8 * 2**20)
"""Largest all-reduce vLLM's own kernels take; NCCL's ring takes those above."""

_NO_FIT = Fit("default", "any", "vllm", "bf16", "assumed", "prior", 0, None, None, 0.15)


def prior_entries() -> Table:
    """Entries before any fit: what a GPU is assumed to reach."""
    attention = AttentionEfficiency(
        **PREFILL.start,
        **DECODE.start,
        softmax_dims=60.0,
        decode_mfu=0.5,
        decode_heads_floor=1.0,
        serial_key_s=0.0,
        mixed_block_rows=0.0,
        fit=_NO_FIT,
    )
    latent = replace(
        attention, **LATENT_PREFILL.start, **LATENT_DECODE.start, fit=replace(_NO_FIT, format="mla_fp8")
    )
    return {
        "gemm": [GemmEfficiency(**GEMM.start, fit=_NO_FIT)],
        "attention": [attention, latent],
        "experts": [ExpertEfficiency(**EXPERTS.start, fit=_NO_FIT)],
        "collective": [
            CollectiveEfficiency(
                **COLLECTIVES.start,
                ring_fan_exponent=0.0,
                direct_bytes=0.0,
                direct_fraction=1.0,
                direct_fan_exponent=1.0,
                fit=replace(_NO_FIT, format="nvlink"),
            ),
            CollectiveEfficiency(
                **SHARED_LINK.start,
                size_exponent=1.0,
                direct_bytes=DIRECT_BYTES,
                fit=replace(_NO_FIT, format="pcie"),
            ),
        ],
        "elementwise": [ElementwiseEfficiency(**ELEMENTWISE.start, fit=replace(_NO_FIT, format="any"))],
    }
