"""From idle to overload: knees, the window in which splitting wins, and the Pareto line."""

import numpy as np
import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.at_rates import colocated_at_rates, disaggregated_at_rates
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.study.regimes import Regimes, pareto, regimes
from tests.study.test_signs import LONG_TIGHT


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(Scenario.model_validate(LONG_TIGHT), with_break_even=False)


@pytest.fixture(scope="module")
def found(evaluation: Evaluation) -> Regimes:
    answer = regimes(evaluation)
    assert answer is not None
    return answer


def test_goodput_follows_the_rate_when_idle_and_is_lost_in_overload() -> None:
    """Exactly, where all prompts are alike: nothing waits, so nothing misses."""
    alike = {"input_distribution": "fixed", "output_distribution": "fixed"}
    scenario = {**LONG_TIGHT, "workload": {**LONG_TIGHT["workload"], **alike}}
    answer = regimes(evaluate(Scenario.model_validate(scenario), with_break_even=False))
    assert answer is not None
    for fleet in ("colocated", "disaggregated"):
        rows = [row for row in answer.rows if row.fleet == fleet]
        assert rows[0].goodput_per_s == pytest.approx(rows[0].rate_per_s, rel=1e-3)
        assert rows[-1].attainment_fraction < 0.1
        assert all(row.goodput_per_s <= row.rate_per_s for row in rows)


def test_idle_only_prompts_too_long_for_their_design_miss(found: Regimes) -> None:
    """A design may use the misses an SLO leaves: the longest prompts break TTFT on it even alone. Load then
    only adds to them.
    """
    for fleet in ("colocated", "disaggregated"):
        rows = [row for row in found.rows if row.fleet == fleet]
        attained = [row.attainment_fraction for row in rows]
        assert attained[0] >= 0.95
        assert attained[0] == pytest.approx(max(attained), abs=1e-3)
        assert attained[-1] < 0.95


def test_splitting_wins_in_a_window_where_it_pays(found: Regimes) -> None:
    assert found.disaggregated_knee_per_s > found.colocated_knee_per_s
    assert found.windows
    low, high = found.windows[0]
    assert low < high
    assert "splitting delivers more" in found.text


def test_fleets_at_their_own_demand_meet_the_outcome_of_the_comparison(evaluation: Evaluation) -> None:
    scenario, catalog = evaluation.scenario, load_catalog()
    assert evaluation.colocated_fleet is not None
    assert evaluation.disaggregated_fleet is not None
    rates = np.array([scenario.workload.rate_per_s])
    one = colocated_at_rates(scenario, catalog, evaluation.colocated_fleet, rates)
    other = disaggregated_at_rates(scenario, catalog, evaluation.disaggregated_fleet, rates)
    assert one.attainment_fraction[0] == pytest.approx(evaluation.colocated.attainment_fraction, rel=1e-3)
    assert other.attainment_fraction[0] == pytest.approx(
        evaluation.disaggregated.attainment_fraction, rel=1e-3
    )


def test_more_speed_per_user_never_gives_more_per_gpu(evaluation: Evaluation) -> None:
    rows = pareto(evaluation)
    for fleet in ("colocated", "disaggregated"):
        line = [r.output_tokens_per_s_per_gpu for r in rows if r.fleet == fleet]
        known = [value for value in line if value is not None]
        assert len(known) > 5
        assert np.all(np.diff(known) >= -0.01 * np.array(known[1:]))


def test_a_batch_job_or_a_side_that_cannot_has_no_regimes() -> None:
    batch = evaluate(Scenario.model_validate({"workload": {"mode": "offline"}}), with_break_even=False)
    assert regimes(batch) is None
    assert pareto(batch) == ()


@pytest.mark.parametrize("name", ["rag_h100", "long_summaries", "one_box_8_h100", "all_h200"])
def test_the_verdicts_own_fleets_hold_at_its_load_what_the_verdict_says(name: str) -> None:
    """Small token budgets too: there the load peaks far below the batch's cap."""
    scenario = load_presets()[name].scenario
    answer = evaluate(scenario, with_break_even=False)
    for outcome, fleet, at_rates in (
        (answer.colocated, answer.colocated_fleet, colocated_at_rates),
        (answer.disaggregated, answer.disaggregated_fleet, disaggregated_at_rates),
    ):
        found = at_rates(scenario, load_catalog(), fleet, np.array([outcome.throughput_per_s]))
        assert found.attainment_fraction[0] == pytest.approx(outcome.attainment_fraction, rel=1e-6)


@pytest.mark.parametrize("preset", ["code_generation", "rag_h100"])
def test_the_dearer_fleet_has_the_verdicts_attainment_at_the_scenarios_peak(preset: str) -> None:
    """It is not scaled, and the peak is one of the rates: one number, worked out once."""
    scenario = load_presets()[preset].scenario
    answered = evaluate(scenario, with_break_even=False)
    answer = regimes(answered)
    assert answer is not None
    sides = answered.colocated, answered.disaggregated
    dearer = max(sides, key=lambda side: side.cost_usd_per_hour or 0.0)
    name = "colocated" if dearer is answered.colocated else "disaggregated"
    peak = scenario.workload.rate_per_s * scenario.workload.peak_to_mean_ratio
    (row,) = [row for row in answer.rows if row.fleet == name and row.rate_per_s == peak]
    assert row.attainment_fraction == pytest.approx(dearer.attainment_fraction, abs=1e-6)
