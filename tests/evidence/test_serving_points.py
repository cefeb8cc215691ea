"""Rows of serving.csv: what is read from an inconsistent configuration, never from a measured time."""

from pathlib import Path

import pytest

from pdexplorer.evidence.serving_points import ServingPoint, parse_serving, read_serving
from pdexplorer.evidence.serving_pools import LOOKED_UP_FLEET, Pool
from pdexplorer.evidence.serving_predict import predict_serving
from pdexplorer.evidence.serving_setup import decode_slots, drafts, named_outlier, rounds, slots

REFERENCE = Path(__file__).parents[1] / "reference" / "serving.csv"

ROW = {
    "silicon_data_source": "2026-04-06.csv; silicon_concurrency=16",
    "backend": "sglang",
    "model_path": "deepseek-ai/DeepSeek-R1",
    "system": "b200_sxm",
    "mode": "agg",
    "isl": "1024",
    "osl": "1024",
    "gemm_quant_mode": "fp8",
    "moe_quant_mode": "fp8_block",
    "batch_size": "16",
    "tp_size": "8",
    "pp_size": "1",
    "attention_dp_size": "1",
    "moe_tp_size": "8",
    "moe_ep_size": "1",
    "silicon_ttft_ms": "200",
    "silicon_tpot_ms": "10",
}


def point(**cells: str) -> ServingPoint:
    return parse_serving(1, {**ROW, **cells})


def test_tp_times_ep_over_the_same_gpus_is_not_a_larger_instance() -> None:
    pool = point(tp_size="64", moe_tp_size="8", moe_ep_size="8").colocated
    assert pool is not None
    assert (pool.tp, pool.ep, pool.attention_dp, pool.gpus) == (8, 8, 1, 8)
    pool = point(tp_size="1", attention_dp_size="16", moe_tp_size="4", moe_ep_size="4").colocated
    assert pool is not None
    assert (pool.tp, pool.ep, pool.attention_dp) == (1, 4, 4)


def test_a_split_fleet_exported_as_one_instance_is_answered_but_never_fitted() -> None:
    fleet = point(tp_size="64", moe_tp_size="64", system="gb200")
    assert fleet.colocated is not None
    assert (fleet.colocated.gpus, fleet.colocated.instances) == (4, 16)
    assert "whole split fleet" in named_outlier(fleet)


def whole_fleet(gpus: int, concurrency: int, input_tokens: int = 1024) -> ServingPoint:
    return point(
        silicon_data_source=f"model=DeepSeek-R1; silicon_concurrency={concurrency}",
        backend="trtllm",
        model_path="deepseek-ai/DeepSeek-R1",
        system="gb200",
        gemm_quant_mode="nvfp4",
        moe_quant_mode="nvfp4",
        isl=str(input_tokens),
        osl="1024",
        tp_size=str(gpus),
        moe_tp_size=str(gpus),
        attention_dp_size="1",
        batch_size=str(concurrency),
    )


@pytest.mark.parametrize(
    ("gpus", "concurrency", "input_tokens", "prefill", "decode", "slots", "drafted"),
    [
        (36, 256, 1024, Pool(4, 1, 4, 1, 1, 4), Pool(8, 1, 8, 1, 4, 128), 128, 0),
        (36, 144, 1024, Pool(4, 1, 4, 1, 1, 4), Pool(8, 1, 8, 1, 4, 32), 32, 3),
        (24, 2150, 1024, Pool(1, 1, 4, 4, 2, 4), Pool(1, 1, 16, 16, 1, 128), 128, 1),
        (48, 538, 8192, Pool(1, 1, 4, 4, 4, 1), Pool(1, 1, 32, 32, 1, 16), 16, 0),
        (48, 1075, 8192, Pool(1, 1, 4, 4, 8, 1), Pool(1, 1, 16, 16, 1, 64), 64, 2),
    ],
)
def test_a_fleet_whose_launch_recipe_is_known_is_that_fleet(
    gpus: int, concurrency: int, input_tokens: int, prefill: Pool, decode: Pool, slots: int, drafted: int
) -> None:
    fleet = whole_fleet(gpus, concurrency, input_tokens)
    assert fleet.colocated is None
    assert (fleet.prefill, fleet.decode) == (prefill, decode)
    assert fleet.prefill.gpus * fleet.prefill.instances + fleet.decode.gpus * fleet.decode.instances == gpus
    assert (decode_slots(fleet), drafts(fleet), named_outlier(fleet)) == (slots, drafted, "")
    assert LOOKED_UP_FLEET in fleet.notes


def test_a_fleet_without_a_recipe_stays_trays() -> None:
    fleet = whole_fleet(36, 100)
    assert (fleet.recipe, fleet.prefill) == (None, None)
    assert fleet.colocated is not None


def test_concurrency_is_the_stated_one_or_what_the_ranks_hold() -> None:
    assert point().concurrency == 16
    unstated = point(
        silicon_data_source="x",
        batch_size="4",
        attention_dp_size="8",
        tp_size="1",
        moe_ep_size="8",
        moe_tp_size="1",
    )
    assert unstated.concurrency == 32


def test_a_fleet_wide_concurrency_is_shared_by_its_instances() -> None:
    row = {"model_path": "nvidia/Qwen3-32B-NVFP4", "backend": "trtllm", "gemm_quant_mode": "nvfp4"}
    shared = point(
        **row, tp_size="2", moe_tp_size="1", batch_size="4", silicon_data_source="silicon_concurrency=128"
    )
    assert shared.colocated is not None
    assert shared.colocated.instances == 32


def test_disaggregated_rows_need_worker_counts() -> None:
    assert "worker counts" in point(mode="disagg", prefill_tp_size="4", decode_tp_size="8").problem


@pytest.mark.parametrize(
    ("key", "value"), [("system", "z99"), ("model_path", "nobody/knows"), ("backend", "x")]
)
def test_a_name_nobody_knows_leaves_its_row_unanswered(key: str, value: str) -> None:
    unknown = point(**{key: value})
    assert value in unknown.problem
    (served,) = predict_serving([unknown])
    assert (served.ttft_ms, served.tpot_ms) == (None, None)
    assert served.reason == unknown.problem


@pytest.mark.parametrize(("key", "value"), [("isl", "many"), ("silicon_ttft_ms", "-1")])
def test_a_broken_row_is_named_on_one_line(key: str, value: str) -> None:
    with pytest.raises(ValueError, match=rf"^{key} = ") as error:
        point(**{key: value})
    assert "\n" not in str(error.value)


def test_every_reference_row_is_read() -> None:
    points = read_serving(REFERENCE)
    assert {p.mode for p in points} == {"agg", "disagg"}
    assert sum(1 for p in points if p.problem) == 1


def test_reading_does_not_depend_on_measured_times() -> None:
    slow = point(silicon_ttft_ms="2e5", silicon_tpot_ms="999")
    fast = point()
    assert (slow.colocated, slow.concurrency, slow.problem) == (
        fast.colocated,
        fast.concurrency,
        fast.problem,
    )


def test_a_clients_limit_is_not_what_the_server_admits() -> None:
    row = point(
        silicon_data_source="x; silicon_concurrency=512",
        backend="vllm",
        model_path="openai/gpt-oss-120b",
        system="h100_sxm",
    )
    assert (row.concurrency, slots(row), rounds(row)) == (160, 16, 1)
    assert named_outlier(row)
    assert not named_outlier(point(model_path="openai/gpt-oss-120b", backend="vllm", system="h100_sxm"))


def test_the_first_minimax_scripts_spread_experts_whatever_they_were_told() -> None:
    cells = {"backend": "vllm", "model_path": "MiniMaxAI/MiniMax-M2.5", "tp_size": "4", "moe_tp_size": "4"}
    first, later = point(**cells, backend_version="0.17.0"), point(**cells, backend_version="0.19.0")
    assert first.colocated is not None
    assert later.colocated is not None
    assert (first.colocated.ep, first.kv_format) == (4, "bf16")
    assert (later.colocated.ep, later.kv_format) == (1, "fp8")
