"""Whole pools of a pair that a budget holds and that carry most."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def fill_budget(
    one_p: Array | float, one_d: Array | float, cost_p: Array | float, cost_d: Array | float, budget: float
) -> tuple[Array, Array]:
    """(prefill, decode) instances, of one broadcast shape; no prefill where the budget holds no pair.

    one_p, one_d: requests per second that one instance carries; cost_p, cost_d: what it costs, in the
    budget's unit.
    """
    most = left(budget, 1.0, cost_d, cost_p)
    # More prefill carries more until what is left for decode carries less: the best is on either side.
    few, many = np.ones_like(most), np.maximum(most, 1.0)
    for _ in range(int(np.ceil(np.log2(many.max()))) + 1):
        middle = np.floor((few + many) / 2.0)
        more = middle * one_p <= left(budget, middle, cost_p, cost_d) * one_d
        few, many = np.where(more, middle, few), np.where(more, many, middle)
    carried = [np.minimum(n * one_p, left(budget, n, cost_p, cost_d) * one_d) for n in (few, many)]
    prefill = np.where(carried[0] >= carried[1], few, many)
    return np.where(most >= 1.0, prefill, 0.0), left(budget, prefill, cost_p, cost_d)


def left(budget: float, count: Array | float, own: Array | float, other: Array | float) -> Array:
    """Instances of the other pool that a budget still holds beside that many of one's own."""
    return np.asarray(np.maximum(np.floor((budget - count * own) / other + 1e-9), 0.0))
