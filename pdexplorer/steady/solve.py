"""Vectorised search for the largest load that still fits, and for the load that meets a target."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


_HALVINGS = 3
_EXACT_ITERATIONS = 12
"""From here on x is known to fit; with fewer it is the best guess between what fits and what does not."""


def balanced(attained: Array, needed: float, room: Array) -> Array:
    """A score for `largest`: attainment over what is needed, and any other room, negative where short.

    Misses beyond as many again as the spare are cut off, so that both ends of a bracket weigh alike.
    """
    spare = 1.0 - needed
    return np.maximum(np.minimum(attained - needed, room * spare), -spare)


def largest(
    score: Callable[[Array], Array], low: Array, high: Array, iterations: int, sure: bool = False
) -> tuple[Array, NDArray[np.bool_]]:
    """(x, fits): the largest x in [low, high] with score(x) ≥ 0, for a score that falls.

    A few halvings of log x, then Illinois' false position. Where even low does not fit, x is low and fits
    is false. low and high have the shape score returns. sure: a guess after few iterations is checked, and
    where it does not fit the largest x that was seen to is taken.
    """
    score_low, score_high = score(low), score(high)
    fits, open_end = score_low >= 0.0, score_high >= 0.0
    log_low, log_high = np.log(low), np.log(high)
    weight_low, weight_high = score_low, score_high
    above = np.zeros_like(score_low)
    for step in range(iterations):
        share = 0.5 if step < _HALVINGS else _crossing(weight_low, weight_high)
        at = log_low + share * (log_high - log_low)
        value = score(np.exp(at))
        good = value >= 0.0
        # Illinois: an end that stays twice counts half, so that the other end moves too.
        weight_high = np.where(good, np.where(above > 0.0, 0.5 * weight_high, weight_high), value)
        weight_low = np.where(good, value, np.where(above < 0.0, 0.5 * weight_low, weight_low))
        score_low, score_high = np.where(good, value, score_low), np.where(good, score_high, value)
        log_low, log_high = np.where(good, at, log_low), np.where(good, log_high, at)
        above = np.where(good, np.int8(1), np.int8(-1))
    if iterations < _EXACT_ITERATIONS:
        guess = log_low + _crossing(score_low, score_high) * (log_high - log_low)
        log_low = np.where(score(np.exp(guess)) >= 0.0, guess, log_low) if sure else guess
    return np.where(open_end, high, np.where(fits, np.exp(log_low), low)), np.asarray(fits)


def _crossing(low: Array, high: Array) -> Array:
    """Where a straight line between the scores of the two ends is zero, away from the ends."""
    return np.asarray(np.minimum(np.maximum(low / np.maximum(low - high, 1e-12), 0.02), 0.98))


def meet(value: Callable[[Array], Array], target: Array, low: Array, high: Array) -> Array:
    """x in [low, high] with value(x) = target, for a rising value; Illinois' false position in logarithms.

    Converges to about 1e-13 relative in a dozen evaluations; clamps where the target lies outside.
    """
    a, b = np.log(low), np.log(high)
    goal = np.log(target)
    fa, fb = np.log(value(low)) - goal, np.log(value(high)) - goal
    a, fa = np.where(fb < 0.0, b, a), np.where(fb < 0.0, 0.0, fa)
    b, fb = np.where(fa > 0.0, a, b), np.where(fa > 0.0, 0.0, fb)
    for _ in range(60):
        gap = fb - fa
        with np.errstate(invalid="ignore"):  # an end beyond saturation is infinite: halve instead
            x = np.where(np.abs(gap) > 0.0, (a * fb - b * fa) / np.where(gap == 0.0, 1.0, gap), a)
        x = np.where((x - a) * (x - b) <= 0.0, x, 0.5 * (a + b))
        fx = np.log(value(np.exp(x))) - goal
        if np.all((np.abs(fx) < 1e-13) | (np.abs(b - a) < 1e-15)):
            break
        same = np.sign(fx) == np.sign(fb)
        a, fa = np.where(same, a, b), np.where(same, 0.5 * fa, fb)
        b, fb = x, fx
    return np.asarray(np.exp(x))
