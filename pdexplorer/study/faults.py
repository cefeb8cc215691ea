"""What a fault costs: the same replay with and without it, as requests that then miss their limits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pdexplorer.physics.fleet import ColocatedFleet
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.fault import Fault
from pdexplorer.simulator.options import options_of
from pdexplorer.study.at_rates import open_scenario
from pdexplorer.study.compare import Evaluation
from pdexplorer.study.replayed import Fleet, replayed
from pdexplorer.workload.generate import generate_requests


@dataclass(frozen=True, slots=True)
class FaultRow:
    """One fault in one fleet. lost_requests: those that held every limit without the fault and no longer do;
    lost_fraction: of all. retries: requests sent again because their instance died.
    """

    key: str
    fleet: str
    attainment_before: float
    attainment_after: float
    lost_requests: int
    lost_fraction: float
    retries: int
    ttft_p95_s: float
    text: str


FAULTS = {
    "prefill_down": "One prefill instance dies for a fifth of the time",
    "decode_down": "One decode instance dies for a fifth of the time",
    "colocated_down": "One colocated instance dies for a fifth of the time",
    "slow_link": "The KV link runs at a tenth of its rate for a fifth of the time",
    "transfer_failure": "A tenth of the transfers fail for a fifth of the time",
    "router_down": "The scheduler is away for a fiftieth of the time",
}


def fault_rows(
    evaluation: Evaluation, requests: int = 600, seed: int = 0, keys: Sequence[str] = tuple(FAULTS)
) -> tuple[FaultRow, ...]:
    """Both fleets at the demand, as sized. Empty where neither runs, or for a batch job: it only runs later.
    ValueError for a key that is not in FAULTS.
    """
    unknown = [key for key in keys if key not in FAULTS]
    if unknown:
        raise ValueError(f"fault = {unknown[0]!r} is not one of {', '.join(FAULTS)}")
    if evaluation.scenario.workload.mode == "offline":
        return ()
    scenario = open_scenario(evaluation.scenario)
    rows: list[FaultRow] = []
    for fleet in (evaluation.colocated_fleet, evaluation.disaggregated_fleet):
        if fleet is not None:
            rows += _of_fleet(scenario, fleet, requests, seed, keys)
    return tuple(rows)


def _of_fleet(
    scenario: Scenario, fleet: Fleet, requests: int, seed: int, keys: Sequence[str]
) -> list[FaultRow]:
    colocated = isinstance(fleet, ColocatedFleet)
    name = "colocated" if colocated else "disaggregated"
    traffic = generate_requests(scenario.workload, requests, seed)
    options = options_of(scenario)
    span_s = float(traffic.arrival_s[-1])
    _, before = replayed(scenario, fleet, traffic, options)
    rows = []
    for key in keys:
        fault = _fault(key, colocated, span_s)
        if fault is None:
            continue
        result, after = replayed(scenario, fleet, traffic, replace(options, faults=(fault,)))
        was, now = before.attainment_fraction or 0.0, after.attainment_fraction or 0.0
        lost = round(max(was - now, 0.0) * requests)
        ttft = float("nan") if after.ttft_s is None else after.ttft_s.p95
        retries = int(np.sum(result.records["retries"] > 0))
        text = f"{FAULTS[key]}: {lost} of {requests} requests miss their limits that held them before."
        rows.append(FaultRow(key, name, was, now, lost, lost / requests, retries, ttft, text))
    return rows


def _fault(key: str, colocated: bool, span_s: float) -> Fault | None:
    """None where the fleet has no such part."""
    start, end = 0.4 * span_s, 0.6 * span_s
    if key == "router_down":
        return Fault("router_down", start, start + 0.02 * span_s)
    if key == "colocated_down":
        return Fault("down", start, end, pool="colocated") if colocated else None
    if colocated:
        return None
    if key == "prefill_down":
        return Fault("down", start, end, pool="prefill")
    if key == "decode_down":
        return Fault("down", start, end, pool="decode")
    if key == "slow_link":
        return Fault("slow_link", start, end, rate_fraction=0.1)
    return Fault("transfer_failure", start, end, failure_fraction=0.1)
