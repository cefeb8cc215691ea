"""An instance boiled down to the coefficients of its step time: one flat record of floats."""

from __future__ import annotations

from dataclasses import dataclass

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.formats import (
    bytes_per_kv_element,
    bytes_per_weight,
    compute_flop_per_s,
    split_formats,
)
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.parameters import (
    attention_layers,
    attention_parameters,
    dense_mlp_layers,
    expert_parameters,
    head_parameters,
    mlp_parameters,
    shared_expert_parameters,
)
from pdexplorer.physics.smooth import smooth_max

_ATTENTION_SHARPNESS = 3.0
_ACTIVATION_BYTES = 2.0  # activations between kernels are 16-bit in every engine here


@dataclass(frozen=True, slots=True)
class StepPlan:
    """Seconds per unit of each term of a step (one microbatch through all layers). Names: group_term."""

    attention_dp: int
    pp: int
    window_tokens: int | None
    # dense projections: launch + pnorm(compute per token, weights once + activations per token)
    dense_launch_s: float
    dense_compute_s: float
    dense_weights_s: float
    dense_activation_s: float
    dense_sharpness: float
    # elementwise kernels
    element_launch_s: float
    element_token_s: float
    # LM head, per token that needs logits
    head_launch_s: float
    head_compute_s: float
    head_weights_s: float
    head_sharpness: float
    # prefill attention
    prefill_launch_s: float
    prefill_token_s: float
    prefill_pair_full_s: float
    prefill_pair_window_s: float
    prefill_read_full_s: float
    prefill_read_window_s: float
    # decode attention, per token of context
    decode_launch_s: float
    decode_sequence_s: float
    decode_half_batch: float
    decode_context_full_s: float
    decode_context_window_s: float
    # routed experts
    experts: int
    experts_per_token: int
    expert_miss_fraction: float
    expert_touch_exponent: float
    expert_padding_tokens: float
    expert_launch_s: float
    expert_compute_s: float
    expert_weights_s: float
    expert_sharpness: float
    # collectives
    reduce_count: float
    reduce_latency_s: float
    reduce_bytes: float
    reduce_bandwidth_s: float
    reduce_exponent: float
    reduce_direct_tokens: float
    reduce_direct_s: float
    send_latency_s: float
    send_token_s: float
    # engine
    step_overhead_s: float


REFERENCE_BYTES = 64e6
"""Collectives' bandwidth is quoted at this many bytes moved; smaller ones reach less by a power law."""


def compile_plan(instance: Instance) -> StepPlan:
    """The coefficients of this instance."""
    a, p = instance.architecture, instance.parallelism
    e = instance.efficiency
    bandwidth = instance.accelerator.memory_byte_per_s
    assert bandwidth is not None  # build_instance has refused the others
    dense_format, expert_format = split_formats(instance.weight_format, a.experts > 0)
    dense_rate = _rate(instance, dense_format)
    kv_rate = _rate(instance, "bf16")
    dense = dense_shape(a, p.tp)
    gemm_bandwidth = bandwidth * e.gemm.mbu
    head_elements = head_parameters(a) / p.tp
    heads = a.heads / p.tp
    kv_layer_bytes = kv_bytes_per_layer_token(a, instance.kv_format, p.tp)
    sparse = a.index_top_k_tokens > 0
    full_layers = 0 if sparse else a.full_layers
    window_layers = a.full_layers + a.window_layers if sparse else a.window_layers
    pair_flop, context_flop = _attention_flop(a, heads)
    index_flop = 2.0 * a.index_heads * a.index_dim * (a.full_layers if sparse else 0)
    index_bytes = float(a.index_dim * (a.full_layers if sparse else 0))
    mixers = attention_layers(a)
    attention_rate = kv_rate * e.attention.prefill_mfu
    decode_rate = kv_rate * e.attention.decode_mfu
    decode_bandwidth = bandwidth * e.attention.decode_mbu
    expert_elements = expert_parameters(a) / p.moe_tp * a.moe_layers
    expert_rate = _rate(instance, expert_format) * e.experts.mfu
    spread = p.tp * p.attention_dp
    link = instance.accelerator.scale_up_byte_per_s or instance.accelerator.pcie_byte_per_s or 1e9
    c = e.collective
    token_bytes = a.hidden_size * _ACTIVATION_BYTES
    ring = 2.0 * (spread - 1) / spread
    return StepPlan(
        attention_dp=p.attention_dp,
        pp=p.pp,
        window_tokens=a.index_top_k_tokens if sparse else (a.window_tokens if a.window_layers else None),
        dense_launch_s=dense.products * e.gemm.launch_s,
        dense_compute_s=2.0 * dense.elements / (dense_rate * e.gemm.mfu),
        dense_weights_s=dense.elements * bytes_per_weight(dense_format) / gemm_bandwidth,
        dense_activation_s=dense.activations * _ACTIVATION_BYTES / gemm_bandwidth,
        dense_sharpness=e.gemm.sharpness,
        element_launch_s=_element_kernels(a) * e.elementwise.launch_s,
        element_token_s=_element_bytes(a, p.tp) / (bandwidth * e.elementwise.mbu),
        head_launch_s=e.head.launch_s,
        head_compute_s=2.0 * head_elements / (kv_rate * e.head.mfu),
        head_weights_s=head_elements * 2.0 / (bandwidth * e.head.mbu),
        head_sharpness=e.head.sharpness,
        prefill_launch_s=mixers * e.attention.prefill_launch_s,
        prefill_token_s=e.attention.prefill_tile_tokens * pair_flop * mixers / attention_rate,
        prefill_pair_full_s=(pair_flop * full_layers + index_flop) / attention_rate,
        prefill_pair_window_s=pair_flop * window_layers / attention_rate,
        prefill_read_full_s=(kv_layer_bytes * full_layers + index_bytes) / decode_bandwidth,
        prefill_read_window_s=kv_layer_bytes * window_layers / decode_bandwidth,
        decode_launch_s=mixers * e.attention.decode_launch_s,
        decode_sequence_s=mixers * e.attention.decode_per_sequence_s
        + 2.0 * a.linear_state_bytes / p.tp / decode_bandwidth,
        decode_half_batch=e.attention.decode_half_batch,
        decode_context_full_s=smooth_max(
            (kv_layer_bytes * full_layers + index_bytes) / decode_bandwidth,
            (context_flop * full_layers + index_flop) / decode_rate,
            _ATTENTION_SHARPNESS,
        ),
        decode_context_window_s=smooth_max(
            kv_layer_bytes * window_layers / decode_bandwidth,
            context_flop * window_layers / decode_rate,
            _ATTENTION_SHARPNESS,
        ),
        experts=a.experts if a.moe_layers else 0,
        experts_per_token=max(a.experts_per_token, 1),
        expert_miss_fraction=1.0 - a.experts_per_token / a.experts if a.experts else 0.0,
        expert_touch_exponent=e.experts.touch_exponent,
        expert_padding_tokens=e.experts.padding_tokens,
        expert_launch_s=a.moe_layers * e.experts.launch_s,
        expert_compute_s=2.0 * expert_elements * a.experts_per_token / p.ep / expert_rate,
        expert_weights_s=expert_elements
        / p.ep
        * bytes_per_weight(expert_format)
        / (bandwidth * e.experts.mbu),
        expert_sharpness=e.experts.sharpness,
        reduce_count=2.0 * a.layers if spread > 1 else 0.0,
        reduce_latency_s=c.latency_s,
        reduce_bytes=token_bytes * ring,
        reduce_bandwidth_s=REFERENCE_BYTES / (link * c.bandwidth_fraction),
        reduce_exponent=c.size_exponent,
        reduce_direct_tokens=c.direct_bytes / token_bytes,
        reduce_direct_s=token_bytes * (spread - 1) / (link * c.direct_fraction),
        send_latency_s=(p.pp - 1) * c.latency_s,
        send_token_s=(p.pp - 1) * token_bytes / (link * c.bandwidth_fraction),
        step_overhead_s=instance.engine.step_overhead_s + a.layers * instance.engine.layer_overhead_s,
    )


def kv_bytes_per_layer_token(architecture: Architecture, kv_format: str, tp: int) -> float:
    """KV bytes one GPU of a TP group holds per token and layer: heads are split, never below one; MLA is not."""
    element = bytes_per_kv_element(kv_format)
    if architecture.attention == "mla":
        return (architecture.mla_kv_rank + architecture.mla_rope_dim) * element
    return 2.0 * architecture.head_dim * max(architecture.kv_heads / tp, 1.0) * element


def _rate(instance: Instance, fmt: str) -> float:
    rate = compute_flop_per_s(instance.accelerator, fmt)
    assert not isinstance(rate, Infeasible)  # build_instance has refused the others
    return rate


@dataclass(frozen=True, slots=True)
class DenseShape:
    """Over all layers on one GPU: weights, matrix products, activation elements one token reads and writes."""

    elements: float
    products: float
    activations: float


def dense_shape(architecture: Architecture, tp: int) -> DenseShape:
    """Projections, dense MLPs, routers and shared experts of one GPU of a TP group."""
    a = architecture
    mixers = attention_layers(a)
    if a.attention == "mla":
        replicated = a.hidden_size * (a.mla_q_rank + a.mla_kv_rank + a.mla_rope_dim)
        attention = replicated + (attention_parameters(a) - replicated) / tp
        products = 5.0
    else:
        query = 2.0 * a.hidden_size * a.head_dim * a.heads / tp
        attention = query + 2.0 * a.hidden_size * a.head_dim * max(a.kv_heads / tp, 1.0)
        products = 2.0
    mlps = dense_mlp_layers(a)
    shared = 2.0 if a.shared_experts else 0.0
    elements = mixers * attention + mlps * mlp_parameters(a) / tp
    elements += a.moe_layers * (a.hidden_size * a.experts + shared_expert_parameters(a) / tp)
    kernels = mixers * products + mlps * 2.0 + a.moe_layers * (1.0 + shared)
    activations = mixers * (2.0 * a.hidden_size + 2.0 * a.heads * a.head_dim / tp)
    activations += mlps * (2.0 * a.hidden_size + a.mlp_matrices * a.intermediate_size / tp)
    return DenseShape(elements, kernels, activations)


def _element_kernels(a: Architecture) -> float:
    return 2.0 * a.layers + dense_mlp_layers(a)


def _element_bytes(a: Architecture, tp: int) -> float:
    """Traffic of one token: two norms with residual (read two, write two), gate times up (read two, write one)."""
    norms = 2.0 * 4.0 * a.hidden_size * _ACTIVATION_BYTES * a.layers
    gates = 3.0 * a.intermediate_size / tp * _ACTIVATION_BYTES * dense_mlp_layers(a)
    return norms + gates


def _attention_flop(a: Architecture, heads: float) -> tuple[float, float]:
    """FLOP of one layer per (query, key) pair in prefill and per context token in decode.

    MLA multiplies expanded heads in prefill and the shared latent in decode.
    """
    if a.attention == "mla":
        expanded = a.mla_nope_dim + a.mla_rope_dim + a.mla_v_dim
        latent = 2 * a.mla_kv_rank + a.mla_rope_dim
        return 2.0 * heads * expanded, 2.0 * heads * latent
    return 4.0 * heads * a.head_dim, 4.0 * heads * a.head_dim
