"""Runs of the simulator for the page, kept by scenario, seed, trace and model version."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from pdexplorer import MODEL_VERSION
from pdexplorer.metrics.records import outcome_from_records
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.ui import compute
from pdexplorer.ui.trace_input import trace_requests
from pdexplorer.workload.generate import generate_requests
from pdexplorer.workload.requests import Requests


@dataclass(frozen=True)
class Replay:
    """What to run. trace: digest of the trace the session holds, empty for the scenario's own traffic."""

    scenario_json: str
    requests: int
    seed: int
    rate_scale: float
    trace: str


@dataclass(frozen=True)
class ReplayResult:
    """Per fleet: the outcome as `simulate --json` writes it, and completed requests' latencies in seconds."""

    outcomes: Mapping[str, Mapping[str, Any]]
    simulated_s: Mapping[str, float]
    ttft_s: Mapping[str, NDArray[np.float64]]
    tpot_s: Mapping[str, NDArray[np.float64]]


def replay(wanted: Replay) -> ReplayResult:
    """Both fleets of the scenario over the same requests. ValueError in one line where that cannot be."""
    return _replay(wanted, MODEL_VERSION)


@st.cache_resource(max_entries=16, show_spinner=False)
def _replay(wanted: Replay, version: str) -> ReplayResult:
    scenario = Scenario.model_validate_json(wanted.scenario_json)
    evaluation, _ = compute.evaluated(scenario)
    catalog = compute.catalog_for(scenario)
    requests = _requests(wanted, scenario)
    closed = scenario.workload.arrivals == "closed_loop" and not wanted.trace
    options = SimulationOptions(
        routing=scenario.routing.policy,
        router_overhead_s=scenario.routing.overhead_ms / 1e3,
        closed_loop_concurrency=scenario.workload.concurrency if closed else None,
        kv_block_tokens=scenario.engine.kv_block_tokens,
    )
    results: dict[str, Any] = {}
    fleets: dict[str, Any] = {}
    if evaluation.colocated_fleet is not None:
        fleets["colocated"] = evaluation.colocated_fleet
        results["colocated"] = simulate_colocated(evaluation.colocated_fleet, requests, options)
    if evaluation.disaggregated_fleet is not None:
        fleets["disaggregated"] = evaluation.disaggregated_fleet
        results["disaggregated"] = simulate_disaggregated(evaluation.disaggregated_fleet, requests, options)
    latencies = {fleet: _latencies(result.records) for fleet, result in results.items()}
    return ReplayResult(
        outcomes={
            f: outcome_from_records(r, fleets[f], scenario, catalog).to_json() for f, r in results.items()
        },
        simulated_s={f: float(r.simulated_s) for f, r in results.items()},
        ttft_s={f: ttft for f, (ttft, _) in latencies.items()},
        tpot_s={f: tpot for f, (_, tpot) in latencies.items()},
    )


def _requests(wanted: Replay, scenario: Scenario) -> Requests:
    own = generate_requests(scenario.workload, wanted.requests, wanted.seed, wanted.rate_scale)
    if wanted.trace:
        return trace_requests(wanted.trace, wanted.requests, wanted.rate_scale, own.arrival_s)
    return own


def _latencies(records: Mapping[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """TTFT and TPOT of completed requests, as vLLM's benchmark defines them; (n,) each, in seconds."""
    done = np.asarray(records["status"]) == "completed"
    first = np.asarray(records["first_token_s"], float)[done]
    ttft = first - np.asarray(records["arrival_s"], float)[done]
    tokens = np.asarray(records["output_tokens"], float)[done]
    last = np.asarray(records["finish_s"], float)[done]
    tpot = np.where(tokens > 1, (last - first) / np.maximum(tokens - 1, 1), np.nan)
    return ttft, tpot
