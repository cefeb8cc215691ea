"""Whole instances of the best pair of pools, for the comparison's basis, and what one more would bring."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.metrics.estimate import disaggregated_outcome
from pdexplorer.metrics.money import fleet_price
from pdexplorer.metrics.outcome import Outcome, infeasible_outcome
from pdexplorer.physics.fleet import DisaggregatedFleet
from pdexplorer.physics.transfer import resolve_path
from pdexplorer.steady.disaggregated import DisaggregatedFlow, decode_at, disaggregated_flow
from pdexplorer.steady.load import Load
from pdexplorer.steady.split_designs import DisaggregatedDesigns, one_pair
from pdexplorer.steady.split_parts import decode_flow
from pdexplorer.study import words
from pdexplorer.study.basis import Basis
from pdexplorer.study.candidates import Candidate
from pdexplorer.study.limits import disaggregated_limits
from pdexplorer.study.score import DisaggregatedScore, disaggregated_costs, instance_weights, network_weights
from pdexplorer.study.size_colocated import with_money_of
from pdexplorer.study.space import Space
from pdexplorer.study.split_outcome import fleet_flow, residence_s

Array = NDArray[np.float64]

_PAIRS_REFINED = 3


@dataclass(frozen=True, eq=False)
class SizedDisaggregated:
    """The chosen pools, what they do, every candidate, and the gain in capacity of one more instance of
    each.
    """

    fleet: DisaggregatedFleet | None
    outcome: Outcome
    candidates: tuple[Candidate, ...]
    marginal_gain: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Choice:
    p: int
    d: int
    prefill: int
    decode: int
    carried: float
    cost: float


def size_disaggregated(
    space: Space, score: DisaggregatedScore | Infeasible | None, load: Load, basis: Basis
) -> SizedDisaggregated:
    """Cheapest whole P:D for the demand, or the one that carries most for the budget."""
    refused = [
        Candidate("disaggregated", {r.fleet: r.accelerator, f"{r.fleet}_tp": r.tp}, limit=r.limit)
        for r in space.refused
        if r.fleet != "colocated"
    ]
    if score is None or isinstance(score, Infeasible):
        if score is None:
            empty = "prefill" if not space.prefill else "decode"
            limits = [r.limit for r in space.refused if r.fleet == empty]
            score = limits[0] if limits else words.nothing_fits()
        return SizedDisaggregated(None, infeasible_outcome(score), tuple(refused), {})
    limits_of = disaggregated_limits(score)
    choices = _choices(space, score, basis)
    best = _refined(space, score, load, basis, choices)
    costs = disaggregated_costs(space, score, basis.per_dollar)[:, :, 0, 0]
    rows = []
    for p, prefill in enumerate(space.prefill):
        for d, decode in enumerate(space.decode):
            design = {
                "prefill": prefill.accelerator.id,
                "prefill_tp": prefill.parallelism.tp,
                "decode": decode.accelerator.id,
                "decode_tp": decode.parallelism.tp,
            }
            choice = choices.get((p, d))
            chosen = best is not None and (best.p, best.d) == (p, d)
            if chosen:
                choice = best
            if choice is None:
                limit = limits_of.get((p, d)) or _short(score, basis, p, d, space)
                rows.append(Candidate("disaggregated", design, limit=limit))
                continue
            gpus = choice.prefill * prefill.gpus + choice.decode * decode.gpus
            rows.append(
                Candidate(
                    "disaggregated",
                    design,
                    1.0 / float(costs[p, d]),
                    basis.score_unit,
                    {"prefill": choice.prefill, "decode": choice.decode},
                    gpus,
                    choice.cost if basis.per_dollar else None,
                    chosen=chosen,
                )
            )
    if best is None:
        firsts = [row.limit for row in rows if row.limit is not None]
        limit = next(
            (x for x in firsts if x.limit in ("capacity", "budget")),
            firsts[0] if firsts else words.nothing_fits(),
        )
        return SizedDisaggregated(None, infeasible_outcome(limit), (*rows, *refused), {})
    fleet = _fleet(space, best)
    outcome = _outcome_at(space, score, load, fleet, best, basis.demand(best.carried))
    return SizedDisaggregated(fleet, outcome, (*rows, *refused), _marginal(score, best))


def _choices(space: Space, score: DisaggregatedScore, basis: Basis) -> dict[tuple[int, int], _Choice]:
    scenario = space.scenario
    n_p, n_d = scenario.prefill.instances, scenario.decode.instances
    per = basis.per_dollar
    cost_p = instance_weights(space, space.prefill, per) + network_weights(space, space.prefill, per)
    cost_d = instance_weights(space, space.decode, per) + network_weights(space, space.decode, per)
    found = {}
    for p, d in zip(*np.nonzero(score.fits[:, :, 0, 0]), strict=True):
        p, d = int(p), int(d)
        one_p = float(score.prefill_rate_per_s[p, d, 0, 0])
        one_d = float(np.broadcast_to(score.decode.rate_per_s, score.fits.shape)[p, d, 0, 0])
        choice = None
        if basis.kind in ("most_goodput", "equal_gpus") and n_p is None and n_d is None:
            choice = _most(p, d, one_p, one_d, float(cost_p[p]), float(cost_d[d]), basis)
        else:
            rate = _demand_rate(score, basis, p, d)
            prefill = n_p or max(1, int(np.ceil(rate / one_p * (1.0 - 1e-9))))
            decode = n_d or max(1, int(np.ceil(rate / one_d * (1.0 - 1e-9))))
            if basis.grows and n_p is not None and n_d is None:
                decode = max(1, int((basis.budget - n_p * cost_p[p]) / cost_d[d] + 1e-9))
            elif basis.grows and n_d is not None and n_p is None:
                prefill = max(1, int((basis.budget - n_d * cost_d[d]) / cost_p[p] + 1e-9))
            carried = min(prefill * one_p, decode * one_d)
            if basis.grows or basis.offline or carried >= rate * (1.0 - 1e-9):
                choice = _Choice(
                    p, d, prefill, decode, carried, float(prefill * cost_p[p] + decode * cost_d[d])
                )
        if choice is not None:
            found[p, d] = choice
    return found


def _demand_rate(score: DisaggregatedScore, basis: Basis, p: int, d: int) -> float:
    """Requests per second to size for; a closed loop's follows from how long a request takes at the
    limits.
    """
    if not basis.closed:
        return basis.demand_value
    designs = score.designs
    one = one_pair(designs, p, d)
    decode = decode_flow(one, score.decode.in_flight[:, d : d + 1], np.ones((1, 1, 1, 1)))
    rate = score.prefill_rate_per_s[p : p + 1, d : d + 1]
    flow = disaggregated_flow(one, rate, np.ones((1, 1, 1, 1)), decode)
    return basis.demand_value / _residence_s(one, flow)


def _residence_s(designs: DisaggregatedDesigns, flow: DisaggregatedFlow) -> float:
    return float(residence_s(designs, flow).item())


def _most(
    p: int, d: int, one_p: float, one_d: float, cost_p: float, cost_d: float, basis: Basis
) -> _Choice | None:
    most = int((basis.budget - cost_d) / cost_p + 1e-9)
    best = None
    for prefill in range(1, min(most, 4096) + 1):
        decode = int((basis.budget - prefill * cost_p) / cost_d + 1e-9)
        carried = min(prefill * one_p, decode * one_d)
        if decode >= 1 and (best is None or carried > best.carried):
            best = _Choice(p, d, prefill, decode, carried, prefill * cost_p + decode * cost_d)
    return best


def _refined(
    space: Space,
    score: DisaggregatedScore,
    load: Load,
    basis: Basis,
    choices: Mapping[tuple[int, int], _Choice],
) -> _Choice | None:
    """The best choice, after trying one instance fewer of either pool where the exact joint attainment
    allows it.

    Capacities split the SLO's misses evenly between the pools; a pool with room to spare lets the other
    have more.
    """
    if not choices:
        return None
    if basis.kind in ("most_goodput", "equal_gpus"):
        return max(choices.values(), key=lambda c: (c.carried, -c.cost))
    if basis.offline:
        return max(choices.values(), key=lambda c: c.carried / c.cost)
    ranked = sorted(choices.values(), key=lambda c: (c.cost, -c.carried))
    best = ranked[0]
    scenario = space.scenario
    if basis.closed:
        return best
    for choice in ranked[:_PAIRS_REFINED]:
        options = _smaller(choice, scenario.prefill.instances is None, scenario.decode.instances is None)
        if not options:
            continue
        per = basis.per_dollar
        cost_p = instance_weights(space, space.prefill, per) + network_weights(space, space.prefill, per)
        cost_d = instance_weights(space, space.decode, per) + network_weights(space, space.decode, per)
        designs = one_pair(score.designs, choice.p, choice.d)
        n_p = np.array([[[[float(o[0]) for o in options]]]])
        n_d = np.array([[[[float(o[1]) for o in options]]]])
        decode = decode_at(designs, basis.demand_value / n_d, n_d)
        flow = disaggregated_flow(designs, basis.demand_value / n_p, n_p, decode)
        held = decode.rate_per_s * n_d >= basis.demand_value * (1.0 - 1e-6)
        fine = held & (flow.attained >= load.percentile_fraction) & (flow.link.busy < 0.999)
        memory = decode.in_flight * load.context_tokens <= designs.decode.kv_tokens[0]
        for index in np.nonzero((fine & memory)[0, 0, 0])[0]:
            prefill, count = options[int(index)]
            cost = float(prefill * cost_p[choice.p] + count * cost_d[choice.d])
            if cost < best.cost * (1.0 - 1e-9):
                best = _Choice(choice.p, choice.d, prefill, count, basis.demand_value, cost)
    return best


def _smaller(choice: _Choice, prefill_free: bool, decode_free: bool) -> list[tuple[int, int]]:
    found = []
    for dp, dd in ((-1, 0), (0, -1), (-1, -1), (-1, 1), (1, -1), (-2, 0), (2, -1)):
        p, d = choice.prefill + dp, choice.decode + dd
        if p >= 1 and d >= 1 and (dp == 0 or prefill_free) and (dd == 0 or decode_free):
            found.append((p, d))
    return found


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
        _demand_rate(score, basis, p, d),
        float(count or 0),
    )


def _marginal(score: DisaggregatedScore, best: _Choice) -> dict[str, float]:
    """Relative gain in what the fleet carries from one more instance of each pool."""
    one_p = float(score.prefill_rate_per_s[best.p, best.d, 0, 0])
    one_d = float(np.broadcast_to(score.decode.rate_per_s, score.fits.shape)[best.p, best.d, 0, 0])
    now = min(best.prefill * one_p, best.decode * one_d)
    return {
        "prefill": min((best.prefill + 1) * one_p, best.decode * one_d) / now - 1.0,
        "decode": min(best.prefill * one_p, (best.decode + 1) * one_d) / now - 1.0,
    }


def _fleet(space: Space, best: _Choice) -> DisaggregatedFleet:
    scenario = space.scenario
    prefill, decode = space.prefill[best.p], space.decode[best.d]
    path = resolve_path(space.catalog, scenario, prefill, decode)
    assert not isinstance(path, Infeasible)  # scores came from the same path
    return DisaggregatedFleet(
        prefill, best.prefill, decode, best.decode, path, scenario.engine.prefill_batch_tokens,
        scenario.decode.max_batch, scenario.network.first_token_from,
    )  # fmt: skip


def _outcome_at(
    space: Space,
    score: DisaggregatedScore,
    load: Load,
    fleet: DisaggregatedFleet,
    best: _Choice,
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
        "prefill_gpus_per_instance": fleet.prefill.gpus,
        "prefill_weight_format": fleet.prefill.weight_format,
        "decode": fleet.decode.accelerator.id,
        "decode_tp": fleet.decode.parallelism.tp,
        "decode_gpus_per_instance": fleet.decode.gpus,
        "decode_weight_format": fleet.decode.weight_format,
        "link": fleet.path.link.id,
    }
    return replace(outcome, design=design, bottleneck=_binding(score, best))


def _binding(score: DisaggregatedScore, best: _Choice) -> str:
    """The pool that would need the next instance first, or the link where it is the busier."""
    gains = _marginal(score, best)
    return "prefill" if gains["prefill"] >= gains["decode"] else "decode"
