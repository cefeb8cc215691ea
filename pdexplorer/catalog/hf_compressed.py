"""DeepSeek-V4's attention in a Hugging Face config: layers that keep one KV entry for several tokens.

Shapes: huggingface.co/docs/transformers model_doc/deepseek_v4; docs.nvidia.com nemo_automodel
models/deepseek_v4/layers; ROCm/ATOM issue 664 (taken from the owner's own inference code).
"""

from typing import Any

from pdexplorer.catalog.hf_fields import Config, count, needed, sequence

_INDEXED_RATIO = 4
"""Layers of this ratio choose their entries by an indexer (compressed sparse); those of a larger one read
all (heavily compressed); of 0, there is a window alone."""

_NAMES = {
    "sliding_attention": 0,
    "compressed_sparse_attention": _INDEXED_RATIO,
    "heavily_compressed_attention": None,
}


def compress_ratios(config: Config, layers: int) -> list[int] | None:
    """Tokens of one KV entry of every layer, 0 where there are none; None for a family without.

    Layers after the last one are its draft layers', which nobody counts here. ValueError for ratios of a
    family that is not modelled.
    """
    family, ratios = config["model_type"], config.get("compress_ratios")
    rates = config.get("compress_rates")
    if not ratios and not rates:
        return None
    if family != "deepseek_v4":
        raise ValueError(
            f"config.json: {family} keeps one KV entry for several tokens (compress_ratios); known is only "
            "how deepseek_v4 does"
        )
    if not ratios:
        ratios = [_ratio(entry, rates) for entry in sequence(config, "layer_types", layers) or ()]
    if not isinstance(ratios, list) or len(ratios) < layers:
        raise ValueError(f"config.json: compress_ratios must be a list of at least {layers} layers")
    own = ratios[:layers]
    heavy = {ratio for ratio in own if ratio not in (0, _INDEXED_RATIO)}
    if len(heavy) > 1 or not all(type(ratio) is int and ratio > _INDEXED_RATIO for ratio in heavy):
        raise ValueError(
            f"config.json: compress_ratios holds {', '.join(sorted(str(ratio) for ratio in set(own)))}; "
            f"known are 0, {_INDEXED_RATIO} and one larger ratio"
        )
    return own


def compressed_fields(config: Config, ratios: list[int]) -> dict[str, Any]:
    """The fields of an Architecture: one latent of head_dim is key and value of all heads."""
    rope, width = needed(config, "qk_rope_head_dim"), needed(config, "head_dim")
    if rope >= width:
        raise ValueError(f"config.json: qk_rope_head_dim = {rope} must be below head_dim = {width}")
    heavy = [ratio for ratio in ratios if ratio > _INDEXED_RATIO]
    fields: dict[str, Any] = {
        "attention": "mla",
        "heads": needed(config, "num_attention_heads"),
        "kv_heads": 1,
        "head_dim": width,
        "mla_kv_rank": width - rope,
        "mla_q_rank": needed(config, "q_lora_rank"),
        "mla_nope_dim": width - rope,
        "mla_rope_dim": rope,
        "output_rank": needed(config, "o_lora_rank"),
        "output_groups": needed(config, "o_groups"),
        "full_layers": len(ratios) - ratios.count(0),
        "window_layers": ratios.count(0),
        "window_tokens": needed(config, "sliding_window"),
        "heavy_layers": len(heavy),
        "heavy_compress_ratio": heavy[0] if heavy else 1,
        "residual_streams": count(config, "hc_mult", low=1) or 1,
    }
    if _INDEXED_RATIO in ratios:
        fields |= {
            "compress_ratio": _INDEXED_RATIO,
            "index_heads": needed(config, "index_n_heads"),
            "index_dim": needed(config, "index_head_dim"),
            "index_top_k_tokens": _INDEXED_RATIO * needed(config, "index_topk"),
        }
    return fields


def _ratio(entry: Any, rates: Any) -> Any:
    """Of one of transformers' layer_types, by its compress_rates."""
    if entry not in _NAMES:
        raise ValueError(f"config.json: layer_types holds {entry!r}; known are {', '.join(_NAMES)}")
    return rates.get(entry, _NAMES[entry])
