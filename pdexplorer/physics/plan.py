"""An instance boiled down to the coefficients of its step time: one flat record of floats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pdexplorer.catalog.efficiency import normalises_queries
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.collectives import ReducePlan, collective_terms
from pdexplorer.physics.entries import index_keys, reach
from pdexplorer.physics.formats import (
    bytes_per_weight,
    compute_flop_per_s,
    split_formats,
)
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.parameters import (
    attention_layers,
    expert_parameters,
    head_parameters,
)
from pdexplorer.physics.shapes import (
    ACTIVATION_BYTES,
    attention_flop,
    dense_shape,
    element_bytes,
    element_kernels,
    kv_bytes_per_layer_token,
)
from pdexplorer.physics.smooth import smooth_max

_ATTENTION_SHARPNESS = 3.0
_LATENT_PREFILL_PRODUCTS, _LATENT_DECODE_PRODUCTS = 3.0, 1.0
"""Launches of products that a layer of latent attention adds: vLLM's block-scaled ones take 50 us longer than
other engines', and its latent layers three times that longer in prefill, once in decode."""
QK_NORM_LAUNCH_S = 26e-6
"""Per layer of a prefill step, for models that normalise queries and keys (Qwen3 against Llama, any chip)."""


@dataclass(frozen=True, slots=True)
class StepPlan:
    """Seconds per unit of each term of a step (one microbatch through all layers). Names: group_term."""

    attention_dp: int
    pp: int
    window_tokens: int | None
    # dense products: join of compute per token and launches + weights once + activations per token
    dense_launch_s: float
    dense_small_launch_s: float
    dense_compute_s: float
    dense_weights_s: float
    dense_activation_s: float
    dense_sharpness: float
    # kernels between the products
    element_launch_s: float
    element_token_s: float
    # LM head, per row
    head_launch_s: float
    head_compute_s: float
    head_weights_s: float
    head_sharpness: float
    # prefill attention: per launch, new token, (query, key) pair and past token read
    prefill_launch_s: float
    prefill_token_s: float
    prefill_pair_full_s: float
    prefill_pair_window_s: float
    prefill_read_full_s: float
    prefill_read_window_s: float
    prefill_serial_full_s: float
    prefill_serial_window_s: float
    mixed_block_rows: float
    # decode attention: per launch, sequence and token of context
    decode_launch_s: float
    decode_sequence_s: float
    decode_half_batch: float
    decode_context_full_s: float
    decode_context_window_s: float
    # routed experts: per launch, token and touched expert; tokens count imbalance_ratio times
    experts: int
    experts_per_token: int
    expert_miss_fraction: float
    expert_touch_exponent: float
    expert_padding_tokens: float
    expert_imbalance_ratio: float
    expert_launch_s: float
    expert_compute_s: float
    expert_weights_s: float
    expert_sharpness: float
    # collectives: all-reduces of a whole step's tokens and, with attention DP, of one rank's
    reduce_step: ReducePlan | None
    reduce_rank: ReducePlan | None
    send_latency_s: float
    send_token_s: float
    # engine: the host needs host_step_s to launch a step of prompts with more than graph_tokens
    step_overhead_s: float
    graph_tokens: float
    host_step_s: float


SMALL_ROWS = 16
"""Up to this many rows some engines multiply with a kernel of their own."""


def compile_plan(instance: Instance) -> StepPlan:
    """The coefficients of this instance."""
    return StepPlan(
        attention_dp=instance.parallelism.attention_dp,
        pp=instance.parallelism.pp,
        **_dense_terms(instance),
        **_attention_terms(instance),
        **_expert_terms(instance),
        **collective_terms(instance),
        step_overhead_s=instance.engine.step_overhead_s
        + instance.architecture.layers * instance.engine.layer_overhead_s,
        graph_tokens=instance.engine.graph_tokens,
        host_step_s=instance.architecture.layers * instance.engine.host_layer_s,
    )


def _dense_terms(instance: Instance) -> dict[str, Any]:
    a, tp, e = instance.architecture, instance.parallelism.tp, instance.efficiency
    bandwidth = _bandwidth(instance)
    fmt, _ = split_formats(instance.weight_format, a)
    shape = dense_shape(a, tp)
    launch = shape.products * e.gemm.launch_s
    head = head_parameters(a) / tp
    return {
        "dense_launch_s": launch,
        "dense_small_launch_s": launch * e.gemm.small_launch_ratio,
        "dense_compute_s": 2.0 * shape.elements / (_rate(instance, fmt) * e.gemm.mfu),
        "dense_weights_s": shape.elements * bytes_per_weight(fmt) / (bandwidth * e.gemm.mbu),
        "dense_activation_s": shape.activations * ACTIVATION_BYTES / (bandwidth * e.gemm.mbu),
        "dense_sharpness": e.gemm.sharpness,
        "element_launch_s": element_kernels(a) * e.elementwise.launch_s,
        "element_token_s": element_bytes(a, tp) / (bandwidth * e.elementwise.mbu),
        "head_launch_s": e.head.launch_s,
        "head_compute_s": 2.0 * head / (_rate(instance, "bf16") * e.head.mfu),
        "head_weights_s": head * 2.0 / (bandwidth * e.head.mbu),
        "head_sharpness": e.head.sharpness,
    }


def _attention_terms(instance: Instance) -> dict[str, Any]:
    a, tp, e = instance.architecture, instance.parallelism.tp, instance.efficiency.attention
    heads = a.heads / tp
    read = reach(a)
    full, window = read.full, read.capped
    mixers = attention_layers(a)
    pair_flop, _ = attention_flop(a, heads, e.softmax_dims, e.prefill_absorbed > 0)
    _, context_flop = attention_flop(a, max(heads, e.decode_heads_floor), e.softmax_dims)
    # The indexer scores every past token in fp8 with few small heads, whatever the top-k keeps.
    index_flop = 2.0 * a.index_heads * a.index_dim * index_keys(a)
    index_bytes = a.index_dim * index_keys(a)
    prefill_rate = _rate(instance, "bf16") * e.prefill_mfu
    decode_rate = _rate(instance, _decode_format(instance)) * e.decode_mfu
    decode_bandwidth = _bandwidth(instance) * e.decode_mbu
    token_bytes = kv_bytes_per_layer_token(a, instance.kv_format, tp)
    kv_heads = 1.0 if a.attention == "mla" else max(a.kv_heads / tp, 1.0)
    product_launch_s = instance.efficiency.gemm.launch_s if a.attention == "mla" else 0.0
    norm = QK_NORM_LAUNCH_S if normalises_queries(a.name) else 0.0
    read_full = (token_bytes * full + index_bytes) / decode_bandwidth
    read_window = token_bytes * window / decode_bandwidth
    local = smooth_max(
        token_bytes * read.local / decode_bandwidth,
        context_flop * read.local / decode_rate,
        _ATTENTION_SHARPNESS,
    )
    state = 2.0 * a.linear_state_bytes / tp / decode_bandwidth
    return {
        "window_tokens": read.cap_tokens,
        "prefill_launch_s": mixers
        * (e.prefill_launch_s + norm + _LATENT_PREFILL_PRODUCTS * product_launch_s),
        "prefill_token_s": e.prefill_tile_tokens * pair_flop * mixers / prefill_rate
        + read.local * pair_flop / prefill_rate,
        "prefill_pair_full_s": (pair_flop * full + index_flop) / prefill_rate,
        "prefill_pair_window_s": pair_flop * window / prefill_rate,
        "prefill_read_full_s": read_full,
        "prefill_read_window_s": read_window,
        "prefill_serial_full_s": e.serial_key_s * full,
        "prefill_serial_window_s": e.serial_key_s * window,
        "mixed_block_rows": e.mixed_block_rows,
        "decode_launch_s": mixers * (e.decode_launch_s + _LATENT_DECODE_PRODUCTS * product_launch_s),
        "decode_sequence_s": mixers * kv_heads * e.decode_head_s + state + local,
        "decode_half_batch": e.decode_half_heads / kv_heads,
        "decode_context_full_s": smooth_max(
            read_full, (context_flop * full + index_flop) / decode_rate, _ATTENTION_SHARPNESS
        ),
        "decode_context_window_s": smooth_max(
            read_window, context_flop * window / decode_rate, _ATTENTION_SHARPNESS
        ),
    }


def _decode_format(instance: Instance) -> str:
    """Format that decode attention multiplies in: Blackwell's kernels of latent attention take 8-bit queries
    where the cache has 8 bits (TensorRT-LLM's and FlashInfer's trtllm-gen), others widen it to 16.
    """
    latent = instance.architecture.attention == "mla" and instance.accelerator.family == "blackwell"
    return "fp8" if latent and instance.kv_format == "fp8" else "bf16"


def _expert_terms(instance: Instance) -> dict[str, Any]:
    a, p, e = instance.architecture, instance.parallelism, instance.efficiency.experts
    _, fmt = split_formats(instance.weight_format, a)
    elements = expert_parameters(a) / p.moe_tp * a.moe_layers / p.ep
    launch = e.launch_s + (e.ep_launch_s if p.ep > 1 else 0.0)
    rate = _rate(instance, fmt) * e.mfu
    return {
        "experts": a.experts if a.moe_layers else 0,
        "experts_per_token": max(a.experts_per_token, 1),
        "expert_miss_fraction": 1.0 - a.experts_per_token / a.experts if a.experts else 0.0,
        "expert_touch_exponent": e.touch_exponent,
        "expert_padding_tokens": e.padding_tokens,
        "expert_imbalance_ratio": e.ep_imbalance_ratio if p.ep > 1 else 1.0,
        "expert_launch_s": a.moe_layers * launch,
        "expert_compute_s": 2.0 * elements * a.experts_per_token / rate,
        "expert_weights_s": elements * bytes_per_weight(fmt) / (_bandwidth(instance) * e.mbu),
        "expert_sharpness": e.sharpness,
    }


def _bandwidth(instance: Instance) -> float:
    bandwidth = instance.accelerator.memory_byte_per_s
    assert bandwidth is not None  # build_instance has refused the others
    return bandwidth


def _rate(instance: Instance, fmt: str) -> float:
    rate = compute_flop_per_s(instance.accelerator, fmt)
    assert not isinstance(rate, Infeasible)  # build_instance has refused the others
    return rate
