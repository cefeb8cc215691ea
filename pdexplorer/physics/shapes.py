"""Shapes of a model's work on one GPU: weights, kernels, traffic and FLOP that step times are made of."""

from dataclasses import dataclass

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.physics.formats import bytes_per_kv_element
from pdexplorer.physics.parameters import (
    attention_layers,
    attention_parameters,
    compressor_parameters,
    dense_mlp_layers,
    index_parameters,
    indexed_layers,
    latent_width,
    mlp_parameters,
    shared_expert_parameters,
)
from pdexplorer.physics.smooth import smooth_max

ACTIVATION_BYTES = 2.0
"""Activations between kernels are 16-bit in every engine here."""

_OVERLAP_SHARPNESS = 2.0
"""How attention kernels hide exponentials behind products: most of the shorter (FlashAttention 3 and 4
work on two tiles in turn)."""


_ELEMENTS_PER_SCALE = 64


def latent_bytes(architecture: Architecture, kv_format: str) -> float:
    """Bytes of one latent as a cache keeps it.

    Where it is key and value alike, fp8 keeps the rotary part in 16 bits and a byte of scale for every 64
    elements: 448 + 2 x 64 + 8 = 584 of DeepSeek-V4 (fp8_ds_mla of vLLM's models/deepseek_v4).
    """
    a, element = architecture, bytes_per_kv_element(kv_format)
    if a.mla_v_dim or element > 1.0:
        return latent_width(a) * element
    return a.mla_kv_rank * element + 2.0 * a.mla_rope_dim + latent_width(a) / _ELEMENTS_PER_SCALE


def kv_bytes_per_layer_token(architecture: Architecture, kv_format: str, tp: int) -> float:
    """KV bytes of one entry (a token, where nothing is compressed) and layer that one GPU of a TP group
    holds: heads are split, never below one; MLA is not.
    """
    if architecture.attention == "mla":
        return latent_bytes(architecture, kv_format)
    heads = max(architecture.kv_heads / tp, 1.0)
    return 2.0 * architecture.head_dim * heads * bytes_per_kv_element(kv_format)


@dataclass(frozen=True, slots=True)
class DenseShape:
    """Over all layers on one GPU: weights, matrix products, activations one token reads and writes."""

    elements: float
    products: float
    activations: float


def dense_shape(architecture: Architecture, tp: int) -> DenseShape:
    """Projections, dense MLPs, routers and shared experts of one GPU of a TP group."""
    a = architecture
    mixers = attention_layers(a)
    whole = indexed_layers(a) * index_parameters(a) + compressor_parameters(a)  # on every GPU
    linear = a.linear_layers * (a.linear_layer_params or attention_parameters(a)) / tp
    softmax = a.full_layers + a.window_layers
    if a.attention == "mla":
        replicated = a.hidden_size * (a.mla_q_rank + latent_width(a))
        attention = replicated + (attention_parameters(a) - replicated) / tp
        products = router = 0.0  # timed inside the attention module, whose launches count them
    else:
        shared = 2.0 * a.hidden_size * a.head_dim * a.kv_heads  # keys and values; a head is never split
        attention = (attention_parameters(a) - shared) / tp + shared * max(1.0 / tp, 1.0 / a.kv_heads)
        products = 2.0
        router = 1.0 + (2.0 if a.shared_experts else 0.0)
    mlps = dense_mlp_layers(a)
    elements = softmax * attention + linear + whole + mlps * mlp_parameters(a) / tp
    elements += a.moe_layers * (a.hidden_size * a.experts + shared_expert_parameters(a) / tp)
    kernels = mixers * products + mlps * 2.0 + a.moe_layers * router
    activations = mixers * (2.0 * a.hidden_size + 2.0 * a.heads * a.head_dim / tp)
    activations += mlps * (2.0 * a.hidden_size + a.mlp_matrices * a.intermediate_size / tp)
    return DenseShape(elements, kernels, activations)


NORM_ACROSS_KERNELS = 4.0
"""Of a norm over all heads, assumed: squares of queries and of keys summed, both scaled. vLLM fused them and
their all-reduce only after 0.19 (fuse_minimax_qk_norm).
"""


def element_kernels(a: Architecture) -> float:
    """Kernels between the products of one step: two norms a layer, the activation of each dense MLP.

    Several residual streams are spread and gathered around every norm (vLLM issue 52911: unfused).
    """
    around = 3.0 if a.residual_streams > 1 else 1.0
    across = NORM_ACROSS_KERNELS * a.layers * a.norm_across_heads
    return 2.0 * around * a.layers + across + dense_mlp_layers(a) + 1.0  # the embedding is the last one


def element_bytes(a: Architecture, tp: int) -> float:
    """Traffic of one token: two norms with residual (all streams and the layer's output read and written),
    gate times up (read two, write one).
    """
    norms = 2.0 * (2.0 + 2.0 * a.residual_streams) * a.hidden_size * ACTIVATION_BYTES * a.layers
    gates = 3.0 * a.intermediate_size / tp * ACTIVATION_BYTES * dense_mlp_layers(a)
    # Queries and keys are read twice and written once.
    heads = (a.heads + a.kv_heads) * a.head_dim * a.norm_across_heads
    return norms + gates + 3.0 * heads / tp * ACTIVATION_BYTES * a.layers


def attention_flop(
    a: Architecture, heads: float, softmax_dims: float, absorbed: bool = False
) -> tuple[float, float]:
    """FLOP of one layer per (query, key) pair in prefill, what of its exponential products do not hide
    included, and per context token in decode.

    MLA multiplies the shared latent in decode, and in prefill expanded heads, or the latent where absorbed.
    Per entry where entries are compressed; a latent that is key and value is read in full for both.
    """
    if a.attention == "mla" and not a.mla_v_dim:
        latent = 2 * latent_width(a)
        pair = smooth_max(latent, 2.0 * softmax_dims, _OVERLAP_SHARPNESS)
        return 2.0 * heads * float(pair), 2.0 * heads * latent
    if a.attention == "mla":
        expanded = a.mla_nope_dim + a.mla_rope_dim + a.mla_v_dim
        latent = 2 * a.mla_kv_rank + a.mla_rope_dim
        pair = smooth_max(latent if absorbed else expanded, 2.0 * softmax_dims, _OVERLAP_SHARPNESS)
        return 2.0 * heads * float(pair), 2.0 * heads * latent
    pair = smooth_max(a.head_dim, softmax_dims, _OVERLAP_SHARPNESS)
    return 4.0 * heads * float(pair), 4.0 * heads * a.head_dim
