"""Looking things up in a Hugging Face config.json: nesting, other spellings, null and missing keys."""

from collections.abc import Mapping
from typing import Any

Config = Mapping[str, Any]

_NESTED = ("text_config", "llm_config", "language_config")

# Missing keys take the defaults of their class, not zero (transformers 5.24 models/*/configuration_*.py).
_GEMMA = {
    "num_hidden_layers": 26,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "sliding_window": 4096,
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "tie_word_embeddings": True,
}
_GEMMA3 = {**_GEMMA, "sliding_window_pattern": 6, "vocab_size": 262_208, "max_position_embeddings": 131_072}
_LLAMA4 = {"attention_chunk_size": 8192, "no_rope_layer_interval": 4, "interleave_moe_layer_step": 1}
_QWEN_LINEAR = {"full_attention_interval": 4, "linear_conv_kernel_dim": 4}
_CLASS_DEFAULTS: Mapping[str, Config] = {
    "gemma2": {**_GEMMA, "vocab_size": 256_000, "max_position_embeddings": 8192},
    "gemma3": _GEMMA3,
    "gemma3_text": _GEMMA3,
    "llama4": _LLAMA4,
    "llama4_text": _LLAMA4,
    "mixtral": {"num_local_experts": 8, "num_experts_per_tok": 2},
    "gpt_oss": {"sliding_window": 128},
    "qwen3_next": _QWEN_LINEAR,
    "qwen3_5": _QWEN_LINEAR,
    "qwen3_5_text": _QWEN_LINEAR,
    "qwen3_5_moe": _QWEN_LINEAR,
    "qwen3_5_moe_text": _QWEN_LINEAR,
    "opt": {"tie_word_embeddings": True},
    "bloom": {"tie_word_embeddings": True},
    "gpt2": {"tie_word_embeddings": True},
    "falcon": {"tie_word_embeddings": True},
}


def text_config(config: Config) -> dict[str, Any]:
    """The language model's part of a config, with the defaults of its class under what it says itself.

    Multimodal configs nest it; what only the outer level says (dtype, quantisation, tied embeddings) is kept.
    """
    inner: Config = next((config[key] for key in _NESTED if isinstance(config.get(key), Mapping)), config)
    family = str(inner.get("model_type") or config.get("model_type") or "")
    outer = {
        key: config[key]
        for key in ("tie_word_embeddings", "dtype", "torch_dtype", "quantization_config")
        if config.get(key) is not None
    }
    said = {key: value for key, value in inner.items() if value is not None}
    return {**_CLASS_DEFAULTS.get(family, {}), **outer, **said, "model_type": family}


def count(config: Config, *keys: str, low: int = 0) -> int | None:
    """The first of some spellings that is there and not null. ValueError where it is not a whole number from
    low.
    """
    for key in keys:
        value = config.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise ValueError(f"config.json: {key} = {value!r} must be a whole number from {low}")
        return value
    return None


def needed(config: Config, *keys: str) -> int:
    """`count` from 1, or ValueError naming the key that is missing."""
    value = count(config, *keys, low=1)
    if value is None:
        family = config.get("model_type") or "unnamed"
        raise ValueError(
            f"config.json: {keys[0]} is missing, and the {family} family has no default known here"
        )
    return value


def sequence(config: Config, key: str, length: int) -> list[Any] | None:
    """A list with one entry a layer, or None where it is absent or empty. ValueError for another length."""
    value = config.get(key)
    if not value:
        return None
    if not isinstance(value, list) or len(value) != length:
        shown = f"{len(value)} entries" if isinstance(value, list) else repr(value)
        raise ValueError(f"config.json: {key} has {shown}, but there are {length} layers")
    return value
