"""Weight and KV formats from the many ways checkpoints state them."""

import json
from typing import Any

import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.catalog.hf_config import kv_format_of, weight_format_of
from pdexplorer.physics.formats import split_formats
from tests.shared_data import shared_path


def compressed(layout: str, **weights: Any) -> dict[str, Any]:
    return {
        "quant_method": "compressed-tensors",
        "format": layout,
        "config_groups": {"group_0": {"weights": weights}},
    }


@pytest.mark.parametrize(
    ("quantization", "expected"),
    [
        (None, "bf16"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8_block"),
        ({"quant_method": "fp8"}, "fp8"),
        ({"quant_method": "mxfp4"}, "mxfp4"),
        ({"quant_algo": "FP8"}, "fp8"),
        ({"quant_algo": "NVFP4"}, "nvfp4"),
        ({"quant_method": "awq", "bits": 4}, "int4"),
        ({"quant_method": "awq", "w_bit": 4}, "int4"),
        ({"quant_method": "gptq", "bits": 8}, "int8"),
        (compressed("float-quantized", num_bits=8, type="float", strategy="channel"), "fp8"),
        (compressed("float-quantized", num_bits=8, type="float", strategy="block"), "fp8_block"),
        (compressed("pack-quantized", num_bits=4, type="int"), "int4"),
        (compressed("mxfp4-pack-quantized", num_bits=4, type="float"), "mxfp4"),
    ],
)
def test_weight_formats(quantization: dict[str, Any] | None, expected: str) -> None:
    assert weight_format_of({"quantization_config": quantization}) == expected
    assert weight_format_of({"text_config": {"quantization_config": quantization}}) == expected


def test_experts_in_fp4_beside_other_weights() -> None:
    blocks = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    assert weight_format_of({"expert_dtype": "fp4", "quantization_config": blocks}) == "fp8_mxfp4"
    models = load_catalog().models
    assert split_formats("fp8_mxfp4", models["deepseek_v4_flash"]) == ("fp8_block", "mxfp4")
    assert split_formats("fp8_mxfp4", models["llama_3_1_8b"]) == ("fp8_block", "fp8_block")
    assert split_formats("mxfp4", models["gpt_oss_120b"]) == ("bf16", "mxfp4")


def test_unknown_methods_are_named() -> None:
    with pytest.raises(ValueError, match="'aqlm' is not known"):
        weight_format_of({"quantization_config": {"quant_method": "aqlm"}})
    with pytest.raises(ValueError, match="bits = '3'"):
        weight_format_of({"quantization_config": {"quant_method": "gptq", "bits": 3}})


def test_kv_format_is_bf16_unless_the_checkpoint_asks() -> None:
    assert kv_format_of({}) == "bf16"
    assert kv_format_of({"quantization_config": {"kv_cache_scheme": "FP8"}}) == "fp8"
    assert kv_format_of({"quantization": {"kv_cache_quant_algo": "FP8"}}) == "fp8"
    assert kv_format_of({"quantization_config": {"kv_cache_scheme": {"num_bits": 8}}}) == "fp8"


def test_every_published_config_has_a_format() -> None:
    for path in sorted(shared_path("hf_config").glob("*.json")):
        assert weight_format_of(json.loads(path.read_text(encoding="utf-8")))
