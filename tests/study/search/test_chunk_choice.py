import pytest

from pdexplorer.metrics.outcome import Outcome
from pdexplorer.scenario.presets import load_presets
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
