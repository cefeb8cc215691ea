"""Which designs a large map tries in every cell: those close to the best somewhere on a coarse grid of it."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.steady.load import load_of, single_precision
from pdexplorer.study.score import (
    MANY_CELLS,
    disaggregated_costs,
    instance_weights,
    score_colocated,
    score_disaggregated,
)
from pdexplorer.study.space import Space

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_FEW_DESIGNS = 24
_COARSE = 7
_WITHIN = 1.02
_ITERATIONS = 7
_CLASSES = 8


def promising(space: Space, axes: Mapping[str, Array], per_dollar: bool) -> tuple[Mask | None, Mask | None]:
    """Masks of colocated designs and of pairs of pools; None where the map or the offer is small.

    A design counts that comes within 2% of the best of its side at one of 7 × 7 cells spread over the map.
    """
    shape = np.broadcast_shapes((1, 1), *(value.shape for value in axes.values()))
    if shape[0] * shape[1] <= MANY_CELLS or len(space.colocated) * len(space.budgets) <= _FEW_DESIGNS:
        return None, None
    coarse = {key: _thinned(value) for key, value in axes.items()}
    load = single_precision(load_of(space.scenario, coarse, _CLASSES))
    colocated = score_colocated(space, load, _ITERATIONS)
    split = score_disaggregated(space, load, coarse, _ITERATIONS)
    first, second = None, None
    if colocated is not None:
        weight = instance_weights(space, space.colocated, per_dollar)[:, None, None, None]
        first = _close(np.where(colocated.fits, weight / colocated.rate_per_s, np.inf))
    if split is not None and not isinstance(split, Infeasible):
        second = _close(disaggregated_costs(space, split, per_dollar))
    return first, second


def _close(cost: Array) -> Mask | None:
    best = cost.min(axis=(0, 1))
    close = np.isfinite(cost) & (cost <= best * _WITHIN)
    return close.any(axis=(2, 3)) if close.any() else None


def _thinned(values: Array) -> Array:
    """A few values along each axis that varies, ends included."""
    index = [np.unique(np.linspace(0, n - 1, min(n, _COARSE)).round().astype(int)) for n in values.shape]
    return np.asarray(values[np.ix_(*index)])
