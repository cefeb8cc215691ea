"""Fleets the closed form sized, and requests replayed through them."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.metrics.outcome import Outcome
from pdexplorer.metrics.records import outcome_from_records
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.workload.requests import Requests


@dataclass(frozen=True)
class Sized:
    """A scenario with its evaluation; fleets that could not be sized for a trace may come from elsewhere."""

    scenario: Scenario
    evaluation: Evaluation
    colocated: ColocatedFleet | None = None
    disaggregated: DisaggregatedFleet | None = None

    def fleet(self, name: str) -> ColocatedFleet | DisaggregatedFleet | None:
        """The fleet to replay through, or None where there is none."""
        if name == "colocated":
            return self.evaluation.colocated_fleet or self.colocated
        return self.evaluation.disaggregated_fleet or self.disaggregated

    def estimated(self, name: str) -> Outcome:
        """What the closed form says of a fleet."""
        return self.evaluation.colocated if name == "colocated" else self.evaluation.disaggregated

    def completed_by(self, plain: Scenario, wanted: Sequence[str]) -> "Sized":
        """Where no fleet meets the limits on a trace, the one for the scenario's own traffic is replayed."""
        missing = [name for name in wanted if self.fleet(name) is None]
        if not missing:
            return self
        other = evaluate(plain)
        found = replace(self, colocated=other.colocated_fleet, disaggregated=other.disaggregated_fleet)
        for name in missing:
            if found.fleet(name) is not None:
                limit = self.estimated(name).infeasible
                why = "none was found" if limit is None else limit.text
                print(
                    f"pdexplorer: no {name} fleet meets the limits on this trace ({why}); "
                    "replayed through the one sized for the scenario's own traffic",
                    file=sys.stderr,
                )
        return found


def replay(
    sized: Sized, wanted: Sequence[str], requests: Requests
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """By fleet: the answer as `simulate --json` writes it, and the records; the closed form's where none."""
    scenario = sized.scenario
    closed = scenario.workload.arrivals == "closed_loop"
    options = SimulationOptions(
        routing=scenario.routing.policy,
        router_overhead_s=scenario.routing.overhead_ms / 1e3,
        closed_loop_concurrency=scenario.workload.concurrency if closed else None,
        kv_block_tokens=scenario.engine.kv_block_tokens,
    )
    catalog = load_catalog().with_overrides(scenario.overrides)
    answers: dict[str, dict[str, Any]] = {}
    records: dict[str, Any] = {}
    for name in wanted:
        fleet = sized.fleet(name)
        if fleet is None:
            answers[name] = {
                **sized.estimated(name).to_json(),
                "requests": 0,
                "completed": 0,
                "simulated_s": 0.0,
            }
            continue
        if isinstance(fleet, ColocatedFleet):
            result = simulate_colocated(fleet, requests, options)
        else:
            result = simulate_disaggregated(fleet, requests, options)
        outcome = outcome_from_records(result, fleet, scenario, catalog)
        records[name] = result.records
        answers[name] = {
            **outcome.to_json(),
            "requests": len(result.records["request_id"]),
            "completed": int((result.records["status"] == "completed").sum()),
            "simulated_s": float(result.simulated_s),
        }
    return answers, records
