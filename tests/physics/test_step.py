"""Properties every step time has, whatever the numbers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdexplorer.physics.instance import Instance
from pdexplorer.physics.kernels import expert_s
from pdexplorer.physics.plan import compile_plan
from pdexplorer.physics.shapes import attention_flop
from pdexplorer.physics.step import PARTS, equal_load, step_parts_s, step_time_s
from pdexplorer.physics.timer import compile_timer

from .conftest import Make

INSTANCES = [
    ("h100_sxm", "llama_3_1_70b", {"tp": 4, "weights": "fp8"}),
    ("h200_sxm", "deepseek_v3", {"ep": 8, "attention_dp": 8, "weights": "fp8_block", "kv": "fp8"}),
    ("l40s", "mixtral_8x7b", {"tp": 8}),
    ("rtx_pro_6000_ws", "gpt_oss_20b", {"weights": "mxfp4"}),
    ("h20_96", "qwen3_235b_a22b", {"tp": 4, "pp": 2, "weights": "fp8"}),
    ("b200_sxm", "qwen3_next_80b_a3b", {"tp": 2}),
    ("h20_96", "deepseek_v4_flash", {"ep": 8, "attention_dp": 8, "weights": "fp8_mxfp4", "kv": "fp8"}),
]


@pytest.fixture(scope="module", params=INSTANCES, ids=lambda case: case[1])
def instance(request: pytest.FixtureRequest, make: Make) -> Instance:
    accelerator, model, options = request.param
    return make(accelerator, model, **options)


def test_nothing_to_do_takes_no_time(instance: Instance) -> None:
    assert step_time_s(instance) == 0.0


def test_parts_add_up_and_broadcast(instance: Instance) -> None:
    load = {
        "prefill_tokens": np.array([[0.0], [700.0]]),
        "decode_batch": np.array([0.0, 3.0, 90.0]),
        "decode_context_tokens": 4_000,
    }
    parts = step_parts_s(instance, **load)
    total = step_time_s(instance, **load)
    assert set(parts) == set(PARTS)
    assert total.shape == (2, 3)
    np.testing.assert_allclose(sum(parts.values()), total, rtol=1e-12)
    assert total[0, 0] == 0.0
    assert all((part >= 0).all() for part in parts.values())


@settings(max_examples=40, deadline=None)
@given(
    tokens=st.integers(0, 60_000),
    more_tokens=st.integers(0, 20_000),
    past=st.integers(0, 100_000),
    batch=st.integers(0, 600),
    more_batch=st.integers(0, 100),
    context=st.integers(0, 100_000),
    more_context=st.integers(0, 50_000),
)
def test_more_work_is_never_faster(
    instance: Instance,
    tokens: int,
    more_tokens: int,
    past: int,
    batch: int,
    more_batch: int,
    context: int,
    more_context: int,
) -> None:
    base = {"prefill_past_tokens": past, "prefill_sequences": 1}
    less = step_time_s(
        instance, prefill_tokens=tokens, decode_batch=batch, decode_context_tokens=context, **base
    )
    tolerance = 1 + 1e-9
    assert less <= tolerance * step_time_s(
        instance,
        prefill_tokens=tokens + more_tokens,
        decode_batch=batch,
        decode_context_tokens=context,
        **base,
    )
    assert less <= tolerance * step_time_s(
        instance,
        prefill_tokens=tokens,
        decode_batch=batch + more_batch,
        decode_context_tokens=context,
        **base,
    )
    assert less <= tolerance * step_time_s(
        instance,
        prefill_tokens=tokens,
        decode_batch=batch,
        decode_context_tokens=context + more_context,
        **base,
    )


def test_one_step_beats_two(instance: Instance) -> None:
    alone = step_time_s(instance, prefill_tokens=2_000) + step_time_s(
        instance, decode_batch=32, decode_context_tokens=1_000
    )
    together = step_time_s(instance, prefill_tokens=2_000, decode_batch=32, decode_context_tokens=1_000)
    assert together < 1.02 * alone


def test_attention_dp_waits_for_its_fullest_rank(make: Make) -> None:
    spread = make("h200_sxm", "deepseek_v3", ep=8, attention_dp=8, weights="fp8_block", kv="fp8")
    full = step_parts_s(spread, decode_batch=16, decode_context_tokens=8_000)
    uneven = step_parts_s(spread, decode_batch=9, decode_context_tokens=8_000)
    assert uneven["attention_decode"] == pytest.approx(full["attention_decode"])
    assert uneven["experts"] < full["experts"]


def test_the_fullest_gpu_works_as_on_more_tokens(make: Make) -> None:
    even = replace(make("h200_sxm", "qwen3_30b_a3b").plan, expert_imbalance_ratio=1.0)
    uneven = replace(even, expert_imbalance_ratio=2.0)
    for tokens in (1.0, 16.0, 512.0, 32_768.0):
        assert expert_s(uneven, tokens) == pytest.approx(expert_s(even, 2.0 * tokens))


def test_absorbed_latent_attention_multiplies_the_latent(make: Make) -> None:
    architecture = make("h200_sxm", "deepseek_v3", ep=8, tp=8, weights="fp8_block", kv="fp8").architecture
    expanded, _ = attention_flop(architecture, 16.0, 0.0)
    absorbed, decode = attention_flop(architecture, 16.0, 0.0, absorbed=True)
    assert expanded == 2 * 16 * (128 + 64 + 128)
    assert absorbed == decode == 2 * 16 * (512 + 64 + 512)


def test_exponentials_are_partly_hidden_behind_products(make: Make) -> None:
    architecture = make("h100_sxm", "llama_3_1_8b").architecture
    alone, _ = attention_flop(architecture, 32.0, 0.0)
    both, _ = attention_flop(architecture, 32.0, 128.0)
    assert alone == pytest.approx(4 * 32 * 128)
    assert alone < both < 2.0 * alone


def test_latent_layers_pay_the_launches_of_their_products(make: Make) -> None:
    latent = make("h200_sxm", "deepseek_v3", ep=8, tp=8, weights="fp8_block", kv="fp8")
    other = make("h200_sxm", "llama_3_1_8b")
    for instance, prefill, decode in ((latent, 3, 1), (other, 0, 0)):
        gemm = replace(instance.efficiency.gemm, launch_s=instance.efficiency.gemm.launch_s + 1e-5)
        slower = compile_plan(replace(instance, efficiency=replace(instance.efficiency, gemm=gemm)))
        added = instance.architecture.layers * 1e-5
        assert slower.prefill_launch_s - instance.plan.prefill_launch_s == pytest.approx(prefill * added)
        assert slower.decode_launch_s - instance.plan.decode_launch_s == pytest.approx(decode * added)


def test_a_step_of_prompts_outside_cuda_graphs_waits_for_its_launches(make: Make) -> None:
    whole = make("h100_sxm", "llama_3_1_8b")
    engine = replace(whole.engine, graph_tokens=512.0, host_layer_s=1e-3)
    host = replace(whole, engine=engine)
    launches_s = whole.architecture.layers * 1e-3

    def step(instance: Instance, prefill: int, decode: int) -> float:
        return float(
            step_time_s(
                instance,
                prefill_tokens=prefill,
                decode_batch=decode,
                decode_context_tokens=1000 * (decode > 0),
            )
        )

    assert step(host, 600, 8) == pytest.approx(launches_s + engine.step_overhead_s)
    assert step(host, 500, 8) == step(whole, 500, 8) < launches_s
    assert step(host, 0, 600) == step(whole, 0, 600)
    assert step(host, 8192, 8) == step(whole, 8192, 8) > launches_s
    timer = compile_timer(host)
    load = equal_load(host.plan, 600.0, 0.0, 1.0, 8.0, 1000.0)
    timed = timer.mixed_s(600, load.pairs_full, 0.0, 0.0, 0.0, 1, 8, load.context_sum, 0.0)
    assert timed == pytest.approx(step(host, 600, 8))


def test_a_norm_over_all_heads_costs_launches_and_under_tp_an_all_reduce(make: Make) -> None:
    def step(tp: int, across: bool) -> float:
        whole = make("b200_sxm", "minimax_m2_5", tp=tp, weights="nvfp4", kv="fp8")
        architecture = whole.architecture.model_copy(update={"norm_across_heads": across})
        return float(
            step_time_s(replace(whole, architecture=architecture), decode_batch=4, decode_context_tokens=1000)
        )

    layers, efficiency = 62, make("b200_sxm", "minimax_m2_5", tp=4, weights="nvfp4", kv="fp8").efficiency
    launches_s = 4 * layers * efficiency.elementwise.launch_s
    assert step(1, True) - step(1, False) == pytest.approx(launches_s, rel=0.05)
    more_s = launches_s + layers * efficiency.collective.latency_s
    assert step(4, True) - step(4, False) == pytest.approx(more_s, rel=0.05)


def test_wide_experts_exchange_tokens_instead_of_gathering_them(make: Make) -> None:
    def collectives_s(ranks: int) -> float:
        gpus = {"ep": ranks, "attention_dp": ranks, "weights": "nvfp4", "kv": "fp8"}
        instance = make("gb200", "deepseek_v3", engine="trtllm", **gpus)
        load = {"decode_batch": 256.0 * ranks, "decode_context_tokens": 1000.0}
        return float(step_parts_s(instance, **load)["collectives"])

    # Up to eight GPUs every token is gathered, so a rank's traffic grows with their number; beyond it does
    # not, a token having eight experts.
    assert collectives_s(8) > 1.8 * collectives_s(4)
    assert collectives_s(64) < 1.3 * collectives_s(16)


def test_a_collective_over_two_nodes_waits_for_the_network(make: Make) -> None:
    def collectives_s(accelerator: str) -> float:
        instance = make(accelerator, "deepseek_v3", tp=16, ep=16, weights="fp8_block", engine="trtllm")
        return float(step_parts_s(instance, decode_batch=2.0, decode_context_tokens=1000.0)["collectives"])

    across = collectives_s("h100_sxm")
    assert 2 * 61 * 50e-6 < across < 2 * 61 * 80e-6
    assert collectives_s("gb200") < 0.2 * across


def test_latent_decode_attention_multiplies_in_the_format_of_its_cache(make: Make) -> None:
    def attention_s(accelerator: str, kv: str) -> float:
        instance = make(accelerator, "deepseek_v3", ep=8, attention_dp=8, weights="fp8", kv=kv)
        return float(
            step_parts_s(instance, decode_batch=512.0, decode_context_tokens=4000.0)["attention_decode"]
        )

    # 128 heads on every rank: bound by arithmetic, which halves where the kernels take 8 bits.
    assert attention_s("b200_sxm", "fp8") < 0.7 * attention_s("b200_sxm", "bf16")
    assert attention_s("h200_sxm", "fp8") > 0.8 * attention_s("h200_sxm", "bf16")
