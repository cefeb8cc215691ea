"""Confidence follows from the spread in the data, and from nothing else."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pdexplorer.catalog import efficiency
from pdexplorer.physics import serving
from pdexplorer.scenario.decision_block import VerdictRule
from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.scenario.study_block import ConfidenceRule
from pdexplorer.study.compare import evaluate
from pdexplorer.study.confidence import Confidence, confidence_of, in_doubt, with_confidence
from pdexplorer.study.drawn_ratios import _most_carried
from pdexplorer.study.search.spread import slower

SCENARIO = Scenario.model_validate(
    {
        "model": {"name": "llama_3_1_70b", "weight_format": "fp8"},
        "workload": {"input_tokens": 4000, "output_tokens": 300, "rate_per_s": 40},
        "slo": {"ttft_s": 2, "tpot_ms": 25},
        "compare": {"basis": "most_goodput"},
    }
)


def with_rule(scenario: Scenario, **rule: object) -> Scenario:
    return scenario.model_copy(update={"confidence": ConfidenceRule(**rule)})  # type: ignore[arg-type]


def drawn(
    change: Callable[[float], float],
    monkeypatch: pytest.MonkeyPatch,
    scenario: Scenario = SCENARIO,
    **rule: object,
) -> Confidence | None:
    """Confidence with every spread in the data changed."""
    entries = efficiency.load_efficiencies()
    moved = {part: tuple(_with_spread(entry, change) for entry in found) for part, found in entries.items()}
    ratios = serving.load_serving_ratios()
    served = replace(ratios, spread_fraction=change(ratios.spread_fraction))
    with monkeypatch.context() as patch:
        patch.setattr(efficiency, "load_efficiencies", lambda: moved)
        patch.setattr(efficiency, "_inherited", lambda entry, *why: entry)
        patch.setattr(serving, "load_serving_ratios", lambda: served)
        return confidence_of(evaluate(with_rule(scenario, draws=16, **rule), with_break_even=False))


def _with_spread(entry: Any, change: Callable[[float], float]) -> Any:
    return replace(entry, fit=replace(entry.fit, spread_fraction=change(entry.fit.spread_fraction)))


def test_doubling_the_spread_in_the_data_widens_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (drawn(lambda spread, k=k: k * spread, monkeypatch) for k in (1.0, 2.0))
    assert one is not None
    assert two is not None
    assert None not in (one.gain_low, one.gain_high, two.gain_low, two.gain_high)
    width, twice = (c.gain_high - c.gain_low for c in (one, two))  # type: ignore[operator]
    assert twice > 1.4 * width
    assert (one.agreeing, one.decisions, one.gain_low) != (two.agreeing, two.decisions, two.gain_low)


def test_the_scenario_can_doubt_the_fits_twice_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = drawn(lambda spread: spread, monkeypatch, SCENARIO, spread_ratio=2.0)
    assert asked == drawn(lambda spread: 2.0 * spread, monkeypatch)
    assert confidence_of(evaluate(with_rule(SCENARIO, spread_ratio=0.0), with_break_even=False)) is None
    assert confidence_of(evaluate(with_rule(SCENARIO, draws=0), with_break_even=False)) is None


def test_without_a_spread_there_is_no_confidence(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(lambda spread: 0.0, monkeypatch) is None


def test_the_same_seed_gives_the_same_draws_and_fills_the_verdict() -> None:
    evaluation = evaluate(with_rule(SCENARIO, draws=8, seed=3), with_break_even=False)
    assert evaluation.verdict.confidence is None
    first, second = (with_confidence(evaluation).verdict for _ in range(2))
    assert first == second
    answer = json.loads(json.dumps(first.to_json(), allow_nan=False))
    assert 0.0 <= answer["confidence"] <= 1.0
    low, high = answer["gain_interval"]
    assert low <= first.ratio <= high  # type: ignore[operator]


def test_an_interval_on_both_sides_of_the_line_says_benchmark_first(monkeypatch: pytest.MonkeyPatch) -> None:
    line = evaluate(SCENARIO, with_break_even=False).verdict.ratio
    assert line is not None
    through_it = VerdictRule(benchmark_ratio=line, pays_ratio=2.0 * line, clearly_ratio=2.0 * line)
    found = drawn(lambda spread: 0.3, monkeypatch, SCENARIO.model_copy(update={"verdict": through_it}))
    assert found is not None
    assert found.gain_low < line <= found.gain_high  # type: ignore[operator]
    assert found.undecided == (found.agreeing < 0.8)
    assert ("lean the same way" in found.text) == found.undecided


def test_an_estimate_that_cannot_decide_has_one_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    line = evaluate(SCENARIO, with_break_even=False).verdict.ratio
    assert line is not None
    for benchmark, leaning in ((line, "disaggregate"), (1.001 * line, "stay_colocated")):
        rule = VerdictRule(benchmark_ratio=benchmark, pays_ratio=benchmark, clearly_ratio=benchmark)
        scenario = with_rule(SCENARIO, spread_ratio=3.0, sure_fraction=1.0)
        verdict = with_confidence(evaluate(scenario.model_copy(update={"verdict": rule}))).verdict
        assert verdict.undecided
        assert (verdict.decision, verdict.leaning) == ("benchmark_first", leaning)
        assert verdict.sentence.startswith("Benchmark first: the estimate cannot decide this. It leans to")
        assert "cannot decide" not in verdict.confidence_text
        assert all(flip.then != "benchmark_first" for flip in verdict.break_even)


def test_a_small_box_is_judged_in_whole_instances_by_the_draws_too() -> None:
    """Unrounded, splitting would pay about twice over; of two or four GPUs there are no such pools."""
    for gpus, decided_by in ((2, "feasibility"), (4, "goodput_ratio")):
        compare = {"basis": "equal_gpus", "gpus": gpus}
        scenario = Scenario.model_validate(
            {
                "model": {"name": "llama_3_1_70b", "weight_format": "fp8"},
                "workload": {"input_tokens": 8000, "output_tokens": 300, "rate_per_s": 8},
                "slo": {"ttft_s": 2, "tpot_ms": 25},
                "compare": compare,
            }
        )
        evaluation = evaluate(scenario, with_break_even=False)
        assert (evaluation.verdict.decision, evaluation.verdict.decided_by) == ("stay_colocated", decided_by)
        found = confidence_of(evaluation)
        assert found is not None
        assert found.agreeing > 0.5
        if evaluation.verdict.ratio is not None:
            assert found.gain_low <= evaluation.verdict.ratio <= found.gain_high  # type: ignore[operator]
        else:
            assert found.gain_low is None


@pytest.mark.parametrize(("n_p", "n_d"), [(None, None), (2, None), (None, 3), (2, 3)])
def test_a_budget_buys_the_pools_that_carry_most(n_p: int | None, n_d: int | None) -> None:
    rng = np.random.default_rng(1)
    one_p, one_d = rng.uniform(0.2, 9.0, (2, 6, 5))
    p, d = rng.integers(1, 9, (6, 1)).astype(float), rng.integers(1, 9, (1, 5)).astype(float)
    budget = 37.0
    found = _most_carried(one_p, one_d, p, d, n_p, n_d, budget)
    for i, j in np.ndindex(6, 5):
        fleets = [
            min(a * one_p[i, j], b * one_d[i, j])
            for a in ([n_p] if n_p else range(1, 40))
            for b in ([n_d] if n_d else range(1, 40))
            if a * p[i, 0] + b * d[0, j] <= budget or (n_p and n_d)
        ]
        assert found[i, j] == pytest.approx(max(fleets, default=0.0))


def test_slower_parts_take_longer_by_the_factor() -> None:
    part = efficiency.load_efficiencies()["gemm"][0]
    changed = slower(part, 2.0, 1.0)
    assert changed.mfu == pytest.approx(part.mfu / 2.0)
    assert (changed.mbu, changed.launch_s) == (part.mbu, part.launch_s)
    assert slower(part, 1.0, 2.0).launch_s == pytest.approx(2.0 * part.launch_s)


@pytest.mark.parametrize(
    ("preset", "input_tokens", "output_tokens"),
    [("rag_h100", 1500, 1500), ("agent_long_context", 12_000, 400), ("all_h200", 4000, 1500)],
)
def test_whoever_cannot_decide_was_in_doubt(preset: str, input_tokens: int, output_tokens: int) -> None:
    """Far from the line nobody draws, so nothing that draws would take back may be there."""
    lengths = {"workload.input_tokens": str(input_tokens), "workload.output_tokens": str(output_tokens)}
    evaluation = evaluate(apply_settings(load_presets()[preset].scenario, lengths)[0], with_break_even=False)
    assert with_confidence(evaluation).verdict.undecided
    assert in_doubt(evaluation)


def test_far_from_the_line_there_is_no_doubt() -> None:
    assert not in_doubt(evaluate(load_presets()["rag_h100"].scenario, with_break_even=False))
