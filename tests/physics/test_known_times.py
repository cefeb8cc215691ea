"""Step times against published end-to-end numbers, within 15%.

Those of DGX Spark, M3 Ultra, the 2023 engine and the all-reduces were used in fits; the others were not.
"""

from typing import Any

import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.evidence.reduce_points import ReducePoint, reduce_point_s
from pdexplorer.physics.serving import in_serving
from pdexplorer.physics.step import step_time_s

from .conftest import Make

WITHIN = 0.15


@pytest.mark.parametrize(
    ("model", "prefill_tokens_per_s", "decode_tokens_per_s"),
    [("llama_3_1_8b", 7_991, 20.5), ("llama_3_1_70b", 803, 2.7)],
)
def test_dgx_spark_sglang_fp8(
    make: Make, model: str, prefill_tokens_per_s: float, decode_tokens_per_s: float
) -> None:
    spark = make("dgx_spark", model, weights="fp8", engine="sglang")
    assert 2048 / step_time_s(spark, prefill_tokens=2048) == pytest.approx(prefill_tokens_per_s, rel=WITHIN)
    step = step_time_s(spark, decode_batch=1, decode_context_tokens=3072)
    assert 1 / step == pytest.approx(decode_tokens_per_s, rel=WITHIN)


@pytest.mark.parametrize(
    ("accelerator", "prefill_s", "token_ms"), [("dgx_spark", 1.47, 89.7), ("m3_ultra", 5.57, 26.6)]
)
def test_exo_pair_8b_fp16(make: Make, accelerator: str, prefill_s: float, token_ms: float) -> None:
    instance = make(accelerator, "llama_3_1_8b")
    assert step_time_s(instance, prefill_tokens=8192) == pytest.approx(prefill_s, rel=WITHIN)
    step = step_time_s(instance, decode_batch=1, decode_context_tokens=8208)
    assert 1e3 * step == pytest.approx(token_ms, rel=WITHIN)


@pytest.mark.parametrize(
    ("accelerator", "prompt_ms", "token_ms"), [("a100_80_sxm", 154.5, 45.0), ("h100_sxm", 77.9, 29.7)]
)
def test_the_2023_engine_on_llama_2_70b(
    make: Make, accelerator: str, prompt_ms: float, token_ms: float
) -> None:
    instance = make(accelerator, "llama_2_70b", tp=8, engine="vllm_2023")
    assert 1e3 * step_time_s(instance, prefill_tokens=1024) == pytest.approx(prompt_ms, rel=WITHIN)
    step = step_time_s(instance, decode_batch=1, decode_context_tokens=1088)
    assert 1e3 * step == pytest.approx(token_ms, rel=WITHIN)


_EARLY_METAL = pytest.mark.xfail(
    strict=True,
    reason="its numbers are of 16-bit products, which reach more of its bandwidth than 4-bit ones",
)


@pytest.mark.parametrize(
    ("accelerator", "model", "tokens_per_s"),
    [
        # MLC's comparison (github mlc-ai/llm-perf-bench): its own engine, then ExLlamaV2 as it measured it
        *(("rtx4090", "llama_2_7b", 204.8), ("rtx4090", "llama_2_13b", 113.5)),
        *(("rtx4090", "llama_2_7b", 177.5), ("rtx4090", "llama_2_13b", 105.9)),
        # llama.cpp, Q4_0, tg128 (its discussions 15013 and 4167)
        *(("rtx4090", "llama_2_7b", 186), ("rtx5090", "llama_2_7b", 290)),
        *(("m5", "llama_2_7b", 31.9), ("m5_pro", "llama_2_7b", 63.9), ("m5_max", "llama_2_7b", 102.9)),
        pytest.param("m4_max", "llama_2_7b", 83.1, marks=_EARLY_METAL),
        pytest.param("m3_ultra", "llama_2_7b", 92.1, marks=_EARLY_METAL),
    ],
)
def test_one_user_of_a_local_engine_in_4_bits(
    make: Make, accelerator: str, model: str, tokens_per_s: float
) -> None:
    """None of these figures set a number."""
    local = in_serving(make(accelerator, model, weights="int4", engine="local"))
    step = step_time_s(local, decode_batch=1, decode_context_tokens=128)
    assert 1 / step == pytest.approx(tokens_per_s, rel=0.1)


@pytest.mark.parametrize("model", ["llama_2_7b", "qwen2_5_7b"])
def test_a_fast_desktop_gpu_decodes_a_4_bit_7b_model_at_over_200_a_second(make: Make, model: str) -> None:
    desktop = make("rtx5090", model, weights="int4")
    assert 1 / step_time_s(desktop, decode_batch=1, decode_context_tokens=512) > 200


@pytest.mark.parametrize(
    ("accelerator", "mebibytes", "microseconds"),
    [
        *(("h100_sxm", 1, 15), ("a100_80_sxm", 1, 22), ("b200_sxm", 1, 17)),
        *(("rtx_pro_6000_server", 1, 134), ("l40s", 1, 583)),
        *(("h100_sxm", 32, 200), ("a100_80_sxm", 32, 367), ("b200_sxm", 32, 168)),
        *(("rtx_pro_6000_server", 32, 2_494), ("l40s", 32, 38_854)),
    ],
)
def test_all_reduce_of_eight_gpus(make: Make, accelerator: str, mebibytes: int, microseconds: float) -> None:
    entry = make(accelerator, "llama_3_1_8b").efficiency.collective
    point = ReducePoint(accelerator, 8, mebibytes * 2.0**20, microseconds * 1e-6)
    assert 1e6 * reduce_point_s(entry, point, load_catalog()) == pytest.approx(microseconds, rel=WITHIN)


def test_a_cached_prefix_costs_its_attention_only(make: Make) -> None:
    instance = make("h100_sxm", "llama_3_1_70b", tp=4, weights="fp8")

    def seconds(**load: Any) -> float:
        return float(step_time_s(instance, **load))

    warm = seconds(prefill_tokens=5_000, prefill_past_tokens=95_000)
    assert seconds(prefill_tokens=5_000) < warm < 0.15 * seconds(prefill_tokens=100_000)
    pairs = 5_000 * (95_000 + 2_500.5)
    assert pairs / (100_000 * 50_000.5) == pytest.approx(0.0975, abs=1e-3)


def test_a100_reads_fp8_weights_but_computes_in_bf16(make: Make) -> None:
    fp8, bf16 = (make("a100_80_sxm", "llama_3_1_8b", weights=fmt) for fmt in ("fp8", "bf16"))
    short = [step_time_s(i, decode_batch=1, decode_context_tokens=100, overhead=False) for i in (fp8, bf16)]
    long = [step_time_s(i, prefill_tokens=8192, overhead=False) for i in (fp8, bf16)]
    assert short[0] < 0.75 * short[1]
    assert long[0] == pytest.approx(long[1], rel=0.1)
