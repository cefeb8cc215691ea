from dataclasses import replace

import numpy as np
import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.metrics.cost import PoolTime, cost_parts
from pdexplorer.metrics.money import FleetPrice, Price
from pdexplorer.metrics.outcome import PARTS, Outcome
from pdexplorer.metrics.records import outcome_from_records
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.study.compare import evaluate
from pdexplorer.workload.generate import generate_requests


def _gap(outcome: Outcome) -> float:
    parts = outcome.cost_per_request_usd
    assert parts is not None
    return sum(parts[part] for part in PARTS) / parts["total"] - 1.0


def test_parts_come_from_their_own_times() -> None:
    price = FleetPrice((36.0,), 3.6, (Price("x", 1.0, "user", ""),), None)
    parts = cost_parts(price, [PoolTime(0.5, 0.25, 0.05, 0.2)], 2.0)
    assert parts == pytest.approx(
        {
            "prefill": 0.0025,
            "decode": 0.00125,
            "kv_transfer": 0.00075,
            "scheduling_idle": 0.001,
            "total": 0.0055,
        }
    )


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"workload": {"rate_per_s": 0.05}},
        {"workload": {"rate_per_s": 30}, "money": {"network_usd_per_nic_hour": 0.1}},
        {"workload": {"arrivals": "closed_loop", "concurrency": 40}},
        {"workload": {"mode": "offline"}},
        {"workload": {"peak_to_mean_ratio": 3.0}},
        {"engine": {"chunking": "unchunked"}, "slo": {"tpot_ms": 200}},
        {"engine": {"chunking": "prefill_first"}, "slo": {"tpot_ms": 200}},
        {"network": {"first_token_from": "prefill", "layerwise_overlap": False}},
    ],
)
def test_the_closed_forms_four_parts_meet_fleet_cost_over_requests(settings: dict[str, object]) -> None:
    evaluation = evaluate(Scenario.model_validate(settings), with_break_even=False)
    assert evaluation.colocated.feasible
    assert evaluation.disaggregated.feasible
    assert abs(_gap(evaluation.colocated)) < 1e-9
    assert abs(_gap(evaluation.disaggregated)) < 1e-9


def test_a_replays_parts_meet_too_and_one_lost_idle_interval_breaks_them() -> None:
    scenario = Scenario()
    evaluation = evaluate(scenario, with_break_even=False)
    requests = generate_requests(scenario.workload, 200, seed=3)
    colocated, split = evaluation.colocated_fleet, evaluation.disaggregated_fleet
    assert colocated is not None
    assert split is not None
    whole = outcome_from_records(simulate_colocated(colocated, requests), colocated, scenario, load_catalog())
    assert abs(_gap(whole)) < 1e-9
    result = simulate_disaggregated(split, requests)
    assert abs(_gap(outcome_from_records(result, split, scenario))) < 1e-9
    pool = result.pools["prefill"]
    longest = int(np.argmax(pool.idle_end_s - pool.idle_start_s))
    lost = replace(
        pool,
        idle_instance=np.delete(pool.idle_instance, longest),
        idle_start_s=np.delete(pool.idle_start_s, longest),
        idle_end_s=np.delete(pool.idle_end_s, longest),
    )
    broken = replace(result, pools={**result.pools, "prefill": lost})
    assert _gap(outcome_from_records(broken, split, scenario)) < -1e-6
