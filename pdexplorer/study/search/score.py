"""How much each design carries within every limit, over one cell or a whole map."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.metrics.money import price_of
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.transfer import nics_of
from pdexplorer.steady.colocated import ColocatedDesigns, colocated_designs, colocated_flow
from pdexplorer.steady.colocated_capacity import colocated_capacity
from pdexplorer.steady.disaggregated import decode_capacity, prefill_capacity
from pdexplorer.steady.load import Load, single_precision
from pdexplorer.steady.solve import EXACT, Effort
from pdexplorer.steady.split_designs import DisaggregatedDesigns, Wire, disaggregated_designs
from pdexplorer.steady.split_parts import DecodeFlow, decode_flow
from pdexplorer.steady.table import Rows
from pdexplorer.steady.wire import wire_of
from pdexplorer.study.search.space import Space

Array = NDArray[np.float64]
Prices = Mapping[str, Array] | None


@dataclass(frozen=True, eq=False)
class ColocatedScore:
    """Designs (instances, budgets, y, x): in flight and requests per second of one instance at its limit.
    reserve: as solve.Largest has it.
    """

    designs: ColocatedDesigns
    in_flight: Array
    fits: NDArray[np.bool_]
    rate_per_s: Array
    reserve: Array


@dataclass(frozen=True, eq=False)
class DisaggregatedScore:
    """Designs (prefill, decode, y, x): what one instance of each pool carries at its limit. reserve: as
    solve.Largest has it, of the pool that has less.
    """

    designs: DisaggregatedDesigns
    decode: DecodeFlow
    decode_fits: NDArray[np.bool_]
    prefill_rate_per_s: Array
    fits: NDArray[np.bool_]
    reserve: Array


def score_colocated(
    space: Space, load: Load, effort: Effort = EXACT, near: Array | None = None
) -> ColocatedScore | None:
    """Every design in every cell; None where no instance fits. near: a guess at the requests in flight."""
    if not space.colocated:
        return None
    budgets = space.budgets.astype(load.weight.dtype)[None, :, None, None]
    return score_colocated_at(space, load, space.colocated_table.every, budgets, effort, near)


def score_colocated_at(
    space: Space, load: Load, rows: Rows, budgets: Array, effort: Effort = EXACT, near: Array | None = None
) -> ColocatedScore:
    """The designs of those rows and budgets, as ColocatedDesigns has them."""
    pool, engine = space.scenario.colocated, space.scenario.engine
    designs = colocated_designs(
        load, space.colocated_table, rows, budgets, engine.chunking, float(pool.max_batch)
    )
    most = colocated_capacity(designs, pinned(pool.instances, load), effort, near)
    return ColocatedScore(
        designs, most.x, most.fits, colocated_flow(designs, most.x).rate_per_s, most.reserve
    )


def score_disaggregated(
    space: Space,
    load: Load,
    axes: Mapping[str, Array] | None = None,
    effort: Effort = EXACT,
    near: tuple[Array, Array] | None = None,
) -> DisaggregatedScore | Infeasible | None:
    """Every pair in every cell; None where a pool has no instance that fits. near: guesses at the requests in
    flight of a decode instance and at the rate of a prefill instance.
    """
    wire = wire_for(space, load, axes)
    if not isinstance(wire, Wire):
        return wire
    rows = space.prefill_table.every, np.moveaxis(space.decode_table.every, 0, 1)
    return score_disaggregated_at(space, load, wire, *rows, effort, near)


def score_disaggregated_at(
    space: Space,
    load: Load,
    wire: Wire,
    prefill_rows: Rows,
    decode_rows: Rows,
    effort: Effort = EXACT,
    near: tuple[Array, Array] | None = None,
) -> DisaggregatedScore:
    """The pairs of those rows, as DisaggregatedDesigns has them; wire: theirs."""
    scenario = space.scenario
    designs = disaggregated_designs(
        load, space.prefill_table, space.decode_table, wire, float(scenario.engine.prefill_batch_tokens),
        float(scenario.decode.max_batch), scenario.network.first_token_from == "decode", prefill_rows,
        decode_rows,
    )  # fmt: skip
    many, few = pinned(scenario.decode.instances, load), pinned(scenario.prefill.instances, load)
    flying, rate_near = near or (None, None)
    running = decode_capacity(designs, many, effort, flying)
    decode = decode_flow(designs, running.x, many)
    rate = prefill_capacity(designs, decode, few, effort, rate_near)
    return DisaggregatedScore(
        designs, decode, running.fits, rate.x, rate.fits & running.fits,
        np.minimum(rate.reserve, running.reserve),
    )  # fmt: skip


def wire_for(space: Space, load: Load, axes: Mapping[str, Array] | None = None) -> Wire | Infeasible | None:
    """The network between all pairs of a space, in the load's precision; None where a pool is empty."""
    if not space.prefill or not space.decode:
        return None
    wire = wire_of(space.catalog, space.scenario, space.prefill, space.decode, load, axes)
    if isinstance(wire, Infeasible) or load.weight.dtype != np.float32:
        return wire
    return single_precision(wire)


def pinned(instances: int | None, load: Load) -> Array | None:
    """A number of instances that is given, in the designs' shape."""
    return None if instances is None else np.full((1, 1, 1, 1), float(instances), dtype=load.weight.dtype)


def instance_weights(
    space: Space,
    instances: tuple[Instance, ...],
    per_dollar: bool,
    prices: Prices = None,
) -> Array:
    """What one instance costs: USD per hour, or GPUs where that is what is compared.

    prices: of an accelerator in USD per hour over cells (y, x), where they vary; the result then has cells
    too.
    """
    if not per_dollar:
        return np.array([float(instance.gpus) for instance in instances])
    money, given = space.scenario.money, prices or {}
    names = [instance.accelerator.id for instance in instances]
    each = [
        given[name] if name in given else price_of(instance.accelerator, money).usd_per_hour or 0.0
        for name, instance in zip(names, instances, strict=True)
    ]
    gpus = np.array([float(instance.gpus) for instance in instances])
    if not given:
        return np.asarray(np.array(each) * gpus)
    over_cells = np.broadcast_arrays(*(np.atleast_2d(np.asarray(price, float)) for price in each))
    return np.asarray(np.stack(over_cells) * gpus[:, None, None])


def network_weights(space: Space, instances: tuple[Instance, ...], per_dollar: bool) -> Array:
    """What the KV network of one instance of the split costs; nothing where GPUs are counted."""
    if not per_dollar:
        return np.zeros(len(instances))
    network, money = space.scenario.network, space.scenario.money
    return np.array(
        [nics_of(i, network.nics_per_instance) * money.network_usd_per_nic_hour for i in instances],
        dtype=float,
    )


def colocated_costs(space: Space, score: ColocatedScore, per_dollar: bool, prices: Prices = None) -> Array:
    """Cost per unit rate of every design at its best unrounded scale, in the designs' shape; infinite where
    one does not fit.
    """
    weight = _of_rows(instance_weights(space, space.colocated, per_dollar, prices), score.designs.rows)
    return np.where(score.fits, weight / score.rate_per_s, np.inf)


def colocated_cost(space: Space, score: ColocatedScore | None, per_dollar: bool) -> Array:
    """The best design's, (y, x); infinite where none fits."""
    if score is None:
        return np.full((1, 1), np.inf)
    return np.asarray(colocated_costs(space, score, per_dollar).min(axis=(0, 1)))


def disaggregated_costs(
    space: Space, score: DisaggregatedScore, per_dollar: bool, prices: Prices = None
) -> Array:
    """Cost per unit rate of every pair, (prefill, decode, y, x); pools in the ratio that wastes neither,
    or as pinned.
    """
    scenario, designs = space.scenario, score.designs
    p, d = (
        _of_rows(instance_weights(space, pool, per_dollar, prices), rows)
        + _of_rows(network_weights(space, pool, per_dollar), rows)
        for pool, rows in ((space.prefill, designs.prefill_rows), (space.decode, designs.decode_rows))
    )
    n_p, n_d = scenario.prefill.instances, scenario.decode.instances
    if n_p is not None and n_d is not None:
        carried = np.minimum(n_p * score.prefill_rate_per_s, n_d * score.decode.rate_per_s)
        cost = (n_p * p + n_d * d) / carried
    else:
        cost = p / score.prefill_rate_per_s + d / score.decode.rate_per_s
    return np.where(score.fits, cost, np.inf)


def _of_rows(weights: Array, rows: Rows) -> Array:
    """Weights (instances,) or (instances, y, x) of the instances in rows."""
    if weights.ndim == 1:
        return np.asarray(weights[rows])
    y, x = np.arange(weights.shape[1])[:, None], np.arange(weights.shape[2])
    return np.asarray(weights[rows, y, x])


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
