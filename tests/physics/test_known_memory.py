"""Bytes of weights and KV against published sizes, and the unit traps around them."""

import numpy as np
import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.formats import bytes_per_weight
from pdexplorer.physics.instance import Parallelism
from pdexplorer.physics.memory import (
    index_bytes_per_token,
    kv_bytes,
    kv_bytes_per_token,
    kv_bytes_per_token_held,
    kv_capacity_tokens,
    kv_moved_bytes,
    weight_bytes,
)
from pdexplorer.physics.parameters import parameter_count
from pdexplorer.units import GB, GIB

from .conftest import Make

KV_BYTES_BF16 = {
    "llama_2_7b": 524_288,
    "llama_3_1_8b": 131_072,
    "llama_3_1_70b": 327_680,
    "llama_3_1_405b": 516_096,
    "qwen3_8b": 147_456,
    "qwen3_32b": 262_144,
    "qwen3_30b_a3b": 98_304,
    "qwen3_235b_a22b": 192_512,
    "mixtral_8x7b": 131_072,
    "deepseek_v3": 70_272,
    "kimi_k2": 70_272,
    "glm_5": 89_856,  # the indexer's keys come on top
}


@pytest.mark.parametrize(("model", "expected"), KV_BYTES_BF16.items())
def test_kv_bytes_per_token(model: str, expected: int) -> None:
    architecture = load_catalog().models[model]
    assert kv_bytes_per_token(architecture, "bf16") == expected
    assert kv_bytes_per_token(architecture, "fp8") == expected / 2


def test_an_indexers_keys_are_kept_beside_the_latent() -> None:
    glm = load_catalog().models["glm_5"]
    assert index_bytes_per_token(glm) == 78 * 128
    assert kv_bytes(glm, "bf16", 1000) == 1000 * (89_856 + 78 * 128)


def test_every_model_has_its_published_size() -> None:
    off = {}
    for model, architecture in load_catalog().models.items():
        if architecture.published_params:
            ratio = parameter_count(architecture).total / architecture.published_params
            if abs(ratio - 1) > 0.02:
                off[model] = ratio
    assert not off


def test_a_7b_multi_head_model_holds_two_gib_at_4096_tokens() -> None:
    assert kv_bytes(load_catalog().models["llama_2_7b"], "bf16", 4096) / GIB == pytest.approx(2.0)


def test_qwen3_8b_moves_four_and_a_half_gib_not_gb() -> None:
    moved = kv_moved_bytes(load_catalog().models["qwen3_8b"], "bf16", 32_768, 8)
    assert moved / GIB == pytest.approx(4.5)
    assert moved / GB == pytest.approx(4.83, abs=0.01)


def test_a_decode_side_with_more_gpus_than_kv_heads_is_sent_copies() -> None:
    model = load_catalog().models["qwen3_235b_a22b"]
    assert kv_moved_bytes(model, "bf16", 32_768, 8) / GB == pytest.approx(12.62, abs=0.01)
    assert kv_moved_bytes(model, "bf16", 32_768, 4) == kv_moved_bytes(model, "bf16", 32_768, 1)


def test_latent_attention_is_held_whole_by_every_gpu_of_a_tp_group(make: Make) -> None:
    tp8 = make("h200_sxm", "deepseek_v3", tp=8, ep=8, weights="fp8_block", kv="fp8")
    dp8 = make("h200_sxm", "deepseek_v3", ep=8, attention_dp=8, weights="fp8_block", kv="fp8")
    assert kv_bytes_per_token_held(tp8) == 8 * kv_bytes_per_token_held(dp8)
    assert kv_bytes_per_token_held(dp8) == 35_136


def test_windowed_layers_stop_growing() -> None:
    model = load_catalog().models["gpt_oss_120b"]
    grown = np.diff(kv_bytes(model, "bf16", np.array([100.0, 101.0, 10_000.0, 10_001.0])))
    assert grown[0] == pytest.approx(kv_bytes_per_token(model, "bf16"))
    assert grown[2] == pytest.approx(kv_bytes_per_token(model, "bf16") / 2)


def test_quantised_weights_take_their_scales_along() -> None:
    model = load_catalog().models["llama_3_1_8b"]
    bf16 = weight_bytes(model, "bf16", Parallelism(1))
    assert bf16 == pytest.approx(16.06e9, rel=0.01)
    tables = 2 * model.hidden_size * model.vocab_size * 2.0
    int4 = weight_bytes(model, "int4", Parallelism(1))
    assert int4 - tables == pytest.approx((bf16 - tables) / 2 * bytes_per_weight("int4"))
    assert bytes_per_weight("int4") > 0.5


def test_what_does_not_fit_says_by_how_much_and_where_it_would(make: Make) -> None:
    instance = make("h100_sxm", "llama_3_1_70b", weights="bf16")
    answer = kv_capacity_tokens(instance)
    assert isinstance(answer, Infeasible)
    assert answer.limit == "memory"
    assert "GB short" in answer.text
    assert "tp 2 would fit" in answer.text  # 141 GB of weights; two drivers report 171 GB


def test_capacity_follows_memory(make: Make) -> None:
    small = kv_capacity_tokens(make("h100_sxm", "llama_3_1_8b"))
    large = kv_capacity_tokens(make("h200_sxm", "llama_3_1_8b"))
    assert not isinstance(small, Infeasible)
    assert not isinstance(large, Infeasible)
    assert 400_000 < small < 480_000  # 90% of 85.5 GB less 16 GB of weights and a reserve, at 131 kB
    assert large - small == pytest.approx(0.9 * (143_771 - 81_559) * 2**20 / 131_072)


def test_checkpoints_that_quantise_experts_only_keep_the_rest_in_16_bits() -> None:
    minimax = load_catalog().models["minimax_m2_5"]
    # nvidia/MiniMax-M2.5-NVFP4: 112.3 GB of packed fours, 14.0 GB of scales, 4.01e9 numbers not quantised.
    served = (112.34 + 14.04 + 2 * 4.01) * GB
    assert weight_bytes(minimax, "nvfp4", Parallelism(1)) == pytest.approx(served, rel=0.01)
    everything = minimax.model_copy(update={"only_experts_in_4_bits": False})
    assert weight_bytes(everything, "nvfp4", Parallelism(1)) < weight_bytes(minimax, "nvfp4", Parallelism(1))
