"""The best design of each side over many cells: all designs on a coarse grid of them, then in every cell only
those that come close to the best there, from a guess between the answers around it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.steady.load import Load, load_of, single_precision
from pdexplorer.steady.solve import NEARBY, ROUGH
from pdexplorer.steady.split_designs import Wire
from pdexplorer.steady.wire import WIRE_AXES
from pdexplorer.study.search.axes import prices_of
from pdexplorer.study.search.score import (
    colocated_costs,
    disaggregated_costs,
    score_colocated,
    score_colocated_at,
    score_disaggregated,
    score_disaggregated_at,
    wire_for,
)
from pdexplorer.study.search.space import Space

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_WITHIN = 1.02
_FAINT = 1e-3
_UNSURE = 0.5
"""A reserve between known cells that near zero may be either."""
_BLOCK = 1500
"""Searches at once: their arrays stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Known:
    """Answers of one side over cells: shape (design, design, y, x), with 1 along an axis
    that does not matter.

    spent: for a request per second, infinite where a design does not fit or was not tried. at: what was
    searched for, the requests in flight on an instance that decodes and, split, the rate of one that
    prefills. reserve: the score of a design with hardly a request, within ±1; below zero where not even that
    fits.
    """

    spent: Array
    at: tuple[Array, ...]
    reserve: Array

    @property
    def best(self) -> Array:
        """Of all designs, (y, x)."""
        return np.asarray(self.spent.min(axis=(0, 1)))

    def cells(self, y: Index, x: Index, shape: tuple[int, int]) -> "Known":
        """Only some cells, of (y, x) in all."""
        cost, reserve, *at = (_wide(each, shape)[:, :, y, x] for each in (self.spent, self.reserve, *self.at))
        return Known(cost, tuple(at), reserve)


@dataclass(frozen=True, eq=False)
class Sides:
    """Both fleets; None where one has no instance that fits, or no network."""

    colocated: Known | None
    disaggregated: Known | None

    @property
    def costs(self) -> tuple[Array, Array]:
        """(colocated, disaggregated) of the best design, (y, x); infinite where none fits."""
        sides = (self.colocated, self.disaggregated)
        one, other = (np.full((1, 1), np.inf) if side is None else side.best for side in sides)
        return one, other

    def cells(self, y: Index, x: Index, shape: tuple[int, int]) -> "Sides":
        """Only some cells, of (y, x) in all."""
        sides = (self.colocated, self.disaggregated)
        one, other = (None if side is None else side.cells(y, x, shape) for side in sides)
        return Sides(one, other)


def all_designs(space: Space, axes: Mapping[str, Array], per_dollar: bool, points: int) -> Sides:
    """Every design in every cell. points: classes of requests."""
    return Sides(
        _every_colocated(space, axes, per_dollar, points), _every_pair(space, axes, per_dollar, points)
    )


def distinct_designs(space: Space, cells: Mapping[str, Array], per_dollar: bool, points: int) -> Sides:
    """The same over cells (y, x) of every axis that may repeat: each side only where they differ for it."""
    found = []
    for every, ignored in ((_every_colocated, WIRE_AXES), (_every_pair, ())):
        axes = {key: values for key, values in cells.items() if key not in ignored}
        table = np.stack([values.ravel() for values in axes.values()], axis=1)
        distinct, at = np.unique(table, axis=0, return_inverse=True)
        thin = {key: distinct[None, :, column] for column, key in enumerate(axes)}
        side = every(space, thin, per_dollar, points)
        x = at.reshape(next(iter(cells.values())).shape)
        found.append(None if side is None else side.cells(np.zeros_like(x), x, (1, len(distinct))))
    return Sides(*found)


def _every_colocated(space: Space, axes: Mapping[str, Array], per_dollar: bool, points: int) -> Known | None:
    load = single_precision(load_of(space.scenario, axes, points))
    one = score_colocated(space, load, ROUGH)
    if one is None:
        return None
    costs = colocated_costs(space, one, per_dollar, prices_of(axes))
    return Known(costs, (one.in_flight,), _bounded(one.reserve))


def _every_pair(space: Space, axes: Mapping[str, Array], per_dollar: bool, points: int) -> Known | None:
    load = single_precision(load_of(space.scenario, axes, points))
    split = score_disaggregated(space, load, axes, ROUGH)
    if split is None or isinstance(split, Infeasible):
        return None
    costs = disaggregated_costs(space, split, per_dollar, prices_of(axes))
    in_flight = np.broadcast_to(split.decode.in_flight, costs.shape)
    return Known(costs, (in_flight, split.prefill_rate_per_s), _bounded(split.reserve))


def _bounded(reserve: Array) -> Array:
    return np.asarray(np.minimum(np.maximum(reserve, -1.0), 1.0))


def near_designs(
    space: Space,
    axes: Mapping[str, Array],
    per_dollar: bool,
    points: int,
    known: Sides,
    down: Array,
    across: Array,
) -> Sides:
    """Those close to the best, in every cell. down (y, known y), across (x, known x): how much each known
    cell weighs in it, as `hats` gives it.

    Between known cells a design's cost is taken as geometric and its reserve as linear. Tried are those that
    may fit and are within 2% of the best one that surely does.
    """
    load = single_precision(load_of(space.scenario, axes, points))
    prices = prices_of(axes)
    colocated = disaggregated = None
    if (before := known.colocated) is not None:
        colocated = _carried_over(before, down, across)
        for at, (flying,) in _problems(before, colocated, down, across):
            i, c, y, x = at
            budgets = space.budgets[c].astype(load.weight.dtype)
            rows = i[None, None, None]
            one = score_colocated_at(
                space, _cells(load, y, x), rows, budgets[None, None, None], NEARBY, flying
            )
            _enter(
                colocated, at, colocated_costs(space, one, per_dollar, _cells_of(prices, y, x)), one.in_flight
            )
    wire = wire_for(space, load, axes)
    if (before := known.disaggregated) is not None and isinstance(wire, Wire):
        disaggregated = _carried_over(before, down, across)
        for at, near in _problems(before, disaggregated, down, across):
            p, d, y, x = at
            first, second = p[None, None, None], d[None, None, None]
            both = score_disaggregated_at(
                space, _cells(load, y, x), _pairs(wire, *at), first, second, NEARBY, (near[0], near[1])
            )
            costs = disaggregated_costs(space, both, per_dollar, _cells_of(prices, y, x))
            _enter(disaggregated, at, costs, both.decode.in_flight, both.prefill_rate_per_s)
    return Sides(colocated, disaggregated)


def hats(at: Array, count: int) -> Array:
    """Weights (cells, known) of linear interpolation at positions counted in known cells."""
    return np.maximum(1.0 - np.abs(at[:, None] - np.arange(count)), 0.0)


def _carried_over(before: Known, down: Array, across: Array) -> Known:
    """What is known already, over as many cells as the side differs in."""
    down, across = _over(before, down, across)
    rows, columns = down.max(axis=1) == 1.0, across.max(axis=1) == 1.0
    to = (slice(None), slice(None), *np.ix_(rows, columns))
    of = (slice(None), slice(None), *np.ix_(down[rows].argmax(axis=1), across[columns].argmax(axis=1)))
    shape = (*before.spent.shape[:2], len(down), len(across))
    now = Known(
        np.full(shape, np.inf), tuple(np.full(shape, np.nan) for _ in before.at),
        down @ before.reserve @ across.T,
    )  # fmt: skip
    for values, each in zip((now.spent, *now.at), (before.spent, *before.at), strict=True):
        values[to] = each[of]
    return now


def _over(side: Known, down: Array, across: Array) -> tuple[Array, Array]:
    """Weights along the axes that the side varies over."""
    one = np.ones((1, 1))
    return down if side.spent.shape[2] > 1 else one, across if side.spent.shape[3] > 1 else one


def _problems(
    before: Known, now: Known, down: Array, across: Array
) -> Iterator[tuple[tuple[Index, ...], list[Array]]]:
    """Designs and cells to try, in blocks: indices (design, design, y, x) and guesses at what is searched."""
    down, across = _over(before, down, across)

    def between(values: Array) -> Array:
        return down @ values @ across.T

    fits = np.isfinite(before.spent)
    filled, weight = _filled(before.spent, fits)
    total = between(weight)
    estimate = np.where(total > 0.0, between(weight * filled) / np.where(total > 0.0, total, 1.0), np.inf)
    reserve, unknown = now.reserve, np.outer(down.max(axis=1), across.max(axis=1)) < 1.0
    best = np.where(reserve > _UNSURE, estimate, np.inf).min(axis=(0, 1))
    where = np.nonzero((reserve > -_UNSURE) & (estimate <= best + np.log(_WITHIN)) & (total > 0.0) & unknown)
    share = between(fits.astype(float))[where]
    guesses = []
    for at in before.at:
        log = between(np.log(np.where(fits, at, 1.0)))[where]
        guesses.append(np.where(share > 0.0, np.exp(log / np.where(share > 0.0, share, 1.0)), np.nan))
    for start in range(0, len(where[0]), _BLOCK):
        part = slice(start, start + _BLOCK)
        yield tuple(index[part] for index in where), [guess[part][None, None, None] for guess in guesses]


def _enter(known: Known, at: tuple[Index, ...], cost: Array, *found: Array) -> None:
    known.spent[at] = cost[0, 0, 0]
    for values, each in zip(known.at, found, strict=True):
        values[at] = each[0, 0, 0]


def _filled(coarse: Array, fits: NDArray[np.bool_]) -> tuple[Array, Array]:
    """(logarithm of the cost, its weight): next to known cells that fit, others count with their mean a
    little, for the limit lies between.
    """
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


def _pairs(wire: Wire, p: Index, d: Index, y: Index, x: Index) -> Wire:
    """The network of one pair in each cell, in one row."""
    return replace(
        wire,
        moved_bytes=_at(wire.moved_bytes, d, y, x)[:, 0][:, None, None, None],
        egress_byte_per_s=_at(wire.egress_byte_per_s[:, 0], p, y, x)[None, None, None],
        ingress_byte_per_s=_at(wire.ingress_byte_per_s[0], d, y, x)[None, None, None],
        latency_s=_at(wire.latency_s, y, x)[None],
    )


def _cells(load: Load, y: Index, x: Index) -> Load:
    """Those cells of a map in one row."""
    changed: dict[str, Any] = {}
    for field in fields(load):
        value = getattr(load, field.name)
        if isinstance(value, np.ndarray) and value.ndim >= 2:
            changed[field.name] = np.ascontiguousarray(_at(value, y, x)[..., None, :])
    return replace(load, **changed)


def _cells_of(prices: Mapping[str, Array], y: Index, x: Index) -> dict[str, Array]:
    return {name: _at(values, y, x)[None] for name, values in prices.items()}


def _wide(values: Array, shape: tuple[int, int]) -> Array:
    return np.broadcast_to(values, (*values.shape[:2], *shape))


def _at(values: Array, *index: Index) -> Array:
    """The last axes read at indices; an axis of length 1 does not vary."""
    sizes = values.shape[-len(index) :]
    varied = (i if size > 1 else np.zeros_like(i) for i, size in zip(index, sizes, strict=True))
    at: tuple[Any, ...] = (..., *varied)
    return np.asarray(values[at])
