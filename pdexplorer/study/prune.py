"""Fewer designs for a large map: those that come close to the best somewhere on a coarse grid of it."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.steady.load import load_of
from pdexplorer.study.score import (
    disaggregated_costs,
    instance_weights,
    score_colocated,
    score_disaggregated,
)
from pdexplorer.study.space import Space, table_rows

Array = NDArray[np.float64]

_COARSE = 6
_WITHIN = 1.03
_ITERATIONS = 6
_CLASSES = 6
_SMALL = 300


def pruned(space: Space, axes: Mapping[str, Array], per_dollar: bool) -> Space:
    """The space without designs that nowhere on the coarse grid come within 3% of the best of their side.

    The chunk budgets and instances that are left are searched in every cell. Small maps keep everything.
    """
    shape = np.broadcast_shapes(*(value.shape for value in axes.values()))
    if shape[0] * shape[1] < _SMALL:
        return space
    coarse = {key: _thinned(value) for key, value in axes.items()}
    load = load_of(space.scenario, coarse, _CLASSES)
    colocated = score_colocated(space, load, _ITERATIONS)
    split = score_disaggregated(space, load, coarse, _ITERATIONS)
    kept = space
    if colocated is not None and colocated.fits.any():
        weight = instance_weights(space, space.colocated, per_dollar)[:, None, None, None]
        cost = np.where(colocated.fits, weight / colocated.rate_per_s, np.inf)
        close = _close(cost, (0, 1))
        rows, budgets = np.nonzero(close.any(axis=1))[0], np.nonzero(close.any(axis=0))[0]
        kept = replace(
            kept,
            colocated=tuple(space.colocated[row] for row in rows),
            colocated_table=table_rows(space.colocated_table, list(rows)),
            budgets=space.budgets[budgets],
        )
    if split is not None and not isinstance(split, Infeasible) and split.fits.any():
        close = _close(disaggregated_costs(space, split, per_dollar), (0, 1))
        rows, columns = np.nonzero(close.any(axis=1))[0], np.nonzero(close.any(axis=0))[0]
        kept = replace(
            kept,
            prefill=tuple(space.prefill[row] for row in rows),
            decode=tuple(space.decode[row] for row in columns),
            prefill_table=table_rows(space.prefill_table, list(rows)),
            decode_table=table_rows(space.decode_table, list(columns)),
        )
    return kept


def _close(cost: Array, designs: tuple[int, int]) -> NDArray[np.bool_]:
    """Which designs come close to the best in some cell."""
    best = cost.min(axis=designs, keepdims=True)
    return np.asarray((np.isfinite(cost) & (cost <= best * _WITHIN)).any(axis=(2, 3)))


def _thinned(values: Array) -> Array:
    """About _COARSE values along each axis that varies, ends included."""
    index = [np.unique(np.linspace(0, n - 1, min(n, _COARSE)).round().astype(int)) for n in values.shape]
    return values[np.ix_(*index)]
