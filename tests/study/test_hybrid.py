from dataclasses import replace

import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.study_block import Reuse
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.study.faults import FAULTS, fault_rows
from pdexplorer.study.hybrid import Hybrid, HybridRow, hybrid, rule_rows, with_hybrid
from pdexplorer.study.prefix_reuse import RUNS, held_conversations, prefix_reuse
from pdexplorer.study.replayed import replayed
from pdexplorer.workload.generate import generate_requests
from tests.study.test_signs import LONG_TIGHT

SMALL = {**LONG_TIGHT, "workload": {"input_tokens": 4000, "output_tokens": 100, "rate_per_s": 3}}


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(Scenario.model_validate(SMALL), with_break_even=False)


def test_a_threshold_of_zero_is_the_pure_split_and_higher_ones_send_fewer(evaluation: Evaluation) -> None:
    found = hybrid(evaluation, thresholds_tokens=(3000, 10**6), requests=60)
    assert found is not None
    first = [row for row in found.rows if row.prefill == found.rows[0].prefill]
    remote = [row.remote_fraction for row in sorted(first, key=lambda row: row.threshold_tokens)]
    assert remote[0] == 1.0
    assert remote == sorted(remote, reverse=True)
    assert remote[-1] == 0.0
    assert found.best.score == max(row.score for row in found.rows)
    assert found.pays == (found.best.threshold_tokens > 0 and found.gain >= 1.03)


@pytest.mark.parametrize("pays", [True, False])
def test_only_a_hybrid_that_beats_both_decides(evaluation: Evaluation, pays: bool) -> None:
    row = HybridRow(3000, 2, 1, 0.6, 1.0, 4.0, 0.1, 1.2, 1.4)
    found = Hybrid((row,), (), row, 1.2 if pays else 1.0, pays, "USD/h", "Prefill short prompts there.")
    verdict = with_hybrid(evaluation, found).verdict
    could = evaluation.verdict.decision in ("disaggregate", "benchmark_first")
    assert (verdict.decision == "hybrid") == (pays and could)
    assert verdict.hybrid == found.text
    assert with_hybrid(evaluation, None) is evaluation


def test_longer_prompts_hold_up_the_others_for_longer(evaluation: Evaluation) -> None:
    assert evaluation.disaggregated_fleet is not None
    rows = rule_rows(evaluation.disaggregated_fleet, evaluation)
    held = [row.held_up_s for row in rows]
    assert held == sorted(held)
    assert all(row.local_s > row.held_up_s > 0.0 and row.remote_s > 0.0 for row in rows)


def asked(evaluation: Evaluation, **reuse: object) -> Evaluation:
    scenario = evaluation.scenario.model_copy(update={"reuse": Reuse(**reuse)})  # type: ignore[arg-type]
    return replace(evaluation, scenario=scenario)


def test_three_runs_side_by_side(evaluation: Evaluation) -> None:
    rows = prefix_reuse(asked(evaluation, think_s=5.0), conversations=20)
    assert tuple(row.run for row in rows) == RUNS
    colocated, without, reuse = rows
    assert without.hit_fraction == 0.0
    assert colocated.hit_fraction > 0.2
    assert reuse.hit_fraction > 0.2
    assert reuse.ttft_p50_s < without.ttft_p50_s
    assert reuse.bytes_per_request < without.bytes_per_request
    assert colocated.bytes_per_request == colocated.decode_hit_fraction == 0.0
    assert without.decode_hit_fraction == pytest.approx(0.0, abs=1e-6)
    assert 0.1 < reuse.decode_hit_fraction < 1.0


def test_what_the_decode_side_holds_is_not_sent_in_the_estimate_and_in_a_replay() -> None:
    workload = {**SMALL["workload"], "prefix_hit_fraction": 0.5}
    moved, sent = [], []
    for held in (0.0, 0.75):
        asked = {**SMALL, "workload": {**workload, "decode_hit_fraction": held}}
        found = evaluate(Scenario.model_validate(asked), with_break_even=False)
        assert found.disaggregated_fleet is not None
        moved.append(found.disaggregated.explain["moved_bytes"])
        traffic = generate_requests(found.scenario.workload, 30, 0)
        sent.append(replayed(found.scenario, found.disaggregated_fleet, traffic)[0].bytes_moved)
    assert moved[1] == pytest.approx(0.25 * moved[0])
    assert sent[1] == pytest.approx(0.25 * sent[0])


def test_a_bigger_store_keeps_more_conversations(evaluation: Evaluation) -> None:
    small, large = (held_conversations(asked(evaluation, store_gb=size)) for size in (100.0, 1000.0))
    assert large["store"] == pytest.approx(10.0 * small["store"])
    assert small["open"] > 0.0


def test_each_fleet_takes_the_faults_it_can_have(evaluation: Evaluation) -> None:
    rows = fault_rows(evaluation, requests=80)
    keys = {(row.fleet, row.key) for row in rows}
    assert ("colocated", "colocated_down") in keys
    assert {key for fleet, key in keys if fleet == "disaggregated"} == set(FAULTS) - {"colocated_down"}
    assert all(0.0 <= row.lost_fraction <= 1.0 and row.text for row in rows)
    down = next(row for row in rows if row.key == "decode_down")
    assert down.attainment_after <= down.attainment_before
    with pytest.raises(ValueError, match="fault = 'flood'"):
        fault_rows(evaluation, keys=("flood",))
