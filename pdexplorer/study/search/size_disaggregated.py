"""Whole instances of the best pair of pools, for the comparison's basis, and what one more would bring."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from pdexplorer.infeasible import Infeasible
from pdexplorer.metrics.estimate import disaggregated_outcome
from pdexplorer.metrics.money import fleet_price
from pdexplorer.metrics.outcome import Outcome, infeasible_outcome
from pdexplorer.physics.fleet import DisaggregatedFleet
from pdexplorer.physics.transfer import resolve_path
from pdexplorer.steady.load import Load
from pdexplorer.steady.split_designs import one_pair
from pdexplorer.study import words
from pdexplorer.study.search.basis import Basis
from pdexplorer.study.search.candidates import Candidate, missing_figure, to_act_on
from pdexplorer.study.search.limits import closest, disaggregated_limits
from pdexplorer.study.search.score import DisaggregatedScore, disaggregated_costs
from pdexplorer.study.search.size_colocated import with_money_of
from pdexplorer.study.search.space import Space
from pdexplorer.study.search.split_outcome import fleet_flow
from pdexplorer.study.search.whole_split import (
    PoolChoice,
    best_pools,
    demand_rate,
    pool_choices,
    short_of,
    spares,
)


@dataclass(frozen=True, eq=False)
class SizedDisaggregated:
    """The chosen pools, what they do, every candidate, and the gain in capacity of one more instance of
    each.
    """

    fleet: DisaggregatedFleet | None
    outcome: Outcome
    candidates: tuple[Candidate, ...]
    marginal_gain: Mapping[str, float]


def size_disaggregated(
    space: Space, score: DisaggregatedScore | Infeasible | None, load: Load, basis: Basis
) -> SizedDisaggregated:
    """Cheapest whole P:D for the demand, or the one that carries most for the budget."""
    refused = [
        Candidate(
            "disaggregated",
            {r.fleet: r.accelerator, f"{r.fleet}_tp": r.tp, f"{r.fleet}_pp": r.pp},
            limit=r.limit,
        )
        for r in space.refused
        if r.fleet != "colocated"
    ]
    if score is None or isinstance(score, Infeasible):
        if score is None:
            empty = "prefill" if not space.prefill else "decode"
            score = to_act_on(r.limit for r in space.refused if r.fleet == empty) or words.nothing_fits()
        return SizedDisaggregated(None, infeasible_outcome(score), tuple(refused), {})
    alone = disaggregated_limits(score)
    choices = pool_choices(space, score, basis)
    best = best_pools(space, score, load, basis, choices)
    costs = disaggregated_costs(space, score, basis.per_dollar)[:, :, 0, 0]
    rows, spare = [], spares(space, basis)
    for p, prefill in enumerate(space.prefill):
        for d, decode in enumerate(space.decode):
            design = {
                "prefill": prefill.accelerator.id,
                "prefill_tp": prefill.parallelism.tp,
                "prefill_pp": prefill.parallelism.pp,
                "decode": decode.accelerator.id,
                "decode_tp": decode.parallelism.tp,
                "decode_pp": decode.parallelism.pp,
            }
            choice = choices.get((p, d))
            chosen = best is not None and (best.p, best.d) == (p, d)
            if chosen:
                choice = best
            if choice is None or not choice.able:
                limit = alone[p, d].limit if (p, d) in alone else _short(score, basis, p, d, space)
                rows.append(Candidate("disaggregated", design, limit=limit))
                continue
            instances = {"prefill": choice.prefill + spare[0], "decode": choice.decode + spare[1]}
            gpus = instances["prefill"] * prefill.gpus + instances["decode"] * decode.gpus
            rows.append(
                Candidate(
                    "disaggregated",
                    design,
                    1.0 / float(costs[p, d]),
                    basis.score_unit,
                    instances,
                    gpus,
                    choice.spent if basis.per_dollar else None,
                    chosen=chosen,
                )
            )
    if best is None:
        limits = [row.limit for row in rows if row.limit is not None]
        blocked = (row.limit for row in refused if row.limit is not None)
        limit = next((x for x in limits if x.limit in ("capacity", "budget")), None) or (
            missing_figure(blocked) or closest(alone) or words.nothing_fits()
        )
        able = [choice for choice in choices.values() if choice.able]
        if able:
            # By what one instance carries they would do; together they do not.
            limit = short_of(score, basis, max(able, key=lambda c: c.carried))
            short = {(c.p, c.d): short_of(score, basis, c) for c in able}
            pairs = [(p, d) for p in range(len(space.prefill)) for d in range(len(space.decode))]
            rows = [
                Candidate("disaggregated", row.design, limit=short.get(pair, row.limit))
                for pair, row in zip(pairs, rows, strict=True)
            ]
        return SizedDisaggregated(None, infeasible_outcome(limit), (*rows, *refused), {})
    fleet = _fleet(space, best, spare)
    outcome = _outcome_at(space, score, load, fleet, best, basis.demand(best.carried))
    return SizedDisaggregated(fleet, outcome, (*rows, *refused), _marginal(score, best))


def _short(score: DisaggregatedScore, basis: Basis, p: int, d: int, space: Space) -> Infeasible:
    n_p, n_d = space.scenario.prefill.instances, space.scenario.decode.instances
    if n_p is None and n_d is None:
        return words.budget_too_small(basis.budget, basis.per_dollar)
    one_p = float(score.prefill_rate_per_s[p, d, 0, 0])
    one_d = float(np.broadcast_to(score.decode.rate_per_s, score.fits.shape)[p, d, 0, 0])
    by_p = np.inf if n_p is None else n_p * one_p
    by_d = np.inf if n_d is None else n_d * one_d
    count = n_p if by_p <= by_d else n_d
    return words.pool_too_few(
        "prefill" if by_p <= by_d else "decode",
        min(by_p, by_d),
        demand_rate(score, basis, p, d),
        float(count or 0),
    )


def _marginal(score: DisaggregatedScore, best: PoolChoice) -> dict[str, float]:
    """Relative gain in what the fleet carries from one more instance of each pool."""
    one_p = float(score.prefill_rate_per_s[best.p, best.d, 0, 0])
    one_d = float(np.broadcast_to(score.decode.rate_per_s, score.fits.shape)[best.p, best.d, 0, 0])
    now = min(best.prefill * one_p, best.decode * one_d)
    return {
        "prefill": min((best.prefill + 1) * one_p, best.decode * one_d) / now - 1.0,
        "decode": min(best.prefill * one_p, (best.decode + 1) * one_d) / now - 1.0,
    }


def _fleet(space: Space, best: PoolChoice, spare: tuple[int, int]) -> DisaggregatedFleet:
    scenario = space.scenario
    prefill, decode = space.prefill[best.p], space.decode[best.d]
    path = resolve_path(space.catalog, scenario, prefill, decode)
    assert not isinstance(path, Infeasible)  # scores came from the same path
    return DisaggregatedFleet(
        prefill, best.prefill + spare[0], decode, best.decode + spare[1], path,
        scenario.engine.prefill_batch_tokens, scenario.decode.max_batch, scenario.network.first_token_from,
    )  # fmt: skip


def _outcome_at(
    space: Space,
    score: DisaggregatedScore,
    load: Load,
    fleet: DisaggregatedFleet,
    best: PoolChoice,
    demand: float,
) -> Outcome:
    designs = one_pair(score.designs, best.p, best.d)
    price = fleet_price(fleet, space.scenario.money)

    def at(part: float) -> Outcome:
        flow = fleet_flow(designs, fleet.prefill_instances, fleet.decode_instances, demand * part)
        return disaggregated_outcome(designs, flow, fleet, price)

    if load.offline:
        demand = best.carried
    outcome = at(1.0)
    peak = space.scenario.workload.peak_to_mean_ratio
    if peak > 1.0 and load.concurrency is None and not load.offline:
        outcome = with_money_of(outcome, at(1.0 / peak))
    design = {
        "prefill": fleet.prefill.accelerator.id,
        "prefill_tp": fleet.prefill.parallelism.tp,
        "prefill_pp": fleet.prefill.parallelism.pp,
        "prefill_gpus_per_instance": fleet.prefill.gpus,
        "prefill_weight_format": fleet.prefill.weight_format,
        "decode": fleet.decode.accelerator.id,
        "decode_tp": fleet.decode.parallelism.tp,
        "decode_pp": fleet.decode.parallelism.pp,
        "decode_gpus_per_instance": fleet.decode.gpus,
        "decode_weight_format": fleet.decode.weight_format,
        "link": fleet.path.link.id,
    }
    return replace(outcome, design=design, bottleneck=_binding(score, best))


def _binding(score: DisaggregatedScore, best: PoolChoice) -> str:
    """The pool that would need the next instance first, or the link where it is the busier."""
    gains = _marginal(score, best)
    return "prefill" if gains["prefill"] >= gains["decode"] else "decode"
