"""A design space over given instances: perturbed ones, or a wider offer than one scenario names."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.memory import kv_capacity_tokens
from pdexplorer.physics.step import step_time_s
from pdexplorer.steady.table import StepTable, build_table
from pdexplorer.study.search.score import (
    ColocatedScore,
    DisaggregatedScore,
    disaggregated_costs,
    instance_weights,
)
from pdexplorer.study.search.space import Space, table_rows

Mask = NDArray[np.bool_]


def space_of(
    space: Space,
    colocated: Sequence[Instance],
    prefill: Sequence[Instance],
    decode: Sequence[Instance],
) -> Space:
    """The same question over other instances, whose weights are known to fit."""
    distinct = list({id(i): i for i in (*colocated, *prefill, *decode)}.values())
    scenario = space.scenario
    largest = max(pool.max_batch for pool in (scenario.colocated, scenario.prefill, scenario.decode))
    kv = []
    for instance in distinct:
        capacity = kv_capacity_tokens(instance)
        kv.append(0.0 if isinstance(capacity, Infeasible) else float(capacity))
    table = build_table(distinct, kv, largest, step_time_s)
    at = {id(instance): row for row, instance in enumerate(distinct)}

    def rows(instances: Sequence[Instance]) -> StepTable:
        return table_rows(table, [at[id(instance)] for instance in instances])

    return replace(
        space,
        colocated=tuple(colocated),
        prefill=tuple(prefill),
        decode=tuple(decode),
        colocated_table=rows(colocated),
        prefill_table=rows(prefill),
        decode_table=rows(decode),
    )


def mapped(space: Space, change: Callable[[Instance], Instance]) -> Space:
    """Every instance changed, one that several roles share only once."""
    changed: dict[int, Instance] = {}

    def of(instances: tuple[Instance, ...]) -> list[Instance]:
        for instance in instances:
            if id(instance) not in changed:
                changed[id(instance)] = change(instance)
        return [changed[id(instance)] for instance in instances]

    return space_of(space, of(space.colocated), of(space.prefill), of(space.decode))


def close_to_best(
    space: Space, colocated: ColocatedScore, split: DisaggregatedScore, per_dollar: bool, within: float
) -> Space:
    """Only the designs whose cost at unrounded scale lies within that ratio of the best of their side."""
    weight = instance_weights(space, space.colocated, per_dollar)[:, None]
    one = np.where(colocated.fits, 1.0 / colocated.rate_per_s, np.inf)[:, :, 0, 0] * weight
    pairs = disaggregated_costs(space, split, per_dollar)[:, :, 0, 0]
    if not np.isfinite(one.min()) or not np.isfinite(pairs.min()):
        return space
    near, close = one <= one.min() * within, pairs <= pairs.min() * within
    return replace(
        space,
        colocated=_kept(space.colocated, near.any(axis=1)),
        prefill=_kept(space.prefill, close.any(axis=1)),
        decode=_kept(space.decode, close.any(axis=0)),
        budgets=space.budgets[near.any(axis=0)],
        colocated_table=table_rows(space.colocated_table, _rows(near.any(axis=1))),
        prefill_table=table_rows(space.prefill_table, _rows(close.any(axis=1))),
        decode_table=table_rows(space.decode_table, _rows(close.any(axis=0))),
    )


def _kept(instances: tuple[Instance, ...], keep: Mask) -> tuple[Instance, ...]:
    return tuple(instance for instance, kept in zip(instances, keep, strict=True) if kept)


def _rows(keep: Mask) -> list[int]:
    return [int(row) for row in np.nonzero(keep)[0]]
