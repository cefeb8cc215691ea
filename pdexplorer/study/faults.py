"""What a fault costs: the same replay with and without it, as requests that then miss their limits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pdexplorer.metrics.late_cause import LateCause, late_cause
from pdexplorer.physics.fleet import ColocatedFleet
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.study_block import Faults
from pdexplorer.simulator.fault import Fault
from pdexplorer.simulator.options import options_of
from pdexplorer.study.at_rates import open_scenario
from pdexplorer.study.compare import Evaluation
from pdexplorer.study.progress import Report, counted, span, unheard
from pdexplorer.study.replayed import Fleet, replayed
from pdexplorer.study.words import percent
from pdexplorer.workload.generate import generate_requests


@dataclass(frozen=True, slots=True)
class FaultRow:
    """One fault in one fleet. lost_requests: those that held every limit without the fault and no longer do;
    lost_fraction: of all. retries: requests sent again because their instance died. late: why first tokens
    came late with the fault; None where none did, or no limit is set.
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
    late: LateCause | None = None


FAULTS = {
    "prefill_down": "One prefill instance is down for {time} of the time",
    "decode_down": "One decode instance is down for {time} of the time",
    "colocated_down": "One colocated instance is down for {time} of the time",
    "slow_link": "The KV link runs at {share} of its rate for {time} of the time",
    "transfer_failure": "{share} of the transfers fail for {time} of the time",
    "router_down": "The scheduler is away for {time} of the time",
}
"""Faults that are tried, in words; time and share as the scenario's faults.* say."""

_START = 0.4


def fault_shares(key: str, faults: Faults) -> dict[str, float]:
    """The shares in the words of a fault: `time` for which it lasts, `share` of rate or transfers."""
    time = faults.router_down_fraction if key == "router_down" else faults.down_fraction
    share = {"slow_link": faults.link_rate_fraction, "transfer_failure": faults.transfer_failure_fraction}
    return {"time": time, "share": share.get(key, 1.0)}


def fault_rows(
    evaluation: Evaluation,
    requests: int = 600,
    seed: int = 0,
    keys: Sequence[str] = tuple(FAULTS),
    report: Report = unheard,
) -> tuple[FaultRow, ...]:
    """Both fleets at the demand, as sized. Empty where neither runs, or for a batch job: it only runs later.
    ValueError for a key that is not in FAULTS. report: told the share done.
    """
    unknown = [key for key in keys if key not in FAULTS]
    if unknown:
        raise ValueError(f"fault = {unknown[0]!r} is not one of {', '.join(FAULTS)}")
    if evaluation.scenario.workload.mode == "offline":
        return ()
    scenario = open_scenario(evaluation.scenario)
    rows: list[FaultRow] = []
    sides = (evaluation.colocated_fleet, evaluation.disaggregated_fleet)
    fleets = [fleet for fleet in sides if fleet is not None]
    for at, fleet in enumerate(fleets):
        part = span(report, at / len(fleets), (at + 1) / len(fleets))
        rows += _of_fleet(scenario, fleet, requests, seed, keys, part)
    return tuple(rows)


def _of_fleet(
    scenario: Scenario, fleet: Fleet, requests: int, seed: int, keys: Sequence[str], report: Report
) -> list[FaultRow]:
    colocated = isinstance(fleet, ColocatedFleet)
    name = "colocated" if colocated else "disaggregated"
    traffic = generate_requests(scenario.workload, requests, seed)
    faults = scenario.faults
    options = replace(
        options_of(scenario),
        retry_after_s=faults.retry_after_s,
        transfer_retries=faults.transfer_retries,
    )
    span_s = float(traffic.arrival_s[-1])
    _, before = replayed(scenario, fleet, traffic, options)
    rows = []
    for key in counted(keys, report):
        fault = _fault(key, colocated, span_s, faults)
        if fault is None:
            continue
        result, after = replayed(scenario, fleet, traffic, replace(options, faults=(fault,)))
        was, now = before.attainment_fraction or 0.0, after.attainment_fraction or 0.0
        lost = round(max(was - now, 0.0) * requests)
        ttft = float("nan") if after.ttft_s is None else after.ttft_s.p95
        retries = int(np.sum(result.records["retries"] > 0))
        told = {name: percent(share) for name, share in fault_shares(key, faults).items()}
        text = (
            f"{FAULTS[key].format(**told)}: {lost} of {requests} requests miss their limits that held them "
            "before."
        )
        limit_s = scenario.slo.ttft_s
        late = None if limit_s is None else late_cause(result.records, limit_s)
        rows.append(FaultRow(key, name, was, now, lost, lost / requests, retries, ttft, text, late))
    return rows


def _fault(key: str, colocated: bool, span_s: float, faults: Faults) -> Fault | None:
    """None where the fleet has no such part."""
    start = _START * span_s
    end = start + fault_shares(key, faults)["time"] * span_s
    if key == "router_down":
        return Fault("router_down", start, end)
    if key == "colocated_down":
        return Fault("down", start, end, pool="colocated") if colocated else None
    if colocated:
        return None
    if key == "prefill_down":
        return Fault("down", start, end, pool="prefill")
    if key == "decode_down":
        return Fault("down", start, end, pool="decode")
    if key == "slow_link":
        jitter_s = faults.link_jitter_ms / 1e3
        return Fault("slow_link", start, end, rate_fraction=faults.link_rate_fraction, jitter_s=jitter_s)
    return Fault("transfer_failure", start, end, failure_fraction=faults.transfer_failure_fraction)
