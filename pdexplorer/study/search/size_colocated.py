"""Whole instances of the best colocated design, for the comparison's basis."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.metrics.estimate import colocated_outcome
from pdexplorer.metrics.money import fleet_price
from pdexplorer.metrics.outcome import Outcome, infeasible_outcome
from pdexplorer.physics.fleet import ColocatedFleet
from pdexplorer.steady.colocated import ColocatedDesigns, colocated_flow, one_design
from pdexplorer.steady.colocated_capacity import colocated_attainment, colocated_score, colocated_wait
from pdexplorer.steady.load import Load
from pdexplorer.study import words
from pdexplorer.study.search.basis import Basis
from pdexplorer.study.search.candidates import Candidate, missing_figure, to_act_on
from pdexplorer.study.search.limits import closest, colocated_limits
from pdexplorer.study.search.score import ColocatedScore, instance_weights
from pdexplorer.study.search.space import Space
from pdexplorer.study.search.whole_colocated import WholeColocated, in_flight_at, whole_colocated

Array = NDArray[np.float64]
# token budgets that serve within this share of the best are alike: half of the step times' own median error
_ALIKE = 0.02


@dataclass(frozen=True, eq=False)
class SizedColocated:
    """The chosen fleet, what it does, every candidate; fleet None where none can."""

    fleet: ColocatedFleet | None
    outcome: Outcome
    candidates: tuple[Candidate, ...]


def size_colocated(space: Space, score: ColocatedScore | None, load: Load, basis: Basis) -> SizedColocated:
    """Cheapest whole fleet for the demand, or the one that carries most for the budget."""
    refused = [
        Candidate("colocated", {"accelerator": r.accelerator, "tp": r.tp, "pp": r.pp}, limit=r.limit)
        for r in space.refused
        if r.fleet == "colocated"
    ]
    if score is None:
        limit = to_act_on(row.limit for row in refused if row.limit is not None)
        return SizedColocated(None, infeasible_outcome(limit or words.nothing_fits()), tuple(refused))
    weight = instance_weights(space, space.colocated, basis.per_dollar)
    pinned = space.scenario.colocated.instances
    whole = whole_colocated(score, basis, weight[:, None], pinned)
    count, carried = whole.count, whole.carried
    feasible = whole.fits & (count >= 1) & (carried >= basis.least(count))
    spare = basis.spare(pinned)
    cost = (count + spare) * weight[:, None]
    # Any number in flight is carried where nothing limits waiting; what is served of it tells designs apart.
    served = carried if load.concurrency is None else _served_per_s(score.designs, whole, basis)
    merit = np.where(feasible, basis.merit(cost, served), -np.inf)
    best = divmod(int(np.argmax(merit)), merit.shape[1])
    if not load.offline:
        best = _shortest_steps(best, cost, np.where(feasible, served, -np.inf), space.budgets)
    alone = colocated_limits(score)
    rows = []
    for i, instance in enumerate(space.colocated):
        for c, budget in enumerate(space.budgets):
            design = {
                "accelerator": instance.accelerator.id,
                "tp": instance.parallelism.tp,
                "pp": instance.parallelism.pp,
                "chunk_tokens": int(budget),
            }
            if feasible[i, c]:
                rate = float(score.rate_per_s[i, c, 0, 0])
                rows.append(
                    Candidate(
                        "colocated",
                        design,
                        rate / float(weight[i]),
                        basis.score_unit,
                        int(count[i, c]) + spare,
                        (int(count[i, c]) + spare) * instance.gpus,
                        float(cost[i, c]) if basis.per_dollar else None,
                        chosen=(i, c) == best,
                    )
                )
            else:
                limit = (
                    alone[i, c].limit
                    if (i, c) in alone
                    else basis.short(float(carried[i, c]), float(count[i, c]))
                )
                rows.append(Candidate("colocated", design, limit=limit))
    if not np.isfinite(merit[best]):
        most = divmod(int(np.argmax(carried * whole.fits)), merit.shape[1])
        if whole.fits.any():
            limit = basis.short(float(carried[most]), float(count[most]))
        else:
            blocked = (row.limit for row in refused if row.limit is not None)
            limit = missing_figure(blocked) or closest(alone) or words.nothing_fits()
        return SizedColocated(None, infeasible_outcome(limit), (*rows, *refused))
    engine, pool = space.scenario.engine, space.scenario.colocated
    i, c = best
    instances = int(count[best]) + spare
    fleet = ColocatedFleet(
        space.colocated[i], instances, int(space.budgets[c]), engine.chunking, pool.max_batch
    )
    outcome = outcome_at(
        space, score.designs, load, fleet, (i, c), basis.demand(float(carried[best])), whole.in_flight[best]
    )
    return SizedColocated(fleet, outcome, (*rows, *refused))


def _served_per_s(designs: ColocatedDesigns, whole: WholeColocated, basis: Basis) -> Array:
    """Requests per second of every design's fleet, (instances, budgets), with the demand in flight."""
    count = np.maximum(whole.count, 1.0)[:, :, None, None]
    in_flight = in_flight_at(designs, basis.demand_value / count, count, whole.in_flight[:, :, None, None])
    return np.asarray(whole.count * colocated_flow(designs, in_flight).rate_per_s[:, :, 0, 0])


def _shortest_steps(best: tuple[int, int], cost: Array, served: Array, budgets: Array) -> tuple[int, int]:
    """Of one instance's token budgets that cost as much and serve as much, as far as an estimate can tell,
    the smallest: its prefill stalls decodes least, and nobody builds for stalls that buy nothing.
    """
    i, c = best
    alike = (cost[i] <= cost[i, c]) & (served[i] >= served[i, c] * (1.0 - _ALIKE)) & (budgets <= budgets[c])
    return i, int(np.argmax(alike))


def outcome_at(
    space: Space,
    designs_of_all: ColocatedDesigns,
    load: Load,
    fleet: ColocatedFleet,
    at_design: tuple[int, int],
    demand: float,
    most_in_flight: float,
) -> Outcome:
    """The fleet at the demand: latencies at its peak, money over its mean. most_in_flight: on one instance
    at the limits.
    """
    designs = one_design(designs_of_all, *at_design)
    price = fleet_price(fleet, space.scenario.money)
    count = np.full((1, 1, 1, 1), float(fleet.instances))

    def at(part: float) -> tuple[Array, Outcome]:
        in_flight = np.full((1, 1, 1, 1), most_in_flight)
        if not load.offline:
            in_flight = in_flight_at(designs, demand * part / fleet.instances, count, most_in_flight)
        return in_flight, colocated_outcome(designs, in_flight, fleet, price)

    in_flight, outcome = at(1.0)
    peak = space.scenario.workload.peak_to_mean_ratio
    if peak > 1.0 and load.concurrency is None and not load.offline:
        mean = at(1.0 / peak)[1]
        outcome = with_money_of(outcome, mean)
    design = {
        "accelerator": fleet.instance.accelerator.id,
        "tp": fleet.instance.parallelism.tp,
        "pp": fleet.instance.parallelism.pp,
        "gpus_per_instance": fleet.instance.gpus,
        "weight_format": fleet.instance.weight_format,
        "chunk_tokens": fleet.chunk_tokens,
        "chunking": fleet.chunking,
    }
    return replace(outcome, design=design, bottleneck=binding(designs, in_flight, count))


def with_money_of(peak: Outcome, mean: Outcome) -> Outcome:
    """Latencies and attainment of the peak; requests, time and money of the mean load."""
    served = mean.throughput_per_s
    return replace(
        peak,
        throughput_per_s=served,
        goodput_per_s=None if served is None else served * (peak.attainment_fraction or 0.0),
        cost_usd_per_million_tokens=mean.cost_usd_per_million_tokens,
        cost_usd_per_million_output_tokens=mean.cost_usd_per_million_output_tokens,
        cost_per_request_usd=mean.cost_per_request_usd,
        time_share=mean.time_share,
    )


def binding(designs: ColocatedDesigns, in_flight: Array, count: Array) -> str:
    """Which limit a little more load would break first: ttft, tpot, kv_memory or throughput."""
    load = designs.load
    more = np.minimum(in_flight * 1.3 + 0.2, designs.max_batch)
    flow = colocated_flow(designs, more)
    wait = colocated_wait(designs, flow, count)
    _, first, later = colocated_attainment(designs, flow, wait)
    room = {
        "ttft": float(first.item()) - load.percentile_fraction,
        "tpot": float(later.item()) - load.percentile_fraction,
    }
    if load.offline or min(room.values()) > 0.5 * (1.0 - load.percentile_fraction):
        score = float(colocated_score(designs, more, count).item())
        return "kv_memory" if score < 0.0 else "throughput"
    return min(room, key=lambda key: room[key])
