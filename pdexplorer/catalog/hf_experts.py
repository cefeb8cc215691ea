"""The MLP side of a Hugging Face config: dense width, experts, and which layers have which."""

from typing import Any

from pdexplorer.catalog.hf_fields import Config, count, needed, sequence

_TWO_MATRICES = frozenset(
    (
        "opt",
        "bloom",
        "gpt2",
        "gpt_neox",
        "gptj",
        "falcon",
        "mpt",
        "phi",
        "starcoder2",
        "nemotron",
        "nemotron_h",
    )
)
_SPARSE = ("sparse", "moe", "hash_moe")
"""How layers with experts are named; hash_moe picks them by the token itself (DeepSeek-V4's first layers)."""
_FOUR_HIDDEN = frozenset(("bloom", "gpt2", "falcon", "mpt"))
"""Families whose MLP is four times the hidden size where the config does not say."""


def mlp_fields(config: Config, layers: int) -> dict[str, Any]:
    """The fields of an Architecture about its MLPs and experts."""
    family = config["model_type"]
    fields: dict[str, Any] = {"mlp_matrices": 2 if family in _TWO_MATRICES else 3}
    experts = count(config, "num_experts", "num_local_experts", "n_routed_experts") or 0
    if experts:
        fields |= _experts(config, family, experts) | {"moe_layers": _moe_layers(config, layers)}
    dense = layers - fields.get("moe_layers", 0)
    if pattern := config.get("hybrid_override_pattern"):
        dense = fields["dense_mlp_layers"] = pattern.count("-")
    fields["intermediate_size"] = _dense_width(config, family, dense > 0)
    return fields


def _experts(config: Config, family: str, experts: int) -> dict[str, Any]:
    width = needed(config, "moe_intermediate_size", "intermediate_size")
    fields: dict[str, Any] = {
        "experts": experts,
        "experts_per_token": needed(
            config, "num_experts_per_tok", "num_experts_per_token", "top_k_experts", "experts_per_token"
        ),
        "expert_intermediate_size": width,
        "expert_hidden_size": count(config, "routed_expert_hidden_size") or 0,
    }
    shared = count(config, "n_shared_experts", "num_shared_experts")
    shared_width = count(
        config, "moe_shared_expert_intermediate_size", "shared_expert_intermediate_size", "share_expert_dim"
    )
    if shared is None and (shared_width or family.startswith("llama4")):
        shared = 1  # one shared expert that no key counts
    if shared:
        fields |= {"shared_experts": shared, "shared_intermediate_size": shared_width or width}
    return fields


def _moe_layers(config: Config, layers: int) -> int:
    if types := sequence(config, "mlp_layer_types", layers):
        return sum(types.count(kind) for kind in _SPARSE)
    if pattern := config.get("hybrid_override_pattern"):
        return int(pattern.count("E"))
    if isinstance(config.get("moe_layers"), list):
        return len(config["moe_layers"])
    # One field, two types: 1 in DeepSeek, a list of 0 and 1 in MiMo and MiniMax-M3.
    if isinstance(config.get("moe_layer_freq"), list):
        return sum(1 for entry in sequence(config, "moe_layer_freq", layers) or () if entry)
    if (step := count(config, "interleave_moe_layer_step")) is not None:
        return sum(1 for i in range(layers) if step and (i + 1) % step == 0)
    if (step := count(config, "decoder_sparse_step")) is not None:
        dense = set(config.get("mlp_only_layers") or ())
        return sum(1 for i in range(layers) if i not in dense and step and (i + 1) % step == 0)
    first, every = count(config, "first_k_dense_replace") or 0, count(config, "moe_layer_freq") or 1
    return sum(1 for i in range(first, layers) if i % every == 0)


def _dense_width(config: Config, family: str, has_dense: bool) -> int:
    if family.startswith("llama4") and (width := count(config, "intermediate_size_mlp")):
        return width
    width = count(config, "intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size") or 0
    if width or not has_dense:
        return width
    if family in _FOUR_HIDDEN:
        return 4 * needed(config, "hidden_size", "n_embd", "d_model")
    if blocks := config.get("block_configs"):
        return _mean_block_width(config, blocks)
    return needed(config, "intermediate_size")


def _mean_block_width(config: Config, blocks: Any) -> int:
    """Layers of unlike width (nemotron-nas) as their mean: weights and FLOP add up the same."""
    hidden = needed(config, "hidden_size")
    multiples = [0 if block["ffn"].get("no_op") else block["ffn"].get("ffn_mult") or 0 for block in blocks]
    widths = [-(-int(2 * multiple * hidden / 3) // 256) * 256 for multiple in multiples]
    return round(sum(widths) / len(widths))
