"""Counts of the catalogue's models: the KV cache follows from them, so the known sizes must come out."""

import json

import pytest

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.catalog import load_catalog
from tests.shared_data import shared_path

KV_BYTES_PER_TOKEN = {
    "llama_2_7b": 524_288,
    "llama_3_1_8b": 131_072,
    "llama_3_1_70b": 327_680,
    "llama_3_1_405b": 516_096,
    "qwen2_5_7b": 57_344,
    "qwen3_8b": 147_456,
    "qwen3_32b": 262_144,
    "qwen3_30b_a3b": 98_304,
    "qwen3_235b_a22b": 192_512,
    "mixtral_8x7b": 131_072,
    "deepseek_v3": 70_272,
    "deepseek_r1": 70_272,
    "deepseek_v3_1": 70_272,
    "kimi_k2": 70_272,
    "kimi_k2_5": 70_272,
    "deepseek_v2_lite": 31_104,
    "glm_5": 89_856,
    "glm_5_2": 89_856,
    "gpt_oss_120b": 73_728,
}


def kv_bytes_bf16(model: Architecture) -> int:
    if model.attention == "mla":
        return 2 * model.full_layers * (model.mla_kv_rank + model.mla_rope_dim)
    return 2 * 2 * (model.full_layers + model.window_layers) * model.kv_heads * model.head_dim


@pytest.mark.parametrize(("model", "expected"), KV_BYTES_PER_TOKEN.items())
def test_known_kv_bytes_per_token(model: str, expected: int) -> None:
    assert kv_bytes_bf16(load_catalog().models[model]) == expected


def test_layers_add_up() -> None:
    for key, model in load_catalog().models.items():
        assert model.full_layers + model.window_layers + model.linear_layers == model.layers, key
        assert model.moe_layers <= model.layers, key
        assert model.heads % model.kv_heads == 0, key


def test_known_shapes() -> None:
    models = load_catalog().models
    assert (models["gpt_oss_120b"].window_layers, models["gpt_oss_120b"].window_tokens) == (18, 128)
    assert models["deepseek_v3"].moe_layers == 58
    assert models["deepseek_v3_2"].index_top_k_tokens == 2048
    assert models["llama_4_scout"].full_layers == 12
    assert models["mistral_nemo_12b"].head_dim == 128
    assert models["minimax_m2_5"].experts == models["minimax_m2"].experts == 256


def test_every_model_of_the_facts_is_in_the_catalogue() -> None:
    facts = json.loads(shared_path("catalog/models.json").read_text(encoding="utf-8"))["models"]
    by_hf_id = {record.hf_id: record.architecture for record in load_catalog().model_records.values()}
    for fact in facts:
        model = by_hf_id[fact["hf_id"]]
        assert kv_bytes_bf16(model) == fact["kv_bytes_per_token_fp16"], fact["name"]
        assert model.linear_state_bytes == fact["linear_state_bytes_per_sequence"], fact["name"]
        assert model.published_params == pytest.approx(fact["params_total_published_b"] * 1e9), fact["name"]


def test_every_accelerator_of_the_facts_is_in_the_catalogue() -> None:
    facts = json.loads(shared_path("catalog/hardware.json").read_text(encoding="utf-8"))["accelerators"]
    devices = load_catalog().accelerators
    for fact in facts:
        figures = devices[fact["id"]].figures
        for field, figure in figures.items():
            if field != "driver_memory_mib":  # has a source of its own
                assert figure.value == fact[field], (fact["id"], field)
