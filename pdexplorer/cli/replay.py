"""Fleets the closed form sized, and requests replayed through them."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.metrics.outcome import Outcome
from pdexplorer.metrics.records import outcome_from_records
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.extent import checked_steps
from pdexplorer.simulator.options import options_of
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.workload.requests import Requests

_MANY_STEPS = 1_000_000  # some ten seconds


@dataclass(frozen=True)
class Sized:
    """One fleet to replay through, with what the closed form says of it. fleet None: none was found."""

    outcome: Outcome
    fleet: ColocatedFleet | DisaggregatedFleet | None


def sized_fleets(scenario: Scenario, plain: Scenario, wanted: Sequence[str]) -> dict[str, Sized]:
    """The wanted fleets, sized for the scenario.

    Where none meets the limits on a trace, the one sized for plain, the scenario's own traffic, is taken;
    that is said on stderr.
    """
    found = _sized(evaluate(scenario))
    if scenario != plain and any(found[name].fleet is None for name in wanted):
        other = _sized(evaluate(plain))
        for name in wanted:
            if found[name].fleet is None and other[name].fleet is not None:
                limit = found[name].outcome.infeasible
                why = "none was found" if limit is None else limit.text
                print(
                    f"pdexplorer: no {name} fleet meets the limits on this trace ({why}); "
                    "replayed through the one sized for the scenario's own traffic",
                    file=sys.stderr,
                )
                found[name] = other[name]
    return {name: found[name] for name in wanted}


def replay(
    scenario: Scenario, fleets: Mapping[str, Sized], requests: Requests
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """By fleet: the answer as `simulate --json` writes it, and the records; the closed form's where none.

    What will take long is said on stderr; ValueError for what would take too long.
    """
    options = options_of(scenario)
    known = {name: sized.fleet for name, sized in fleets.items() if sized.fleet is not None}
    steps = checked_steps(scenario, known, requests)
    if steps >= _MANY_STEPS:
        print(f"pdexplorer: about {steps:,} steps to replay; Ctrl-C ends it", file=sys.stderr)
    catalog = load_catalog().with_overrides(scenario.overrides)
    answers: dict[str, dict[str, Any]] = {}
    records: dict[str, Any] = {}
    for name, sized in fleets.items():
        fleet = sized.fleet
        if fleet is None:
            answers[name] = {**sized.outcome.to_json(), "requests": 0, "completed": 0, "simulated_s": 0.0}
            continue
        if isinstance(fleet, ColocatedFleet):
            result = simulate_colocated(fleet, requests, options)
        else:
            result = simulate_disaggregated(fleet, requests, options)
        outcome = outcome_from_records(result, fleet, scenario, catalog)
        records[name] = result.records
        answers[name] = {
            **outcome.to_json(),
            "design": dict(outcome.design or sized.outcome.design),
            "requests": len(result.records["request_id"]),
            "completed": int((result.records["status"] == "completed").sum()),
            "simulated_s": float(result.simulated_s),
        }
    return answers, records


def _sized(evaluation: Evaluation) -> dict[str, Sized]:
    return {
        "colocated": Sized(evaluation.colocated, evaluation.colocated_fleet),
        "disaggregated": Sized(evaluation.disaggregated, evaluation.disaggregated_fleet),
    }
