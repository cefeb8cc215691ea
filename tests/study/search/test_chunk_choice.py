import pytest

from pdexplorer.metrics.outcome import Outcome
from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import Evaluation, evaluate

BUDGETS_TOKENS = (512, 1_024, 2_048, 4_096, 8_192, 16_384)


def _at(preset: str, chunk_tokens: int | None = None) -> Evaluation:
    settings = {} if chunk_tokens is None else {"colocated.chunk_tokens": str(chunk_tokens)}
    scenario, refused = apply_settings(load_presets()[preset].scenario, settings)
    assert not refused
    return evaluate(scenario, with_break_even=False)


@pytest.mark.parametrize("preset", ["rag_h100", "reasoning", "code_generation"])
def test_no_smaller_budget_costs_as_little_and_stalls_decodes_less(preset: str) -> None:
    chosen = _at(preset)
    assert chosen.colocated_fleet is not None
    budget = chosen.colocated_fleet.chunk_tokens
    by_hand: dict[int, Outcome] = {b: _at(preset, b).colocated for b in BUDGETS_TOKENS}
    able = {b: o for b, o in by_hand.items() if o.feasible and o.cost_usd_per_hour is not None}
    least = min(o.cost_usd_per_hour or 0.0 for o in able.values())
    assert chosen.colocated.cost_usd_per_hour == pytest.approx(least)
    cheapest = {b: o for b, o in able.items() if o.cost_usd_per_hour == pytest.approx(least)}
    room = max(o.goodput_per_s or 0.0 for o in cheapest.values())
    alike = [b for b, o in cheapest.items() if (o.goodput_per_s or 0.0) >= 0.995 * room]
    assert budget <= min(alike)


def test_a_closed_loop_without_limits_takes_the_budget_that_serves_most() -> None:
    """Small chunks stream a mixture of experts' weights over and over: with any wait allowed they would still
    carry any number in flight, and make a baseline that serves an eighth less."""
    moe = {
        "model.name": "qwen3_235b_a22b", "model.weight_format": "fp8", "compare.basis": "fixed_fleets",
        "workload.arrivals": "closed_loop", "workload.concurrency": "32", "slo.ttft_s": "none",
        "slo.tpot_ms": "none", "workload.input_tokens": "4000", "workload.output_tokens": "500",
        **{f"{pool}.{key}": value for pool in ("colocated", "prefill", "decode")
           for key, value in {"accelerator": "h200_sxm", "tp": "4", "instances": "1"}.items()},
        "colocated.instances": "2",
    }  # fmt: skip
    served: dict[int | None, float] = {}
    for budget in (None, *BUDGETS_TOKENS):
        pinned = {} if budget is None else {"colocated.chunk_tokens": str(budget)}
        scenario, refused = apply_settings(Scenario(), moe | pinned)
        assert not refused
        served[budget] = evaluate(scenario, with_break_even=False).colocated.throughput_per_s or 0.0
    assert served[None] >= 0.98 * max(served.values())
    assert served[512] < 0.9 * served[None]
