"""How a Hugging Face checkpoint stores its weights and asks for its KV cache."""

from collections.abc import Mapping
from typing import Any

from pdexplorer.catalog.hf_fields import Config, text_config

_ALGORITHMS = {
    "fp8": "fp8",
    "fp8_pb_wo": "fp8_block",
    "fp8_pb_real_quant": "fp8_block",
    "fp8_per_channel_per_token": "fp8",
    "nvfp4": "nvfp4",
    "w4a16_awq": "int4",
    "w4a8_awq": "int4",
    "w4a16": "int4",
    "w8a16": "int8",
    "int8_sq": "int8",
    "w8a8_sq_per_channel": "int8",
    "mxfp4": "mxfp4",
}
"""modelopt's quant_algo -> format."""


def weight_format_of(config: Config) -> str:
    """bf16, fp8, fp8_block, int8, int4, mxfp4, fp8_mxfp4 or nvfp4, by its quantization_config.

    Unquantised weights (float16, bfloat16, float32) are served as bf16. ValueError for an unknown method.
    """
    quantization = _quantization(config)
    if not quantization:
        return "bf16"
    method = str(quantization.get("quant_method") or "").lower()
    if "fp4" in str(config.get("expert_dtype", "")):
        return "fp8_mxfp4" if method == "fp8" else "mxfp4"
    if algorithm := quantization.get("quant_algo"):
        return _known(str(algorithm).lower(), _ALGORITHMS, "quant_algo")
    if method == "fp8":
        return "fp8_block" if quantization.get("weight_block_size") else "fp8"
    if method == "mxfp4":
        return "mxfp4"
    if method == "compressed-tensors":
        return _compressed(quantization)
    if method in ("awq", "gptq", "auto-round", "bitsandbytes"):
        return _integer(quantization)
    raise ValueError(
        f"config.json: quantization_config.quant_method = {method or None!r} is not known; "
        "known are fp8, mxfp4, compressed-tensors, modelopt's quant_algo, awq, gptq, auto-round, bitsandbytes"
    )


def kv_format_of(config: Config) -> str:
    """bf16, or fp8 where the checkpoint asks for it; mostly it is a flag of the server instead."""
    quantization = _quantization(config)
    scheme = quantization.get("kv_cache_scheme") or quantization.get("kv_cache_quant_algo")
    if isinstance(scheme, Mapping):
        return "fp8" if scheme.get("num_bits") == 8 else "bf16"
    return "fp8" if str(scheme).lower() == "fp8" else "bf16"


def _quantization(config: Config) -> Mapping[str, Any]:
    for holder in (config, text_config(config)):
        for key in ("quantization_config", "quantization", "compression_config"):
            found = holder.get(key)
            if isinstance(found, Mapping):
                return found
            if found:
                raise ValueError(
                    f"config.json: {key} = {found!r} must be an object with a quant_method or quant_algo"
                )
    return {}


def _compressed(quantization: Mapping[str, Any]) -> str:
    if "mxfp4" in (layout := str(quantization.get("format"))):
        return "mxfp4"
    if "nvfp4" in layout:
        return "nvfp4"
    groups = quantization.get("config_groups") or {}
    weights = next((group["weights"] for group in groups.values() if group.get("weights")), None)
    if weights is None:
        raise ValueError("config.json: quantization_config.config_groups names no weights")
    if weights.get("type") == "float":
        if weights.get("num_bits") == 4:
            return "nvfp4" if weights.get("group_size") == 16 else "mxfp4"
        return "fp8_block" if weights.get("strategy") == "block" else "fp8"
    return _bits(weights.get("num_bits"))


def _integer(quantization: Mapping[str, Any]) -> str:
    if quantization.get("load_in_4bit"):
        return "int4"
    if quantization.get("load_in_8bit"):
        return "int8"
    return _bits(quantization.get("bits", quantization.get("w_bit")))


def _bits(bits: Any) -> str:
    return _known(str(bits), {"4": "int4", "8": "int8"}, "bits")


def _known(value: str, table: Mapping[str, str], key: str) -> str:
    if value not in table:
        raise ValueError(f"config.json: {key} = {value!r} is not known; known are {', '.join(table)}")
    return table[value]
