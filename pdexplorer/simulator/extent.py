"""How much a replay is, told before it runs, and what is too much."""

import math
from collections.abc import Mapping

import numpy as np

from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.workload.requests import Requests

MOST_INSTANCES = 100_000
"""Instances of a pool, as many as a scenario may ask for: some 400 MB, ten seconds before the first step."""

MOST_STEPS = 30_000_000
"""At ten to twenty microseconds each, five to ten minutes."""

_COLOCATED_STEPS = 4.0
_SPLIT_STEPS = 9.0
"""Events a request besides the chunks of its prompt, as replays of the presets have them."""


def checked_steps(
    scenario: Scenario, fleets: Mapping[str, ColocatedFleet | DisaggregatedFleet], requests: Requests
) -> int:
    """About how many events a replay of these fleets, by name, will take; preemptions come on top.

    ValueError names what is too much, the limit and what would fit.
    """
    total = 0
    for name, fleet in fleets.items():
        _check_instances(scenario, name, fleet)
        steps = _steps(fleet, requests)
        if steps > MOST_STEPS:
            fit = len(requests) * MOST_STEPS / steps
            raise ValueError(
                f"requests = {len(requests):,}: about {_about(steps)} steps through the {name} fleet; "
                f"a replay takes up to {MOST_STEPS:,}, about {_about(fit)} requests"
            )
        total += round(steps)
    return total


def _check_instances(scenario: Scenario, name: str, fleet: ColocatedFleet | DisaggregatedFleet) -> None:
    pools = (
        (fleet.instances,)
        if isinstance(fleet, ColocatedFleet)
        else (fleet.prefill_instances, fleet.decode_instances)
    )
    if max(pools) <= MOST_INSTANCES:
        return
    workload = scenario.workload
    if workload.arrivals == "closed_loop":
        key, asked, unit = "concurrency", float(workload.concurrency), "in flight"
    else:
        key, asked, unit = "rate_per_s", workload.rate_per_s, "requests/s"
    fit = asked * MOST_INSTANCES / max(pools)
    raise ValueError(
        f"workload.{key} = {asked:,.10g}: {' + '.join(f'{each:,}' for each in pools)} instances in the "
        f"{name} fleet; a replay takes up to {MOST_INSTANCES:,} a pool, about {_about(fit)} {unit}"
    )


def _steps(fleet: ColocatedFleet | DisaggregatedFleet, requests: Requests) -> float:
    if isinstance(fleet, DisaggregatedFleet):
        return _SPLIT_STEPS * len(requests)
    if fleet.chunking == "unchunked":
        return (_COLOCATED_STEPS + 1.0) * len(requests)
    new = requests.input_tokens - requests.cached_tokens
    return _COLOCATED_STEPS * len(requests) + float(np.ceil(new / fleet.chunk_tokens).sum())


def _about(value: float) -> str:
    """Two digits, rounded down."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.floor(value / unit) * unit:,.10g}"
