"""Parameters of a model, matrix by matrix: what its weights' bytes and FLOPs follow from."""

from dataclasses import dataclass

from pdexplorer.catalog.architecture import Architecture


@dataclass(frozen=True, slots=True)
class ParameterCount:
    """total: all parameters. active_matmul: those one token multiplies with (no embedding table)."""

    total: float
    active_matmul: float


def attention_parameters(architecture: Architecture) -> float:
    """Projection weights of one attention layer, without its indexer and compressor."""
    a = architecture
    if a.attention == "mla":
        key_dim = a.mla_nope_dim + a.mla_rope_dim
        query = (
            a.hidden_size * a.mla_q_rank + a.mla_q_rank * a.heads * key_dim
            if a.mla_q_rank
            else a.hidden_size * a.heads * key_dim
        )
        latent = a.hidden_size * (a.mla_kv_rank + a.mla_rope_dim)
        expand = a.mla_kv_rank * a.heads * (a.mla_nope_dim + a.mla_v_dim) if a.mla_v_dim else 0
        return float(query + latent + expand + _output_parameters(a))
    queries = (2 if a.output_gate else 1) * a.heads
    return float(a.hidden_size * a.head_dim * (queries + a.heads + 2 * a.kv_heads))


def _output_parameters(a: Architecture) -> int:
    """Of latent attention: one matrix, or a low rank for each group of heads and one matrix over them."""
    width = a.heads * (a.mla_v_dim or latent_width(a))
    if a.output_rank:
        return width * a.output_rank + a.output_groups * a.output_rank * a.hidden_size
    return width * a.hidden_size


def latent_width(architecture: Architecture) -> int:
    """Elements of one latent, its rotary part included."""
    return architecture.mla_kv_rank + architecture.mla_rope_dim


def compressor_parameters(architecture: Architecture) -> float:
    """Weights of all layers' compressors: values and gates, twice as wide where entries overlap (those of
    compress_ratio; ROCm/ATOM issue 664).
    """
    a = architecture
    both = 2.0 * a.hidden_size * latent_width(a)
    light = 2.0 * both * (a.full_layers - a.heavy_layers) if a.compress_ratio > 1 else 0.0
    return light + both * a.heavy_layers


def index_parameters(architecture: Architecture) -> float:
    """Weights of one layer's sparse-attention indexer."""
    a = architecture
    if not a.index_heads:
        return 0.0
    queries = (a.mla_q_rank or a.hidden_size) * a.index_heads * a.index_dim
    keys = (4 if a.compress_ratio > 1 else 1) * a.index_dim  # an overlapping compressor of its own
    return float(queries + a.hidden_size * (keys + a.index_heads))


def mlp_parameters(architecture: Architecture) -> float:
    """Weights of one dense MLP layer."""
    return float(architecture.mlp_matrices * architecture.hidden_size * architecture.intermediate_size)


def expert_width(architecture: Architecture) -> int:
    """Width routed experts read and write."""
    return architecture.expert_hidden_size or architecture.hidden_size


def expert_parameters(architecture: Architecture) -> float:
    """Weights of one routed expert."""
    a = architecture
    return float(a.mlp_matrices * expert_width(a) * a.expert_intermediate_size)


def shared_expert_parameters(architecture: Architecture) -> float:
    """Weights of all shared experts of one MoE layer."""
    a = architecture
    width = a.shared_experts * a.shared_intermediate_size
    return float(a.mlp_matrices * a.hidden_size * width)


def indexed_layers(architecture: Architecture) -> int:
    """Layers with a sparse-attention indexer of their own."""
    a = architecture
    if not a.index_heads:
        return 0
    return a.full_layers - a.heavy_layers if a.index_layers is None else a.index_layers


def mixer_parameters(architecture: Architecture) -> float:
    """Weights of all token mixers: attention, its indexers and compressors, and linear layers."""
    a = architecture
    linear = a.linear_layer_params or attention_parameters(a)
    softmax = (a.full_layers + a.window_layers) * attention_parameters(a)
    beside = indexed_layers(a) * index_parameters(a) + compressor_parameters(a)
    return softmax + a.linear_layers * linear + beside


def attention_layers(architecture: Architecture) -> int:
    """Layers with a token mixer, linear ones included."""
    return architecture.full_layers + architecture.window_layers + architecture.linear_layers


def dense_mlp_layers(architecture: Architecture) -> int:
    """Layers with a dense MLP."""
    if not architecture.intermediate_size:
        return 0
    if architecture.dense_mlp_layers is not None:
        return architecture.dense_mlp_layers
    return max(architecture.layers - architecture.moe_layers, 0)


def head_parameters(architecture: Architecture) -> float:
    """Weights of the LM head, tied or not."""
    return float(architecture.hidden_size * architecture.vocab_size)


def parameter_count(architecture: Architecture) -> ParameterCount:
    """Total and active parameters, from the shapes alone; norms and biases (below 0.1%) are left out."""
    a = architecture
    body = mixer_parameters(a) + dense_mlp_layers(a) * mlp_parameters(a)
    per_moe_layer = shared_expert_parameters(a) + a.hidden_size * a.experts
    body += a.moe_layers * per_moe_layer
    head = head_parameters(a)
    experts = a.moe_layers * expert_parameters(a)
    return ParameterCount(
        total=body + experts * a.experts + head * (1 if a.tie_embeddings else 2),
        active_matmul=body + experts * a.experts_per_token + head,
    )
