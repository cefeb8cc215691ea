"""Costs of the best design of each side over a large map: all designs on a coarse grid of it, then in every
cell only those that come close to the best there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.steady.load import LOAD_AXES, Load, load_of, single_precision
from pdexplorer.steady.split_designs import Wire
from pdexplorer.study.score import (
    MANY_CELLS,
    colocated_cost,
    disaggregated_costs,
    instance_weights,
    score_colocated,
    score_disaggregated,
    wire_for,
)
from pdexplorer.study.space import Space, table_rows

Array = NDArray[np.float64]
Record = TypeVar("Record", Load, Wire)

_COARSE = 9
_WITHIN = 1.02
_ITERATIONS = 7
_FAINT = 1e-3


def nearby_costs(
    space: Space, load: Load, axes: Mapping[str, Array], per_dollar: bool, iterations: int, points: int
) -> tuple[Array, Array]:
    """(colocated, disaggregated) cost of the best design in every cell, (y, x); infinite where none fits.

    Between the coarse cells a design's cost is taken as geometric; one within 2% of the best so estimated is
    tried, and any that fits in a corner where another does not.
    """
    shape = np.broadcast_shapes((1, 1), *(value.shape for value in axes.values()))
    rows, columns = (_coarse(size) for size in shape)
    thin = {key: _thinned(value, rows, columns) for key, value in axes.items()}
    few = single_precision(load_of(space.scenario, thin, points))
    first, second = np.full((1, 1), np.inf), np.full((1, 1), np.inf)
    varied = [value.shape for key, value in axes.items() if key in LOAD_AXES]
    if np.prod(np.broadcast_shapes((1, 1), *varied)) <= MANY_CELLS:
        first = colocated_cost(space, score_colocated(space, load, iterations), per_dollar)
    elif (one := score_colocated(space, few, _ITERATIONS)) is not None:
        weight = instance_weights(space, space.colocated, per_dollar)[:, None, None, None]
        coarse = np.where(one.fits, weight / one.rate_per_s, np.inf)
        first = np.full(_varied(coarse, shape), np.inf)
        for (i, c), at in _pairs(coarse, rows, columns, first.shape):
            part = replace(
                space,
                colocated=space.colocated[i : i + 1],
                budgets=space.budgets[c : c + 1],
                colocated_table=table_rows(space.colocated_table, [i]),
            )
            found = score_colocated(part, _cells(load, at), iterations)
            assert found is not None  # it has an instance
            cost = np.where(found.fits, float(weight[i].item()) / found.rate_per_s, np.inf)
            first[at] = np.minimum(first[at], cost[0, 0, 0])
    split = score_disaggregated(space, few, thin, _ITERATIONS)
    wire = wire_for(space, load, axes)
    if split is not None and not isinstance(split, Infeasible) and isinstance(wire, Wire):
        coarse = disaggregated_costs(space, split, per_dollar)
        second = np.full(_varied(coarse, shape), np.inf)
        for (p, d), at in _pairs(coarse, rows, columns, second.shape):
            part = replace(
                space,
                prefill=space.prefill[p : p + 1],
                decode=space.decode[d : d + 1],
                prefill_table=table_rows(space.prefill_table, [p]),
                decode_table=table_rows(space.decode_table, [d]),
            )
            pair = replace(
                wire,
                moved_bytes=wire.moved_bytes[:, :, d : d + 1],
                egress_byte_per_s=wire.egress_byte_per_s[p : p + 1],
                ingress_byte_per_s=wire.ingress_byte_per_s[:, d : d + 1],
            )
            both = score_disaggregated(part, _cells(load, at), iterations=iterations, wire=_cells(pair, at))
            assert both is not None  # the wire was found
            assert not isinstance(both, Infeasible)
            second[at] = np.minimum(second[at], disaggregated_costs(part, both, per_dollar)[0, 0, 0])
    return first, second


def _varied(coarse: Array, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The map's shape, with 1 along an axis that changes nothing for this side."""
    return tuple(size if coarse.shape[2 + k] > 1 else 1 for k, size in enumerate(shape))


def _pairs(
    coarse: Array, rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, ...]
) -> Iterator[tuple[tuple[int, int], tuple[NDArray[np.intp], NDArray[np.intp]]]]:
    """Each design with the cells to try it in."""
    rows, columns = rows[: coarse.shape[2]], columns[: coarse.shape[3]]
    top, down = _position(rows, shape[0])
    left, right = _position(columns, shape[1])
    cost, fits = _filled(coarse)
    total, weight = np.zeros((*coarse.shape[:2], *shape)), np.zeros((*coarse.shape[:2], *shape))
    for y, part_y in ((top, 1.0 - down), (np.minimum(top + 1, len(rows) - 1), down)):
        for x, part_x in ((left, 1.0 - right), (np.minimum(left + 1, len(columns) - 1), right)):
            share = (part_y[:, None] * part_x + 1e-6) * fits[:, :, y][:, :, :, x]
            total += share * cost[:, :, y][:, :, :, x]
            weight += share
    any_fits = weight > 0.0
    estimate = np.where(any_fits, total / np.where(any_fits, weight, 1.0), np.inf)
    # Some corner does not fit: how far the design reaches into the cell is open.
    edge = any_fits & (weight < 0.99)
    inner = np.where(edge, np.inf, estimate).min(axis=(0, 1))
    near = any_fits & (estimate <= inner + np.log(_WITHIN))
    for i, c in np.ndindex(*coarse.shape[:2]):
        at = np.nonzero(near[i, c])
        if len(at[0]):
            yield (i, c), (at[0], at[1])


def _filled(coarse: Array) -> tuple[Array, Array]:
    """(logarithm of the cost, its weight): next to coarse cells that fit, others count with their mean a
    little, for the limit lies between.
    """
    fits = np.isfinite(coarse)
    cost = np.log(np.where(fits, coarse, 1.0))
    high, wide = coarse.shape[2:]
    weight, total = np.zeros(coarse.shape), np.zeros(coarse.shape)
    for y in (-1, 0, 1):
        for x in (-1, 0, 1):
            to = (..., slice(max(y, 0), high + min(y, 0)), slice(max(x, 0), wide + min(x, 0)))
            of = (..., slice(max(-y, 0), high + min(-y, 0)), slice(max(-x, 0), wide + min(-x, 0)))
            weight[to] += fits[of]
            total[to] += fits[of] * cost[of]
    near = weight > 0.0
    return np.where(fits, cost, total / np.where(near, weight, 1.0)), np.where(fits, 1.0, _FAINT * near)


def _coarse(size: int) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, size - 1, min(size, _COARSE)).round().astype(np.intp))


def _position(nodes: NDArray[np.intp], size: int) -> tuple[NDArray[np.intp], Array]:
    """The node below each index of an axis, and how far it is to the next."""
    index = np.arange(size)
    at = np.clip(np.searchsorted(nodes, index, side="right") - 1, 0, max(len(nodes) - 2, 0))
    if len(nodes) < 2:
        return at, np.zeros(size)
    return at, (index - nodes[at]) / (nodes[at + 1] - nodes[at])


def _thinned(values: Array, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
    picked = values[rows] if values.shape[0] > 1 else values
    return picked[:, columns] if values.shape[1] > 1 else picked


def _cells(record: Record, at: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Record:
    """Those cells of a map in one row."""
    changed: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray) and value.ndim >= 2:
            y = at[0] if value.shape[-2] > 1 else np.zeros(1, dtype=np.intp)
            x = at[1] if value.shape[-1] > 1 else np.zeros(1, dtype=np.intp)
            changed[field.name] = np.ascontiguousarray(value[..., y, x][..., None, :])
    return replace(record, **changed)
