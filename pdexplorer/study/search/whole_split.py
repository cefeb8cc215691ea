"""How many whole instances of either pool: counts from what one instance carries, then checked together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.steady.disaggregated import demand_per_s, disaggregated_flow, residence_s
from pdexplorer.steady.load import Load
from pdexplorer.steady.split_designs import chosen_pairs, one_pair
from pdexplorer.steady.split_parts import decode_flow
from pdexplorer.study import words
from pdexplorer.study.search.basis import Basis
from pdexplorer.study.search.fill_budget import fill_budget
from pdexplorer.study.search.score import DisaggregatedScore, instance_weights, network_weights
from pdexplorer.study.search.space import Space
from pdexplorer.study.search.split_outcome import fleet_capacities, fleet_holds

Array = NDArray[np.float64]

_PAIRS = 3
"""Best pairs by their unrounded capacity whose whole numbers are looked at; more only where none holds."""
_NEAR = (-2, -1, 0, 1, 2, 3)
_FURTHER = (1.25, 1.5, 2.0, 3.0, 4.0, 8.0)
_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class PoolChoice:
    """Instances that either pool of the pair (p, d) needs. able: by what one instance of each carries.

    spent: USD per hour, or GPUs where the basis counts those, spares included.
    """

    p: int
    d: int
    prefill: int
    decode: int
    carried: float
    spent: float
    able: bool = True


def pool_costs(space: Space, basis: Basis) -> tuple[Array, Array]:
    """What one instance of either pool costs with its network."""
    per = basis.per_dollar
    return (
        instance_weights(space, space.prefill, per) + network_weights(space, space.prefill, per),
        instance_weights(space, space.decode, per) + network_weights(space, space.decode, per),
    )


def spares(space: Space, basis: Basis) -> tuple[int, int]:
    """Instances of either pool beyond its need."""
    scenario = space.scenario
    return basis.spare(scenario.prefill.instances), basis.spare(scenario.decode.instances)


def pool_choices(space: Space, score: DisaggregatedScore, basis: Basis) -> dict[tuple[int, int], PoolChoice]:
    """The counts that each pair's capacities ask for; no entry where a pair or the budget cannot."""
    scenario = space.scenario
    n_p, n_d = scenario.prefill.instances, scenario.decode.instances
    cost_p, cost_d = pool_costs(space, basis)
    found = {}
    for p, d in zip(*np.nonzero(score.fits[:, :, 0, 0]), strict=True):
        p, d = int(p), int(d)
        one_p = float(score.prefill_rate_per_s[p, d, 0, 0])
        one_d = float(np.broadcast_to(score.decode.rate_per_s, score.fits.shape)[p, d, 0, 0])
        if basis.kind in ("most_goodput", "equal_gpus") and n_p is None and n_d is None:
            choice = _most(p, d, one_p, one_d, float(cost_p[p]), float(cost_d[d]), basis)
            if choice is not None:
                found[p, d] = choice
            continue
        rate = demand_rate(score, basis, p, d)
        prefill = n_p or max(1, int(np.ceil(rate / one_p * (1.0 - 1e-9))))
        decode = n_d or max(1, int(np.ceil(rate / one_d * (1.0 - 1e-9))))
        if basis.grows and n_p is not None and n_d is None:
            decode = max(1, int((basis.budget - n_p * cost_p[p]) / cost_d[d] + 1e-9))
        elif basis.grows and n_d is not None and n_p is None:
            prefill = max(1, int((basis.budget - n_d * cost_d[d]) / cost_p[p] + 1e-9))
        carried = min(prefill * one_p, decode * one_d)
        able = basis.grows or basis.offline or carried >= rate * (1.0 - 1e-9)
        spare_p, spare_d = spares(space, basis)
        cost = float((prefill + spare_p) * cost_p[p] + (decode + spare_d) * cost_d[d])
        found[p, d] = PoolChoice(p, d, prefill, decode, carried, cost, able)
    return found


def best_pools(
    space: Space,
    score: DisaggregatedScore,
    load: Load,
    basis: Basis,
    choices: Mapping[tuple[int, int], PoolChoice],
) -> PoolChoice | None:
    """The best whole fleet that holds every limit at the load it is shown at; None where none does.

    Capacities split the SLO's misses evenly between the pools and pool as many instances as the demand
    needs unrounded; whole pools are checked together, so one with room to spare lets the other have more.
    """
    if not choices:
        return None
    if basis.offline:
        able = [choice for choice in choices.values() if choice.able]
        if basis.kind in ("most_goodput", "equal_gpus"):
            return max(able, key=lambda c: (c.carried, -c.spent), default=None)
        return max(able, key=lambda c: c.carried / c.spent, default=None)
    if basis.grows:
        return _filled(space, score, basis, choices)
    given = basis.kind in ("most_goodput", "equal_gpus")
    ranked = sorted(
        choices.values(),
        key=lambda c: (not c.able, -c.carried, c.spent) if given else (not c.able, c.spent, -c.carried),
    )
    for start in range(0, len(ranked), _PAIRS):
        found = _cheapest(space, score, basis, ranked[start : start + _PAIRS])
        if found:
            return found[0] if given else min(found, key=lambda choice: choice.spent)
    return None


def _cheapest(
    space: Space, score: DisaggregatedScore, basis: Basis, starts: Sequence[PoolChoice]
) -> list[PoolChoice]:
    """The cheapest whole numbers of each pair, near those of start, that hold every limit at the demand; in
    the order given, without those that never do.
    """
    scenario = space.scenario
    given = basis.kind in ("most_goodput", "equal_gpus")
    free = scenario.prefill.instances is None and not given, scenario.decode.instances is None and not given
    costs, extra = pool_costs(space, basis), spares(space, basis)
    best: dict[int, PoolChoice] = {}
    at = dict(enumerate(starts))
    for _ in range(_ROUNDS):
        tries = [
            (k, now.p, now.d, p, d, (p + extra[0]) * costs[0][now.p] + (d + extra[1]) * costs[1][now.d])
            for k, now in at.items()
            for p in _around(now.prefill, free[0], k in best)
            for d in _around(now.decode, free[1], k in best)
        ]
        which, first, second, p, d, spent = (np.array(column) for column in zip(*tries, strict=True))
        designs = chosen_pairs(score.designs, first, second)
        fine = fleet_holds(designs, p.astype(float), d.astype(float), basis.demand_value)
        moved: dict[int, PoolChoice] = {}
        for k, now in at.items():
            # Of equal costs, what is there already.
            cost = np.where(fine & (which == k), spent, np.inf)
            cost = np.where((p == now.prefill) & (d == now.decode), cost * (1.0 - 1e-12), cost)
            i = int(np.argmin(cost))
            if np.isfinite(cost[i]) and (k not in best or cost[i] < best[k].spent * (1.0 - 1e-9)):
                moved[k] = replace(
                    now, prefill=int(p[i]), decode=int(d[i]), carried=basis.demand_value,
                    spent=float(spent[i]), able=True,
                )  # fmt: skip
        best |= moved
        at = moved
        if not at:
            break
    return [best[k] for k in sorted(best)]


def _around(count: int, free: bool, held: bool) -> list[int]:
    if not free:
        return [count]
    further: Iterable[int] = () if held else (int(np.ceil(count * part)) for part in _FURTHER)
    return sorted({max(1, count + step) for step in _NEAR} | set(further))


def _filled(
    space: Space, score: DisaggregatedScore, basis: Basis, choices: Mapping[tuple[int, int], PoolChoice]
) -> PoolChoice | None:
    """What carries most within the budget, by the capacity of the pools together."""
    scenario = space.scenario
    free = scenario.prefill.instances is None and scenario.decode.instances is None
    best: PoolChoice | None = None
    for tried, choice in enumerate(sorted(choices.values(), key=lambda c: (-c.carried, c.spent))):
        if best is not None and tried >= _PAIRS:
            break
        cost_p, cost_d = (
            float(c[i]) for c, i in zip(pool_costs(space, basis), (choice.p, choice.d), strict=True)
        )
        pairs = [(choice.prefill, choice.decode)]
        for prefill in (choice.prefill - 1, choice.prefill + 1) if free else ():
            decode = int((basis.budget - prefill * cost_p) / cost_d + 1e-9)
            if prefill >= 1 and decode >= 1:
                pairs.append((prefill, decode))
        counts = np.array(pairs, dtype=float)
        carried = fleet_capacities(one_pair(score.designs, choice.p, choice.d), counts[:, 0], counts[:, 1])
        index = int(np.argmax(carried))
        if carried[index] > (0.0 if best is None else best.carried * (1.0 + 1e-9)):
            p, d = pairs[index]
            cost = p * cost_p + d * cost_d
            best = replace(choice, prefill=p, decode=d, carried=float(carried[index]), spent=cost)
    return best


def short_of(score: DisaggregatedScore, basis: Basis, choice: PoolChoice) -> Infeasible:
    """Why pools that fit one request do not serve: what they carry together."""
    designs = one_pair(score.designs, choice.p, choice.d)
    counts = np.array([choice.prefill]), np.array([choice.decode])
    if basis.closed:
        return words.pools_in_flight(choice.prefill, choice.decode, basis.demand_value)
    carried = float(fleet_capacities(designs, *counts)[0])
    return words.pools_too_few(choice.prefill, choice.decode, carried, basis.demand_value)


def demand_rate(score: DisaggregatedScore, basis: Basis, p: int, d: int) -> float:
    """Requests per second to size for; a closed loop's follows from how long a request takes at the
    limits.
    """
    if not basis.closed:
        return basis.demand_value
    designs = one_pair(score.designs, p, d)
    in_flight = score.decode.in_flight[p : p + 1, d : d + 1]
    decode = decode_flow(designs, in_flight, np.ones((1, 1, 1, 1)))
    rate = score.prefill_rate_per_s[p : p + 1, d : d + 1]
    # Several senders wait less than one as busy.
    senders = np.maximum(demand_per_s(designs, decode) / rate, 1.0)
    flow = disaggregated_flow(designs, rate, senders, decode)
    return basis.demand_value / float(residence_s(designs, flow).item())


def _most(
    p: int, d: int, one_p: float, one_d: float, cost_p: float, cost_d: float, basis: Basis
) -> PoolChoice | None:
    prefill, decode = map(int, fill_budget(one_p, one_d, cost_p, cost_d, basis.budget))
    if prefill < 1:
        return None
    carried = min(prefill * one_p, decode * one_d)
    return PoolChoice(p, d, prefill, decode, carried, prefill * cost_p + decode * cost_d)
