import pytest

from pdexplorer.metrics.outcome import Outcome
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import evaluate

WALL = {
    "model.name": "llama_3_1_70b", "model.weight_format": "fp8", "compare.basis": "fixed_fleets",
    "workload.arrivals": "closed_loop", "workload.input_tokens": "32000", "workload.output_tokens": "500",
    "workload.input_distribution": "fixed", "workload.output_distribution": "fixed",
    "slo.ttft_s": "none", "slo.tpot_ms": "none", "colocated.tp": "2", "colocated.instances": "1",
    "prefill.tp": "2", "prefill.instances": "1", "decode.tp": "2", "decode.instances": "1",
}  # fmt: skip


def _colocated(concurrency: int, **changes: str) -> Outcome:
    settings = WALL | {"workload.concurrency": str(concurrency)} | changes
    scenario, refused = apply_settings(Scenario(), settings)
    assert not refused
    return evaluate(scenario, with_break_even=False).colocated


@pytest.mark.parametrize("chunk_tokens", ["512", "8192"])
def test_what_memory_cannot_hold_waits_outside_under_any_budget(chunk_tokens: str) -> None:
    """Two H100 hold about fifteen such requests beside the weights; of 64 in flight the others wait."""
    out = _colocated(64, **{"colocated.chunk_tokens": chunk_tokens})
    assert out.feasible
    assert out.ttft_s is not None
    assert out.tpot_s is not None
    # Little: all in flight are either waiting for their first token or between it and their last
    spent_s = out.ttft_s.p50 + 499 * out.tpot_s.p50
    assert (out.throughput_per_s or 0.0) * spent_s == pytest.approx(64, rel=0.1)


def test_beyond_the_wall_more_in_flight_wait_longer_and_none_the_less_are_served() -> None:
    few, many = _colocated(64), _colocated(128)
    assert few.ttft_s is not None
    assert many.ttft_s is not None
    assert many.throughput_per_s == pytest.approx(few.throughput_per_s or 0.0, rel=0.02)
    assert many.ttft_s.p50 - few.ttft_s.p50 == pytest.approx(64 / (few.throughput_per_s or 1.0), rel=0.1)


def test_a_split_whose_decode_pool_is_full_lets_others_wait_too() -> None:
    """Long answers fill the decode pool; refusing the split there would flatter the colocated fleet."""
    lengths = {"workload.input_tokens": "2000", "workload.output_tokens": "8000"}
    scenario, refused = apply_settings(Scenario(), WALL | lengths | {"workload.concurrency": "64"})
    assert not refused
    split = evaluate(scenario, with_break_even=False).disaggregated
    assert split.feasible
    assert split.ttft_s is not None
    assert split.tpot_s is not None
    spent_s = split.ttft_s.p50 + 7999 * split.tpot_s.p50
    assert (split.throughput_per_s or 0.0) * spent_s == pytest.approx(64, rel=0.1)
