"""How much each design carries within every limit, over one cell or a whole map."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.metrics.money import price_of
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.transfer import nics_of
from pdexplorer.steady.colocated import ColocatedDesigns, colocated_designs, colocated_flow, one_design
from pdexplorer.steady.colocated_capacity import colocated_capacity
from pdexplorer.steady.disaggregated import decode_capacity, prefill_capacity
from pdexplorer.steady.load import Load, single_precision
from pdexplorer.steady.split_designs import (
    DisaggregatedDesigns,
    Wire,
    disaggregated_designs,
    one_pair,
)
from pdexplorer.steady.split_parts import DecodeFlow, decode_flow
from pdexplorer.steady.wire import wire_of
from pdexplorer.study.space import Space

Array = NDArray[np.float64]

MANY_CELLS = 400
"""Maps beyond this size go design by design."""


@dataclass(frozen=True, eq=False)
class ColocatedScore:
    """Designs (instances, budgets, y, x): in flight and requests per second of one instance at its limit."""

    designs: ColocatedDesigns
    in_flight: Array
    fits: NDArray[np.bool_]
    rate_per_s: Array


@dataclass(frozen=True, eq=False)
class DisaggregatedScore:
    """Designs (prefill, decode, y, x): what one instance of each pool carries at its limit."""

    designs: DisaggregatedDesigns
    decode: DecodeFlow
    decode_fits: NDArray[np.bool_]
    prefill_rate_per_s: Array
    fits: NDArray[np.bool_]


def score_colocated(space: Space, load: Load, iterations: int = 12) -> ColocatedScore | None:
    """None where no instance fits."""
    if not space.colocated:
        return None
    pool, engine = space.scenario.colocated, space.scenario.engine
    table = space.colocated_table
    budgets = space.budgets.astype(load.weight.dtype)
    designs = colocated_designs(load, table, budgets, engine.chunking, float(pool.max_batch))
    pinned = _pinned(pool.instances, load)
    if _cells(designs.shape) <= MANY_CELLS:
        in_flight, fits = colocated_capacity(designs, pinned, iterations)
        return ColocatedScore(designs, in_flight, fits, colocated_flow(designs, in_flight).rate_per_s)
    in_flight = np.ones(designs.shape, dtype=budgets.dtype)
    rate, fits = np.ones_like(in_flight), np.zeros(designs.shape, dtype=bool)
    for i, c in np.ndindex(*designs.shape[:2]):
        # One design at a time keeps its arrays in the processor's cache.
        one, at = one_design(designs, i, c), (slice(i, i + 1), slice(c, c + 1))
        in_flight[at], fits[at] = colocated_capacity(one, pinned, iterations)
        rate[at] = colocated_flow(one, in_flight[at]).rate_per_s
    return ColocatedScore(designs, in_flight, fits, rate)


def score_disaggregated(
    space: Space,
    load: Load,
    axes: Mapping[str, Array] | None = None,
    iterations: int = 12,
    wire: Wire | None = None,
) -> DisaggregatedScore | Infeasible | None:
    """None where a pool has no instance that fits. wire: where the caller knows it."""
    if not space.prefill or not space.decode:
        return None
    scenario = space.scenario
    found = wire_for(space, load, axes) if wire is None else wire
    if not isinstance(found, Wire):
        return found
    wire = found
    designs = disaggregated_designs(
        load, space.prefill_table, space.decode_table, wire, float(scenario.engine.prefill_batch_tokens),
        float(scenario.decode.max_batch), scenario.network.first_token_from == "decode",
    )  # fmt: skip
    many, few = _pinned(scenario.decode.instances, load), _pinned(scenario.prefill.instances, load)
    in_flight, decode_fits = decode_capacity(designs, many, iterations)
    decode = decode_flow(designs, in_flight, many)
    if _cells(designs.shape) <= MANY_CELLS:
        rate, fits = prefill_capacity(designs, decode, few, iterations)
        return DisaggregatedScore(designs, decode, decode_fits, rate, fits & decode_fits)
    rate, fits = np.ones(designs.shape, dtype=in_flight.dtype), np.zeros(designs.shape, dtype=bool)
    for p, d in np.ndindex(*designs.shape[:2]):
        one, at = one_pair(designs, p, d), (slice(p, p + 1), slice(d, d + 1))
        flow = decode_flow(one, in_flight[:, at[1]], many)
        rate[at], fits[at] = prefill_capacity(one, flow, few, iterations)
    return DisaggregatedScore(designs, decode, decode_fits, rate, fits & decode_fits)


def wire_for(space: Space, load: Load, axes: Mapping[str, Array] | None = None) -> Wire | Infeasible | None:
    """The network between all pairs of a space, in the load's precision; None where a pool is empty."""
    if not space.prefill or not space.decode:
        return None
    wire = wire_of(space.catalog, space.scenario, space.prefill, space.decode, load, axes)
    if isinstance(wire, Infeasible) or load.weight.dtype != np.float32:
        return wire
    return single_precision(wire)


def _pinned(instances: int | None, load: Load) -> Array | None:
    return None if instances is None else np.full((1, 1, 1, 1), float(instances), dtype=load.weight.dtype)


def _cells(shape: tuple[int, ...]) -> int:
    return shape[2] * shape[3]


def instance_weights(space: Space, instances: tuple[Instance, ...], per_dollar: bool) -> Array:
    """What one instance costs: USD per hour, or GPUs where that is what is compared."""
    if not per_dollar:
        return np.array([float(instance.gpus) for instance in instances])
    money = space.scenario.money
    prices = [price_of(instance.accelerator, money).usd_per_hour or 0.0 for instance in instances]
    return np.array([price * instance.gpus for price, instance in zip(prices, instances, strict=True)])


def network_weights(space: Space, instances: tuple[Instance, ...], per_dollar: bool) -> Array:
    """What the KV network of one instance of the split costs; nothing where GPUs are counted."""
    if not per_dollar:
        return np.zeros(len(instances))
    network, money = space.scenario.network, space.scenario.money
    return np.array(
        [nics_of(i, network.nics_per_instance) * money.network_usd_per_nic_hour for i in instances],
        dtype=float,
    )


def colocated_cost(space: Space, score: ColocatedScore | None, per_dollar: bool) -> Array:
    """Cost per unit rate of the best fleet at its best unrounded scale, (y, x); infinite where none fits."""
    if score is None:
        return np.full((1, 1), np.inf)
    weight = instance_weights(space, space.colocated, per_dollar)[:, None, None, None]
    return np.asarray(np.where(score.fits, weight / score.rate_per_s, np.inf).min(axis=(0, 1)))


def disaggregated_costs(space: Space, score: DisaggregatedScore, per_dollar: bool) -> Array:
    """Cost per unit rate of every pair, (prefill, decode, y, x); pools in the ratio that wastes neither,
    or as pinned.
    """
    scenario = space.scenario
    prefill = instance_weights(space, space.prefill, per_dollar) + network_weights(
        space, space.prefill, per_dollar
    )
    decode = instance_weights(space, space.decode, per_dollar) + network_weights(
        space, space.decode, per_dollar
    )
    p, d = prefill[:, None, None, None], decode[None, :, None, None]
    n_p, n_d = scenario.prefill.instances, scenario.decode.instances
    if n_p is not None and n_d is not None:
        carried = np.minimum(n_p * score.prefill_rate_per_s, n_d * score.decode.rate_per_s)
        cost = (n_p * p + n_d * d) / carried
    else:
        cost = p / score.prefill_rate_per_s + d / score.decode.rate_per_s
    return np.where(score.fits, cost, np.inf)


def disaggregated_cost(
    space: Space, score: DisaggregatedScore | Infeasible | None, per_dollar: bool
) -> Array:
    """The best pair's, (y, x); infinite where none fits."""
    if score is None or isinstance(score, Infeasible):
        return np.full((1, 1), np.inf)
    return np.asarray(disaggregated_costs(space, score, per_dollar).min(axis=(0, 1)))


def gain_of(colocated: Array, disaggregated: Array) -> Array:
    """Colocated over disaggregated cost: above 1 favours splitting; inf or 0 where one side cannot, NaN
    for neither.
    """
    both = np.isinf(colocated) & np.isinf(disaggregated)
    with np.errstate(invalid="ignore"):
        return np.where(both, np.nan, np.where(np.isinf(disaggregated), 0.0, colocated / disaggregated))
