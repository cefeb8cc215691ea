"""Vectorised search for the largest load that still fits, and for the load that meets a target."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def largest(score: Callable[[Array], Array], low: Array, high: Array, iterations: int) -> tuple[Array, Array]:
    """(x, fits): the largest x in [low, high] with score(x) ≥ 0, for a score that falls; log bisection and one
    linear step. Where even low does not fit, x is low and fits is false.

    low and high have the shape score returns.
    """
    at_low, at_high = score(low), score(high)
    fits, open_end = at_low >= 0.0, at_high >= 0.0
    log_low, log_high = np.log(low), np.log(high)
    score_low, score_high = at_low, at_high
    for _ in range(iterations):
        middle = 0.5 * (log_low + log_high)
        value = score(np.exp(middle))
        good = value >= 0.0
        log_low, score_low = np.where(good, middle, log_low), np.where(good, value, score_low)
        log_high, score_high = np.where(good, log_high, middle), np.where(good, score_high, value)
    gap = np.maximum(score_low - score_high, 1e-12)
    share = np.clip(score_low / gap, 0.0, 1.0)
    found = np.exp(log_low + share * (log_high - log_low))
    return np.where(open_end, high, np.where(fits, found, low)), fits


def meet(value: Callable[[Array], Array], target: Array, low: Array, high: Array) -> Array:
    """x in [low, high] with value(x) = target, for a rising value; Illinois' false position in logarithms.

    Converges to about 1e-14 relative in a dozen evaluations; clamps where the target lies outside.
    """
    a, b = np.log(low), np.log(high)
    goal = np.log(target)
    fa, fb = np.log(value(low)) - goal, np.log(value(high)) - goal
    a, fa = np.where(fb < 0.0, b, a), np.where(fb < 0.0, 0.0, fa)
    b, fb = np.where(fa > 0.0, a, b), np.where(fa > 0.0, 0.0, fb)
    for _ in range(60):
        gap = fb - fa
        x = np.where(np.abs(gap) > 0.0, (a * fb - b * fa) / np.where(gap == 0.0, 1.0, gap), a)
        x = np.where((x - a) * (x - b) <= 0.0, x, 0.5 * (a + b))
        fx = np.log(value(np.exp(x))) - goal
        if np.all((np.abs(fx) < 2e-15) | (np.abs(b - a) < 1e-15)):
            break
        same = np.sign(fx) == np.sign(fb)
        a, fa = np.where(same, a, b), np.where(same, 0.5 * fa, fb)
        b, fb = x, fx
    return np.asarray(np.exp(x))
