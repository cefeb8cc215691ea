"""What each layer of a Hugging Face config keeps: all tokens, a window, a constant state, or nothing."""

from collections.abc import Callable
from typing import Any, Literal

from pdexplorer.catalog.hf_compressed import compress_ratios, compressed_fields
from pdexplorer.catalog.hf_fields import Config, count, needed, sequence

LayerKind = Literal["full", "window", "linear", "none"]

_LAYER_TYPES: dict[str, LayerKind] = {
    "full_attention": "full",
    "attention": "full",
    "indexed_attention": "full",
    "sliding_attention": "window",
    "chunked_attention": "window",
    "linear_attention": "linear",
    "mamba": "linear",
}
_PATTERN_LETTERS: dict[str, LayerKind] = {"*": "full", "M": "linear", "-": "none", "E": "none"}
_STATE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_CONV_BYTES = 2


def layer_kinds(config: Config, layers: int) -> list[LayerKind]:
    """Kind of every layer, by the rule of its family. ValueError for one that is not modelled."""
    family = config["model_type"]
    if pattern := config.get("hybrid_override_pattern"):
        return _from_letters(pattern, layers)
    if linear := config.get("linear_attn_config"):
        full = {index - 1 for index in linear["full_attn_layers"]}  # the file counts layers from 1
        return _by_rule(layers, lambda i: "full" if i in full else "linear")
    if pattern := sequence(config, "hybrid_layer_pattern", layers):
        return ["window" if entry == 1 else "full" for entry in pattern]
    if blocks := sequence(config, "block_configs", layers):
        return [_block_kind(block) for block in blocks]
    if types := sequence(config, "layer_types", layers):
        return [_named(entry) for entry in types]
    if types := sequence(config, "attn_type_list", layers):
        return ["full" if entry == 1 else "linear" for entry in types]
    return _by_family(config, family, layers)


def attention_fields(config: Config, layers: int) -> dict[str, Any]:
    """The fields of an Architecture that say how attention is laid out and what it keeps."""
    if ratios := compress_ratios(config, layers):
        return compressed_fields(config, ratios)
    _refuse_unlike_shapes(config)
    kinds = layer_kinds(config, layers)
    fields: dict[str, Any] = {
        "full_layers": kinds.count("full"),
        "window_layers": kinds.count("window"),
        "linear_layers": kinds.count("linear"),
        "output_gate": bool(config.get("attn_output_gate") or config["model_type"] == "qwen3_next"),
        # MiniMax-M2: one norm over all heads of a layer, not one a head.
        "norm_across_heads": bool(config.get("use_qk_norm") and config.get("qk_norm_type") == "per_layer"),
    }
    if fields["window_layers"]:
        fields["window_tokens"] = needed(config, "sliding_window", "attention_chunk_size")
    if fields["linear_layers"]:
        state_bytes, params = _linear_layer(config)
        fields["linear_state_bytes"] = fields["linear_layers"] * state_bytes
        fields["linear_layer_params"] = params
    return fields | (_latent(config) if count(config, "kv_lora_rank") else _grouped(config))


def _latent(config: Config) -> dict[str, Any]:
    """One latent per token and layer, whatever num_key_value_heads and head_dim say."""
    heads, nope, rope = (
        needed(config, "num_attention_heads"),
        needed(config, "qk_nope_head_dim"),
        needed(config, "qk_rope_head_dim"),
    )
    fields: dict[str, Any] = {
        "attention": "mla",
        "heads": heads,
        "kv_heads": heads,
        "head_dim": nope + rope,
        "mla_kv_rank": needed(config, "kv_lora_rank"),
        "mla_q_rank": count(config, "q_lora_rank") or 0,
        "mla_nope_dim": nope,
        "mla_rope_dim": rope,
        "mla_v_dim": needed(config, "v_head_dim"),
    }
    if index_heads := count(config, "index_n_heads"):
        fields |= {
            "index_heads": index_heads,
            "index_dim": needed(config, "index_head_dim"),
            "index_top_k_tokens": needed(config, "index_topk"),
        }
        if types := config.get("indexer_types"):
            fields["index_layers"] = list(types).count("full")
    return fields


def _grouped(config: Config) -> dict[str, Any]:
    heads = needed(config, "num_attention_heads", "n_head", "n_heads")
    head_dim = count(config, "head_dim", "attention_head_dim")
    if not head_dim:
        hidden = needed(config, "hidden_size", "n_embd", "d_model")
        if hidden % heads:
            raise ValueError(
                f"config.json: head_dim is missing and hidden_size = {hidden} is no multiple of {heads} heads"
            )
        head_dim = hidden // heads
    return {"attention": "gqa", "heads": heads, "kv_heads": _kv_heads(config, heads), "head_dim": head_dim}


def _kv_heads(config: Config, heads: int) -> int:
    if blocks := config.get("block_configs"):
        groups = {block["attention"].get("n_heads_in_group") for block in blocks} - {None}
        if len(groups) != 1:
            raise ValueError(
                f"config.json: layers with unlike KV heads ({sorted(groups)} a group) aren't modelled"
            )
        return heads // int(groups.pop())
    if kv_heads := count(config, "num_key_value_heads", "num_kv_heads", "n_head_kv"):
        if heads % kv_heads:
            raise ValueError(f"config.json: num_key_value_heads = {kv_heads} must divide the {heads} heads")
        return kv_heads
    return 1 if config.get("multi_query") else heads


def _refuse_unlike_shapes(config: Config) -> None:
    """Families whose layers keep KV of more than one shape would come out wrong by a factor: refuse them."""
    family = config["model_type"]
    for full, other in (
        ("num_key_value_heads", "swa_num_key_value_heads"),
        ("num_key_value_heads", "num_global_key_value_heads"),
        ("head_dim", "global_head_dim"),
        ("head_dim", "swa_head_dim"),
        *((("head_dim", "v_head_dim"),) if not config.get("kv_lora_rank") else ()),
    ):
        if config.get(other) not in (None, config.get(full)):
            raise ValueError(
                f"config.json: {family} has {full} = {config.get(full)} but {other} = {config[other]}: "
                "KV of two shapes isn't modelled"
            )
    if config.get("num_kv_shared_layers"):
        raise ValueError(f"config.json: {family} shares KV between layers, which isn't modelled")


def _linear_layer(config: Config) -> tuple[int, int]:
    """(bytes of state of one sequence, matmul weights) of one linear-attention or Mamba layer."""
    hidden = needed(config, "hidden_size")
    if kda := config.get("linear_attn_config"):
        heads, dim, kernel = kda["num_heads"], kda["head_dim"], kda["short_conv_kernel_size"]
        inner = heads * dim
        state = inner * dim * 4 + 3 * inner * (kernel - 1) * _CONV_BYTES
        # query, key, value, output gate and output; the low-rank decay gate; one beta a head
        return state, 5 * hidden * inner + hidden * dim + dim * inner + hidden * heads
    if heads := count(config, "mamba_num_heads"):
        inner = heads * needed(config, "mamba_head_dim")
        per_head, kernel = needed(config, "ssm_state_size"), needed(config, "conv_kernel")
        grouped = 2 * needed(config, "n_groups") * per_head
        width = _STATE_BYTES.get(str(config.get("mamba_ssm_cache_dtype")), _CONV_BYTES)
        state = inner * per_head * width + (inner + grouped) * (kernel - 1) * _CONV_BYTES
        return state, hidden * (2 * inner + grouped + heads) + inner * hidden
    keys = needed(config, "linear_num_key_heads") * needed(config, "linear_key_head_dim")
    value_heads, value_dim = needed(config, "linear_num_value_heads"), needed(config, "linear_value_head_dim")
    values, kernel = value_heads * value_dim, needed(config, "linear_conv_kernel_dim")
    width = _STATE_BYTES.get(str(config.get("mamba_ssm_dtype")), 4)
    state = (
        values * needed(config, "linear_key_head_dim") * width
        + (2 * keys + values) * (kernel - 1) * _CONV_BYTES
    )
    return state, hidden * (2 * keys + 2 * values + 2 * value_heads) + values * hidden


def _by_family(config: Config, family: str, layers: int) -> list[LayerKind]:
    if family in ("gpt_oss", "gemma2"):
        return _by_rule(layers, lambda i: "window" if (i + 1) % 2 else "full")
    if family in ("gemma3", "gemma3_text"):
        every = needed(config, "sliding_window_pattern")
        return _by_rule(layers, lambda i: "window" if (i + 1) % every else "full")
    if family in ("llama4", "llama4_text"):
        if rope := sequence(config, "no_rope_layers", layers):
            return ["window" if entry else "full" for entry in rope]
        every = needed(config, "no_rope_layer_interval")
        return _by_rule(layers, lambda i: "window" if (i + 1) % every else "full")
    if family.startswith(("qwen3_next", "qwen3_5")):
        every = needed(config, "full_attention_interval")
        return _by_rule(layers, lambda i: "linear" if (i + 1) % every else "full")
    if family in ("minimax", "minimax_text_01"):
        return _by_rule(layers, lambda i: "full" if (i + 1) % 2 else "linear")
    window = count(config, "sliding_window")
    if window and family in ("mistral", "mixtral", "phimoe"):
        bounded = window < (count(config, "max_position_embeddings") or window + 1)
        return ["window" if bounded else "full"] * layers
    if window and config.get("use_sliding_window") is True:
        first = count(config, "max_window_layers") or 0
        return _by_rule(layers, lambda i: "window" if i >= first else "full")
    return ["full"] * layers


def _by_rule(layers: int, rule: Callable[[int], LayerKind]) -> list[LayerKind]:
    return [rule(i) for i in range(layers)]


def _from_letters(pattern: str, layers: int) -> list[LayerKind]:
    if len(pattern) != layers or not set(pattern) <= _PATTERN_LETTERS.keys():
        raise ValueError(
            f"config.json: hybrid_override_pattern = {pattern!r} must be {layers} letters of "
            f"{' '.join(_PATTERN_LETTERS)}"
        )
    return [_PATTERN_LETTERS[letter] for letter in pattern]


def _named(entry: Any) -> LayerKind:
    if entry not in _LAYER_TYPES:
        raise ValueError(f"config.json: layer_types holds {entry!r}; known are {', '.join(_LAYER_TYPES)}")
    return _LAYER_TYPES[entry]


def _block_kind(block: Any) -> LayerKind:
    attention = block["attention"]
    if attention.get("window_length"):
        raise ValueError("config.json: block_configs with window_length aren't modelled")
    return "none" if attention.get("no_op") or attention.get("replace_with_linear") else "full"
