"""What fits: bytes of weights, of KV per token, and how many tokens of KV an instance holds."""

from typing import Any

import numpy as np

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.entries import (
    compressor_state_bytes,
    index_keys,
    kept_entries,
    local_entries,
    windowed_layers,
)
from pdexplorer.physics.formats import bytes_per_weight, missing_figure, split_formats
from pdexplorer.physics.instance import Instance, Parallelism
from pdexplorer.physics.parameters import expert_parameters, head_parameters
from pdexplorer.physics.shapes import dense_shape, kv_bytes_per_layer_token
from pdexplorer.units import GB

ENGINE_RESERVE_BYTES = 1e9
"""CUDA context, graphs and allocator slack of one GPU; vLLM logs 0.5 to 1.5 GB besides activations."""

ACTIVATION_TOKENS = 8192
"""Tokens an engine profiles its peak activations with; its step budget is of this size."""

REFERENCE_CONTEXT_TOKENS = 8192
"""Windowed layers keep no more than their window; capacity in tokens is quoted for sequences this long."""

_GPUS_TRIED = (1, 2, 4, 8, 16, 32, 64)


def kv_bytes_per_token(architecture: Architecture, kv_format: str) -> float:
    """KV bytes of one token over all layers that keep it, one copy; windowed layers count (up to their
    window). Keys of a sparse-attention indexer come on top: index_bytes_per_token; of compressed entries it
    is a token's share, and their windows are constant: sequence_bytes.
    """
    entries = kept_entries(architecture) + windowed_layers(architecture)
    return entries * kv_bytes_per_layer_token(architecture, kv_format, 1)


def index_bytes_per_token(architecture: Architecture) -> float:
    """Bytes of one token's keys in the sparse-attention indexers of all layers, which engines keep in fp8."""
    return index_keys(architecture) * architecture.index_dim


def sequence_bytes(architecture: Architecture, kv_format: str) -> float:
    """Bytes of one sequence whatever its length: states of linear layers; beside compressed entries the
    windows of all layers and what the compressors have not pooled yet.
    """
    a = architecture
    windows = local_entries(a) * kv_bytes_per_layer_token(a, kv_format, 1)
    return a.linear_state_bytes + windows + compressor_state_bytes(a)


def kv_bytes(architecture: Architecture, kv_format: str, tokens: Any) -> Any:
    """Exact KV bytes of one sequence of `tokens`: windowed layers up to their window, linear layers a
    constant; whole entries are not rounded where they are compressed.
    """
    a = architecture
    layer = kv_bytes_per_layer_token(a, kv_format, 1)
    unbounded = (kept_entries(a) * layer + index_bytes_per_token(a)) * tokens
    windowed = 0.0
    if windowed_layers(a) and a.window_tokens is not None:
        windowed = a.window_layers * layer * np.minimum(tokens, a.window_tokens)
    return unbounded + windowed + sequence_bytes(a, kv_format)


def kv_copies(architecture: Architecture, tp: int) -> float:
    """How often a TP group holds each token's KV: heads are not split below one; MLA's latent is whole on
    each.
    """
    if architecture.attention == "mla":
        return float(tp)
    return max(1.0, tp / architecture.kv_heads)


def kv_bytes_per_token_held(instance: Instance) -> float:
    """KV bytes of one token summed over the GPUs of the instance, for a sequence of the reference length."""
    tokens = REFERENCE_CONTEXT_TOKENS
    a = instance.architecture
    one_copy = (kv_bytes(a, instance.kv_format, tokens) - a.linear_state_bytes) / tokens
    return float(one_copy) * kv_copies(a, instance.parallelism.tp)


def kv_moved_bytes(architecture: Architecture, kv_format: str, tokens: Any, decode_tp: int) -> Any:
    """Bytes a transfer of one sequence moves: every copy the decode side's TP group will hold."""
    return kv_bytes(architecture, kv_format, tokens) * kv_copies(architecture, decode_tp)


def weight_bytes(architecture: Architecture, weight_format: str, parallelism: Parallelism) -> float:
    """Weight bytes on one GPU. Embedding and LM head stay 16-bit, as quantised checkpoints keep them."""
    a, p = architecture, parallelism
    dense_format, expert_format = split_formats(weight_format, a)
    dense = dense_shape(a, p.tp).elements * bytes_per_weight(dense_format)
    tables = head_parameters(a) * (1 if a.tie_embeddings else 2) * 2.0 / p.tp
    experts = (
        a.moe_layers * a.experts * expert_parameters(a) / (p.ep * p.moe_tp) * bytes_per_weight(expert_format)
    )
    return (dense + tables + experts) / p.pp


def activation_bytes(architecture: Architecture, parallelism: Parallelism) -> float:
    """Peak activations of one GPU: the residual streams, a norm's copy and the widest layer, at the step
    budget.
    """
    a, p = architecture, parallelism
    widest = max(
        a.intermediate_size * 2 / p.tp, a.experts_per_token * a.expert_intermediate_size * 2 / p.moe_tp
    )
    return ACTIVATION_TOKENS * ((3.0 + a.residual_streams) * a.hidden_size + widest) * 2.0


def kv_capacity_tokens(instance: Instance) -> float | Infeasible:
    """Tokens of KV the whole instance can hold, or by how much its weights miss and on which tp they would
    fit.
    """
    if instance.accelerator.usable_memory_bytes is None:
        return missing_figure(instance.accelerator.id, "memory_gb")
    free = _free_bytes(instance, instance.parallelism)
    if free <= 0:
        return Infeasible("memory", _does_not_fit(instance, -free))
    p = instance.parallelism
    return free * p.tp * p.pp / kv_bytes_per_token_held(instance) * p.attention_dp


def _free_bytes(instance: Instance, parallelism: Parallelism) -> float:
    usable = (instance.accelerator.usable_memory_bytes or 0.0) * instance.memory_fraction
    used = weight_bytes(instance.architecture, instance.weight_format, parallelism)
    return usable - used - activation_bytes(instance.architecture, parallelism) - ENGINE_RESERVE_BYTES


def _does_not_fit(instance: Instance, short_bytes: float) -> str:
    a, p = instance.architecture, instance.parallelism
    text = (
        f"{a.name} in {instance.weight_format} does not fit {instance.accelerator.id} at tp {p.tp}"
        f"{f' pp {p.pp}' if p.pp > 1 else ''}: {short_bytes / GB:.1f} GB short on each GPU"
    )
    for tp in _GPUS_TRIED:
        ep = tp * p.attention_dp if p.ep > 1 else 1
        if tp <= p.tp or a.heads % tp or ep > max(a.experts, 1):
            continue
        if _free_bytes(instance, Parallelism(tp, p.pp, ep, p.attention_dp)) > 0:
            return f"{text}; tp {tp} would fit"
    return f"{text}; no tp up to {_GPUS_TRIED[-1]} would fit"
