"""Split fleets: slots as their recipes launch them, waits that count in TTFT, numbers from other groups."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.evidence.serving_points import ServingPoint, read_serving
from pdexplorer.evidence.serving_pools import Pool
from pdexplorer.evidence.serving_predict import predict_serving, shipped_numbers
from pdexplorer.evidence.serving_setup import decode_slots, turns_deep_gemm_on
from pdexplorer.evidence.serving_split import SplitNumbers, gathers, handshake_ms
from pdexplorer.evidence.serving_split_fit import with_split
from pdexplorer.evidence.serving_steps import group_of

REFERENCE = Path(__file__).parents[1] / "reference" / "serving.csv"
HELD, TRAINING = ("deepseek", "gb200"), ("deepseek", "b200_sxm")


@cache
def split_rows() -> tuple[ServingPoint, ...]:
    return tuple(p for p in read_serving(REFERENCE) if p.prefill is not None and not p.problem)


def row(engine: str = "trtllm") -> ServingPoint:
    return next(p for p in split_rows() if p.engine == engine)


def low_latency(concurrency: int, instances: int, accelerator: str, weights: str) -> ServingPoint:
    decode = Pool(tp=8, pp=1, ep=8, attention_dp=1, instances=instances, batch=0)
    named = replace(row(), concurrency=concurrency, decode=decode)
    return replace(named, accelerator=accelerator, weight_format=weights)


@pytest.mark.parametrize(
    ("concurrency", "instances", "accelerator", "weights", "slots"),
    [
        (36, 4, "gb200", "fp8_block", 8),
        (27, 3, "gb200", "fp8_block", 8),
        (450, 6, "b200_sxm", "nvfp4", 64),
        (6, 3, "h100_sxm", "fp8_block", 1),
        (60, 3, "h100_sxm", "fp8_block", 16),
        (24, 4, "gb200", "nvfp4", 32),
        (192, 4, "gb200", "nvfp4", 32),
        (90, 5, "b200_sxm", "nvfp4", 32),
        (96, 6, "b200_sxm", "fp8_block", 96),
    ],
)
def test_slots_are_those_of_the_recipes(
    concurrency: int, instances: int, accelerator: str, weights: str, slots: int
) -> None:
    assert decode_slots(low_latency(concurrency, instances, accelerator, weights)) == slots


def test_sglang_takes_all_that_are_in_flight() -> None:
    point = row("sglang")
    assert decode_slots(point) == point.concurrency
    assert turns_deep_gemm_on(point)
    assert not turns_deep_gemm_on(replace(point, accelerator="b200_sxm"))


def test_a_wait_for_a_slot_is_part_of_ttft_and_not_of_tpot() -> None:
    free, crowded = predict_serving(
        [low_latency(96, 4, "gb200", "nvfp4"), low_latency(192, 4, "gb200", "nvfp4")]
    )
    assert free.ttft_ms
    assert free.tpot_ms
    assert crowded.ttft_ms
    assert crowded.tpot_ms
    # Four instances of 32 slots: half a request's time of waiting, and steps of 32 instead of 24.
    assert crowded.ttft_ms - free.ttft_ms > 0.4 * 920 * free.tpot_ms
    assert crowded.tpot_ms < 1.15 * free.tpot_ms


def test_sglang_looks_for_a_request_once_a_step() -> None:
    point = replace(row("sglang"), accelerator="b200_sxm")
    assert handshake_ms(point, 10.0) == pytest.approx(50.0)
    # GB200's low-latency recipes look every ten steps.
    assert point.prefill is not None
    seldom = replace(point, accelerator="gb200", prefill=replace(point.prefill, attention_dp=1))
    assert handshake_ms(seldom, 10.0) == pytest.approx(100.0)
    assert handshake_ms(row("trtllm"), 10.0) == 0.0


def test_only_recipes_with_deepep_in_prefill_exchange_tokens() -> None:
    point = row("sglang")
    wide = Pool(tp=1, pp=1, ep=8, attention_dp=8, instances=2, batch=1)
    assert not gathers(replace(point, accelerator="gb200", weight_format="fp8_block", prefill=wide))
    assert gathers(replace(point, accelerator="b200_sxm", weight_format="fp8_block", prefill=wide))
    assert gathers(replace(point, accelerator="gb200", weight_format="nvfp4", prefill=wide))
    assert not gathers(row("trtllm"))


def fitted(doubled: tuple[str, str] | None) -> SplitNumbers:
    # Long prompts, so that TTFT moves with prefill.
    others = [replace(p, accelerator="b200_sxm", input_tokens=8192) for p in split_rows()]
    points = [_slower(p) if group_of(p) == doubled else p for p in (*split_rows(), *others)]
    return with_split(points, shipped_numbers(), load_catalog(), [HELD]).split


def _slower(point: ServingPoint) -> ServingPoint:
    return replace(
        point,
        measured_ttft_ms=2 * (point.measured_ttft_ms or 0.0),
        measured_tpot_ms=2 * (point.measured_tpot_ms or 0.0),
    )


def test_a_held_out_group_does_not_move_the_numbers_and_another_does() -> None:
    assert fitted(HELD) == fitted(None)
    assert fitted(TRAINING) != fitted(None)


def test_without_split_runs_nothing_is_fitted() -> None:
    neutral = replace(shipped_numbers(), split=SplitNumbers())
    assert with_split(split_rows(), neutral, load_catalog(), [HELD]) == neutral
    assert neutral.count + 2 == replace(neutral, split=SplitNumbers(0.9)).count
