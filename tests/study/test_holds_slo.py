"""A fleet that is called feasible holds the SLO in the whole number it is reported in."""

import math

import pytest

from pdexplorer.metrics.outcome import Outcome
from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import Evaluation, evaluate


def test_more_decodes_than_the_token_budget_do_not_mislead_the_search() -> None:
    """Where decodes fill the budget, the closed form's rate rises though no prompt gets through."""
    for preset, key, value in (
        ("all_h200", "colocated.max_batch", "1024"),
        ("one_box_8_h100", "colocated.max_batch", "512"),
    ):
        answer = _evaluated(preset, {key: value})
        assert answer.colocated.feasible
        _holds(answer, answer.colocated)
        assert answer.colocated.utilisation is not None
        assert answer.colocated.utilisation["kv_memory"] < 1.0
        assert answer.colocated.utilisation["prefill_queue"] < 1.0


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("agent_long_context", {"compare.basis": "equal_gpus"}),
        ("rag_h100", {"workload.arrivals": "closed_loop"}),
        ("rag_h100", {"workload.arrivals": "closed_loop", "workload.output_tokens": "1"}),
    ],
)
def test_colocated_fleets_hold_the_slo(preset: str, changes: dict[str, str]) -> None:
    answer = _evaluated(preset, changes)
    assert answer.colocated.feasible
    _holds(answer, answer.colocated)


def _evaluated(preset: str, changes: dict[str, str]) -> Evaluation:
    scenario, refused = apply_settings(load_presets()[preset].scenario, changes)
    assert not refused
    return evaluate(scenario, with_break_even=False)


def _holds(answer: Evaluation, side: Outcome) -> None:
    assert side.attainment_fraction is not None
    assert side.attainment_fraction >= answer.scenario.slo.percentile / 100.0 - 0.001
    assert side.ttft_s is not None
    assert math.isfinite(side.ttft_s.p99)
