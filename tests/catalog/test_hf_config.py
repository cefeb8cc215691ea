"""config.json files of many families become the architecture their catalogue record states."""

import json
from typing import Any

import pytest

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.catalog.hf_config import read_hf_config
from tests.shared_data import shared_path

SAME_AS = {
    "Qwen--Qwen3-235B-A22B": "qwen3_235b_a22b",
    "Qwen--Qwen3-30B-A3B": "qwen3_30b_a3b",
    "Qwen--Qwen3-32B-FP8-Static-PerTensor": "qwen3_32b",
    "Qwen--Qwen3-8B": "qwen3_8b",
    "Qwen--Qwen3-VL-30B-A3B-Instruct": "qwen3_30b_a3b",
    "Qwen--Qwen3-VL-32B-Instruct": "qwen3_32b",
    "Qwen--Qwen3.5-35B-A3B": "qwen3_5_35b_a3b",
    "Qwen--Qwen3.5-397B-A17B": "qwen3_5_397b_a17b",
    "codellama-34b-instruct-hf": "codellama_34b",
    "deepseek-ai--DeepSeek-V3": "deepseek_v3",
    "deepseek-ai--DeepSeek-V4-Pro": "deepseek_v4_pro",
    "deepseek-v2-lite": "deepseek_v2_lite",
    "llama-4-scout-17b-16e-instruct-fp8-dynamic": "llama_4_scout",
    "meta-llama--Llama-4-Maverick-17B-128E-Instruct": "llama_4_maverick",
    "meta-llama--Llama-4-Scout-17B-16E-Instruct": "llama_4_scout",
    "meta-llama--Meta-Llama-3.1-8B": "llama_3_1_8b",
    "mistral-nemo-instruct-2407": "mistral_nemo_12b",
    "mistralai--Mixtral-8x7B-v0.1": "mixtral_8x7b",
    "moonshotai--Kimi-K2-Instruct": "kimi_k2",
    "openai--gpt-oss-120b": "gpt_oss_120b",
    "openai--gpt-oss-20b": "gpt_oss_20b",
    "qwen2.5-7b-instruct": "qwen2_5_7b",
    "qwen3-30b-a3b": "qwen3_30b_a3b",
    "yi-34b": "yi_34b",
    "zai-org--GLM-5": "glm_5",
    "zai-org--GLM-5.2": "glm_5_2",
}
NOT_THE_SHAPE = {"name", "published_params", "max_context_tokens", "native_weight_format"}
TINY = {
    "model_type": "llama",
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 100,
}


def shared_config(file: str) -> Any:
    return json.loads(shared_path(f"hf_config/{file}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("file", "model"), SAME_AS.items())
def test_a_published_config_is_its_catalogue_record(file: str, model: str) -> None:
    read = read_hf_config(shared_config(file)).model_dump(exclude=NOT_THE_SHAPE)
    assert read == load_catalog().models[model].model_dump(exclude=NOT_THE_SHAPE)


def test_hybrids_count_what_keeps_kv() -> None:
    nano = read_hf_config(shared_config("nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"))
    assert (nano.full_layers, nano.linear_layers, nano.moe_layers, nano.dense_mlp_layers) == (6, 23, 23, 0)
    large = read_hf_config(shared_config("nvidia--Nemotron-H-56B-Base-8K"))
    assert (large.full_layers, large.head_dim, large.mlp_matrices) == (10, 128, 2)
    kimi = read_hf_config(shared_config("moonshotai--Kimi-K3"))
    assert (kimi.attention, kimi.full_layers, kimi.linear_layers, kimi.layers) == ("mla", 24, 69, 93)
    assert (kimi.experts, kimi.experts_per_token, kimi.expert_hidden_size) == (896, 16, 3584)
    step = read_hf_config(shared_config("stepfun-ai--Step-3.7-Flash"))
    assert (step.full_layers, step.window_layers, step.window_tokens, step.moe_layers) == (12, 33, 512, 42)


def test_files_without_a_usable_architecture_say_why() -> None:
    with pytest.raises(ValueError, match="holds no architecture"):
        read_hf_config(shared_config("Qwen--Qwen3-32B-FP8-Static-PerTensor.hf_quant_config"))


# The published values of DeepSeek-V4-Flash (aiconfigurator's deepseek-ai--DeepSeek-V4-Flash_config.json).
FLASH = {
    "model_type": "deepseek_v4",
    "vocab_size": 129_280,
    "hidden_size": 4096,
    "moe_intermediate_size": 2048,
    "num_hidden_layers": 43,
    "num_attention_heads": 64,
    "num_key_value_heads": 1,
    "head_dim": 512,
    "qk_rope_head_dim": 64,
    "q_lora_rank": 1024,
    "o_lora_rank": 1024,
    "o_groups": 8,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 6,
    "sliding_window": 128,
    "hc_mult": 4,
    "index_head_dim": 128,
    "index_n_heads": 64,
    "index_topk": 512,
    "num_nextn_predict_layers": 1,
    "tie_word_embeddings": False,
    "compress_ratios": [0, 0, *[4, 128] * 20, 4, 0],
}
NAMES_OF_RATIOS = {
    0: "sliding_attention",
    4: "compressed_sparse_attention",
    128: "heavily_compressed_attention",
}


def test_compressed_layers_in_both_spellings() -> None:
    record = load_catalog().models["deepseek_v4_flash"].model_dump(exclude=NOT_THE_SHAPE)
    assert read_hf_config(FLASH).model_dump(exclude=NOT_THE_SHAPE) == record
    drafts = {**FLASH, "compress_ratios": [*FLASH["compress_ratios"], 0, 0]}
    assert read_hf_config(drafts).model_dump(exclude=NOT_THE_SHAPE) == record
    named = {
        **{key: value for key, value in FLASH.items() if key != "compress_ratios"},
        "layer_types": [NAMES_OF_RATIOS[ratio] for ratio in FLASH["compress_ratios"][:43]],
        "mlp_layer_types": ["hash_moe"] * 3 + ["moe"] * 40,
        "compress_rates": {NAMES_OF_RATIOS[4]: 4, NAMES_OF_RATIOS[128]: 128},
    }
    assert read_hf_config(named).model_dump(exclude=NOT_THE_SHAPE) == record


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model_type": "deepseek_v41"}, "known is only how deepseek_v4 does"),
        ({"compress_ratios": [0, 4]}, "a list of at least 43 layers"),
        ({"compress_ratios": [0, 4, 16, 128] * 11}, "holds 0, 128, 16, 4; known are 0, 4"),
        ({"compress_ratios": [0, 2] * 22}, "holds 0, 2; known are 0, 4"),
        ({"compress_ratios": [0, "4"] * 22}, "holds 0, 4; known are 0, 4"),
        ({"o_groups": None}, "o_groups is missing"),
        ({"qk_rope_head_dim": 512}, "qk_rope_head_dim = 512 must be below head_dim = 512"),
    ],
)
def test_compressed_layers_that_are_not_known(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=r"^config\.json: ") as error:
        read_hf_config({**FLASH, **change})
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"heavy_layers": 42}, "heavy_layers = 42 must be at most full_layers = 41"),
        ({"attention": "gqa"}, "need attention = mla"),
        ({"output_rank": 0}, "attention = mla needs"),
    ],
)
def test_a_compressed_architecture_is_checked(change: dict[str, Any], says: str) -> None:
    flash = load_catalog().models["deepseek_v4_flash"].model_dump()
    with pytest.raises(ValueError, match=says):
        Architecture.model_validate({**flash, **change})


def test_null_or_missing_kv_heads_means_all_heads() -> None:
    assert read_hf_config(TINY).kv_heads == 4
    assert read_hf_config({**TINY, "num_key_value_heads": None}).kv_heads == 4
    assert read_hf_config({**TINY, "multi_query": True}).kv_heads == 1
    assert read_hf_config({**TINY, "num_key_value_heads": 2}).kv_heads == 2


def test_a_norm_over_all_heads_is_told_from_one_a_head() -> None:
    assert not read_hf_config({**TINY, "use_qk_norm": True}).norm_across_heads
    assert read_hf_config({**TINY, "use_qk_norm": True, "qk_norm_type": "per_layer"}).norm_across_heads


def test_missing_keys_take_their_class_defaults() -> None:
    gemma = read_hf_config({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"}})
    assert (gemma.layers, gemma.heads, gemma.kv_heads, gemma.head_dim) == (26, 8, 4, 256)
    assert (gemma.full_layers, gemma.window_layers, gemma.window_tokens) == (4, 22, 4096)
    assert gemma.tie_embeddings


def test_windows_by_family() -> None:
    assert read_hf_config({**TINY, "model_type": "qwen2", "sliding_window": 8}).window_layers == 0
    used = {
        **TINY,
        "model_type": "qwen2",
        "sliding_window": 8,
        "use_sliding_window": True,
        "max_window_layers": 3,
    }
    assert read_hf_config(used).window_layers == 1
    mistral = {**TINY, "model_type": "mistral", "sliding_window": 4096, "max_position_embeddings": 32_768}
    assert read_hf_config(mistral).window_layers == 4
    assert read_hf_config({**mistral, "max_position_embeddings": 4096}).window_layers == 0
    assert (
        read_hf_config(
            {**TINY, "model_type": "gemma2", "head_dim": 16, "num_key_value_heads": 2}
        ).window_layers
        == 2
    )


def test_moe_layer_freq_is_a_number_or_a_list() -> None:
    experts = {"n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
    assert (
        read_hf_config({**TINY, **experts, "moe_layer_freq": 1, "first_k_dense_replace": 1}).moe_layers == 3
    )
    assert read_hf_config({**TINY, **experts, "moe_layer_freq": [0, 1, 1, 0]}).moe_layers == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"vocab_size": 0}, "vocab_size = 0 must be a whole number from 1"),
        ({"num_attention_heads": 0}, "num_attention_heads = 0 must be a whole number from 1"),
        ({"num_hidden_layers": 32.5}, "num_hidden_layers = 32.5 must be a whole number from 1"),
        ({"num_attention_heads": 32, "num_key_value_heads": 7}, "num_key_value_heads = 7 must divide the 32"),
        ({"quantization_config": "fp8"}, "quantization_config = 'fp8' must be an object"),
        ({"num_hidden_layers": "4"}, "num_hidden_layers = '4' must be a whole number"),
        ({"num_hidden_layers": 10**30}, "num_hidden_layers = 1e+30 must be at most 10,000"),
        ({"hidden_size": None}, "hidden_size is missing"),
        ({"num_attention_heads": 5}, "hidden_size = 64 is no multiple of 5"),
        ({"layer_types": ["full_attention"]}, "layer_types has 1 entries, but there are 4 layers"),
        ({"layer_types": ["odd_attention"] * 4}, "odd_attention"),
        ({"swa_num_key_value_heads": 8, "num_key_value_heads": 4}, "KV of two shapes"),
        ({"num_experts": 4, "num_experts_per_tok": 9}, "experts_per_token = 9"),
        ({"vocab_size": 10**9}, "vocab_size"),
        ({"linear_attn_config": {"full_attn_layers": [1]}}, "nested block"),
    ],
)
def test_broken_configs_are_one_clear_line(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=r"^config\.json: ") as error:
        read_hf_config({**TINY, **change})
    assert says in str(error.value)
    assert "\n" not in str(error.value)
