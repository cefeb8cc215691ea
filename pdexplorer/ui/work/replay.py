"""One run of the simulator over both fleets: what to run, what comes out, and the work itself.

This runs in a process of its own (see `child`), so it imports nothing of the page.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.metrics.late_cause import LateCause, late_cause
from pdexplorer.metrics.records import outcome_from_records
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.extent import checked_steps
from pdexplorer.simulator.options import SimulationOptions, options_of
from pdexplorer.simulator.records import TIME_COLUMNS, SimulationResult
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.workload.generate import generate_requests
from pdexplorer.workload.requests import Requests

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Replay:
    """What to run. trace: digest of the trace the session holds, empty for the scenario's own traffic."""

    scenario_json: str
    requests: int
    seed: int
    rate_scale: float
    trace: str


@dataclass(frozen=True, eq=False)
class FleetReplay:
    """One fleet: its outcome as `simulate --json` writes it; completed requests' latencies in seconds (n,);
    the time series; gaps between tokens as a histogram; per request (N,) the times named in `TIME_COLUMNS`;
    and why first tokens were late, None where none were or no limit is set.
    """

    outcome: Mapping[str, Any]
    simulated_s: float
    ttft_s: Array
    tpot_s: Array
    series: Mapping[str, Array]
    itl_bin_s: Array
    itl_gaps: NDArray[np.int64]
    times: Mapping[str, Array]
    took_s: float
    late: LateCause | None


@dataclass(frozen=True, eq=False)
class ReplayResult:
    """By fleet; a fleet that cannot run is absent."""

    fleets: Mapping[str, FleetReplay]

    @property
    def outcomes(self) -> Mapping[str, Mapping[str, Any]]:
        """The outcomes by fleet."""
        return {name: fleet.outcome for name, fleet in self.fleets.items()}


def run_replay(wanted: Replay, trace: Requests | None, report: Callable[[float], None]) -> ReplayResult:
    """Both fleets of the scenario over the same requests. ValueError in one line where that cannot be.

    trace: the requests to replay where wanted names one. report: told the share done.
    """
    scenario = Scenario.model_validate_json(wanted.scenario_json)
    evaluation = evaluate(scenario, with_break_even=False)
    options = options_of(scenario)
    if trace is not None:
        options = replace(options, closed_loop_concurrency=None)
    requests = trace if trace is not None else _generated(wanted, scenario)
    names = [name for name in ("colocated", "disaggregated") if _fleet(evaluation, name) is not None]
    checked_steps(scenario, {name: _fleet(evaluation, name) for name in names}, requests)
    fleets: dict[str, FleetReplay] = {}

    def told(share: float) -> None:
        report((len(fleets) + share) / len(names))

    for name in names:
        result, took_s = _timed(evaluation, name, requests, replace(options, report=told))
        fleets[name] = _fleet_replay(result, evaluation, name, scenario, took_s)
    return ReplayResult(fleets)


def _generated(wanted: Replay, scenario: Scenario) -> Requests:
    return generate_requests(scenario.workload, wanted.requests, wanted.seed, wanted.rate_scale)


def _fleet(evaluation: Evaluation, name: str) -> Any:
    return evaluation.colocated_fleet if name == "colocated" else evaluation.disaggregated_fleet


def _timed(
    evaluation: Evaluation, name: str, requests: Requests, options: SimulationOptions
) -> tuple[SimulationResult, float]:
    started = time.perf_counter()
    simulate: Any = simulate_colocated if name == "colocated" else simulate_disaggregated
    result: SimulationResult = simulate(_fleet(evaluation, name), requests, options)
    return result, time.perf_counter() - started


def _fleet_replay(
    result: SimulationResult, evaluation: Evaluation, name: str, scenario: Scenario, took_s: float
) -> FleetReplay:
    catalog = load_catalog().with_overrides(scenario.overrides)
    outcome = outcome_from_records(result, _fleet(evaluation, name), scenario, catalog)
    ttft, tpot = _latencies(result.records)
    limit_s = scenario.slo.ttft_s if scenario.workload.mode == "online" else None
    return FleetReplay(
        outcome=outcome.to_json(),
        simulated_s=float(result.simulated_s),
        ttft_s=ttft,
        tpot_s=tpot,
        series=dict(result.series),
        itl_bin_s=result.itl_bin_s,
        itl_gaps=result.itl_gaps,
        times={column: np.asarray(result.records[column], float) for column in TIME_COLUMNS},
        took_s=took_s,
        late=None if limit_s is None else late_cause(result.records, limit_s),
    )


def _latencies(records: Mapping[str, Any]) -> tuple[Array, Array]:
    """TTFT and TPOT of completed requests, as vLLM's benchmark defines them; (n,) each, in seconds."""
    done = np.asarray(records["status"]) == "completed"
    first_s = np.asarray(records["first_token_s"], float)[done]
    ttft = first_s - np.asarray(records["arrival_s"], float)[done]
    tokens = np.asarray(records["output_tokens"], float)[done]
    last = np.asarray(records["finish_s"], float)[done]
    tpot = np.where(tokens > 1, (last - first_s) / np.maximum(tokens - 1, 1), np.nan)
    return ttft, tpot
