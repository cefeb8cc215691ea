"""Costs of both fleets over draws of the efficiencies at once: draws are further designs of one search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.instance import Instance
from pdexplorer.steady.load import Load, load_of
from pdexplorer.steady.solve import ROUGH
from pdexplorer.study.progress import Report, counted, unheard
from pdexplorer.study.search.basis import Basis
from pdexplorer.study.search.fill_budget import fill_budget, left
from pdexplorer.study.search.score import (
    ColocatedScore,
    DisaggregatedScore,
    disaggregated_costs,
    instance_weights,
    network_weights,
    score_colocated,
    score_disaggregated,
)
from pdexplorer.study.search.space import Space
from pdexplorer.study.search.space_of import space_of
from pdexplorer.study.search.spread import Key, with_factors
from pdexplorer.study.search.whole_colocated import one_instance_carries

Array = NDArray[np.float64]

_TOGETHER = 8
"""Draws of one search: pairs of pools grow with the square of their number."""
_CLASSES = 8


@dataclass(frozen=True, eq=False)
class Costs:
    """What the demand costs each fleet in each draw, (draws,); infinite where a fleet cannot."""

    colocated: Array
    disaggregated: Array


def drawn_costs(
    space: Space,
    basis: Basis,
    draws: Sequence[Mapping[Key, float]],
    whole: bool,
    report: Report = unheard,
) -> Costs:
    """whole: in whole instances, for the demand or, per unit of rate, for the budget; else per unit of rate,
    at unrounded scale. report: told the share done.
    """
    starts = range(0, len(draws), _TOGETHER)
    parts = [_together(space, basis, draws[at : at + _TOGETHER], whole) for at in counted(starts, report)]
    return Costs(
        np.concatenate([part.colocated for part in parts]),
        np.concatenate([part.disaggregated for part in parts]),
    )


def _together(space: Space, basis: Basis, draws: Sequence[Mapping[Key, float]], whole: bool) -> Costs:
    many = _many(space, draws)
    load = load_of(space.scenario, None, _CLASSES)
    colocated = score_colocated(many, load, ROUGH)
    split = score_disaggregated(many, load, None, ROUGH)
    none = np.full(len(draws), np.inf)
    return Costs(
        none if colocated is None else _colocated(many, colocated, basis, len(draws), whole),
        none
        if split is None or isinstance(split, Infeasible)
        else _split(many, split, load, basis, len(draws), whole),
    )


def _many(space: Space, draws: Sequence[Mapping[Key, float]]) -> Space:
    """Every instance once for each draw, draws in front."""
    roles: list[list[Instance]] = [[], [], []]
    for factors in draws:
        changed: dict[int, Instance] = {}
        for role, instances in zip(roles, (space.colocated, space.prefill, space.decode), strict=True):
            for instance in instances:
                if id(instance) not in changed:
                    changed[id(instance)] = with_factors(instance, factors)
                role.append(changed[id(instance)])
    return space_of(space, *roles)


def _colocated(space: Space, score: ColocatedScore, basis: Basis, draws: int, whole: bool) -> Array:
    weight = instance_weights(space, space.colocated, basis.per_dollar)[:, None]
    if whole:
        count, carried = basis.instances(
            one_instance_carries(score), weight, space.scenario.colocated.instances
        )
        cost = _per_rate(carried) if basis.grows else count * weight
    else:
        cost = weight / score.rate_per_s[:, :, 0, 0]
    cost = np.where(score.fits[:, :, 0, 0], cost, np.inf)
    return np.asarray(cost.reshape(draws, -1).min(axis=1))


def _split(
    space: Space, score: DisaggregatedScore, load: Load, basis: Basis, draws: int, whole: bool
) -> Array:
    per = basis.per_dollar
    if whole:
        scenario = space.scenario
        p = instance_weights(space, space.prefill, per) + network_weights(space, space.prefill, per)
        d = instance_weights(space, space.decode, per) + network_weights(space, space.decode, per)
        one_p = score.prefill_rate_per_s[:, :, 0, 0]
        one_d = np.broadcast_to(score.decode.rate_per_s, score.fits.shape)[:, :, 0, 0]
        if basis.grows:
            fits = score.fits[:, :, 0, 0]
            carried = _most_carried(
                one_p,
                one_d,
                p[:, None],
                d[None, :],
                scenario.prefill.instances,
                scenario.decode.instances,
                basis.budget,
            )
            return _own_draws(space, np.where(fits, _per_rate(carried), np.inf), draws)
        demand = float(load.rate_per_s.item()) * (1.0 - 1e-9)
        n_p = np.maximum(np.ceil(demand / one_p), 1.0) if (n := scenario.prefill.instances) is None else n
        n_d = np.maximum(np.ceil(demand / one_d), 1.0) if (m := scenario.decode.instances) is None else m
        able = score.fits[:, :, 0, 0] & (n_p * one_p >= demand) & (n_d * one_d >= demand)
        cost = np.where(able, n_p * p[:, None] + n_d * d[None, :], np.inf)
    else:
        cost = disaggregated_costs(space, score, per)[:, :, 0, 0]
    return _own_draws(space, cost, draws)


def _own_draws(space: Space, cost: Array, draws: int) -> Array:
    """The best pair of each draw: both pools of the same one."""
    blocks = cost.reshape(draws, len(space.prefill) // draws, draws, len(space.decode) // draws)
    return np.array([blocks[k, :, k].min() for k in range(draws)])


def _per_rate(carried: Array) -> Array:
    """Of a budget that is spent either way: less is better."""
    return np.where(carried > 0.0, 1.0 / np.maximum(carried, 1e-12), np.inf)


def _most_carried(
    one_p: Array, one_d: Array, p: Array, d: Array, n_p: int | None, n_d: int | None, budget: float
) -> Array:
    """What the whole pools carry that a budget holds at most, (prefill, decode); 0 where it holds none.
    one_p, one_d: what one instance carries; p, d: what it costs; n_p, n_d: numbers that are given.
    """
    if n_p is not None or n_d is not None:
        prefill = left(budget, float(n_d or 0), d, p) if n_p is None else np.full(one_p.shape, float(n_p))
        decode = left(budget, float(n_p or 0), p, d) if n_d is None else np.full(one_p.shape, float(n_d))
    else:
        prefill, decode = fill_budget(one_p, one_d, p, d, budget)
    return np.asarray(np.minimum(prefill * one_p, decode * one_d))
