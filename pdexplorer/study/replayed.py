"""Replays of given fleets that several studies share, and the largest rate at which one holds."""

from dataclasses import replace

from pdexplorer.metrics.outcome import Outcome
from pdexplorer.metrics.records import outcome_from_records
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.extent import checked_steps
from pdexplorer.simulator.options import SimulationOptions, options_of
from pdexplorer.simulator.records import SimulationResult
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.workload.generate import generate_requests
from pdexplorer.workload.requests import Requests

Fleet = ColocatedFleet | DisaggregatedFleet

_BISECTIONS = 5
_HIGHEST = 8.0


def replayed(
    scenario: Scenario, fleet: Fleet, requests: Requests, options: SimulationOptions | None = None
) -> tuple[SimulationResult, Outcome]:
    """One replay, with the scenario's routing unless told otherwise. ValueError where it would take too
    long.
    """
    options = options or options_of(scenario)
    checked_steps(
        scenario, {"colocated" if isinstance(fleet, ColocatedFleet) else "disaggregated": fleet}, requests
    )
    if isinstance(fleet, ColocatedFleet):
        result = simulate_colocated(fleet, requests, options)
    else:
        result = simulate_disaggregated(fleet, requests, options)
    return result, outcome_from_records(result, fleet, scenario)


def capacity_per_s(
    scenario: Scenario,
    fleet: Fleet,
    requests: int,
    options: SimulationOptions | None = None,
    seed: int = 0,
    hint: float = 1.0,
) -> float:
    """Largest rate at which that many requests hold the SLO's percentile, by bisection to about 4%.

    The same lengths and arrivals, only closer together, at every rate. hint: the answer's likely multiple of
    the scenario's rate. 0 where even an eighth of that rate does not hold.
    """
    workload = scenario.workload

    def holds(scale: float) -> bool:
        traffic = generate_requests(workload, requests, seed, scale)
        return replayed(scenario, fleet, traffic, options)[1].feasible

    low, high = hint, hint
    if holds(hint):
        while high < _HIGHEST * hint and holds(high * 1.5):
            high *= 1.5
        low, high = high, high * 1.5
    else:
        while low > hint / _HIGHEST and not holds(low / 1.5):
            low /= 1.5
        low, high = low / 1.5, low
        if low < hint / _HIGHEST:
            return 0.0
    for _ in range(_BISECTIONS - 1):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if holds(middle) else (low, middle)
    return float(low * workload.rate_per_s)


def with_pools(fleet: DisaggregatedFleet, prefill: int, decode: int) -> DisaggregatedFleet:
    """The same pools with other counts."""
    return replace(fleet, prefill_instances=prefill, decode_instances=decode)
