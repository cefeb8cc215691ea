"""Vectorised search for the largest load that still fits, and for the load that meets a target."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Score = Callable[[Array], Array]

_RUNGS = (14, 8)
_FEW = 64
"""Up to so many searches a call costs its overhead, and a ladder of loads little more than one load."""
_WIDE = 0.4
"""Of log x: a bracket to halve, for scores are straight only near their root."""
_CLOSE = 0.1
"""Of log x: a bracket in which lines are trusted."""
_PATIENCE = 6
"""Calls after which lines are not trusted where they do not close in: at a kink they creep."""
_DEEP = 0.25
"""A score so far below zero says no more than that: past the root misses soon are all there is."""
_REACH = (0.1, 0.5, 2.0, np.inf)
"""Steps of log x away from a guess until the root is surrounded; the last goes to the end."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long `largest` searches: so many calls at most, or until log x is known within so much for all but
    a share `left`. guess: between the largest that fits and the smallest that does not, not the former.
    """

    calls: int
    within: float
    left: float
    guess: bool


EXACT = Effort(60, 1e-7, 0.0, guess=False)
"""For a verdict."""
ROUGH = Effort(7, 1e-2, 0.05, guess=True)
"""For many cells: the guess is some ten times as near as the two."""
NEARBY = Effort(6, 1e-2, 0.05, guess=True)
"""The same from a guess between their neighbours."""


def misses_score(attained: Array, needed: Array | float, room: Array) -> Array:
    """A score for `largest`: the logarithm of the misses allowed over those there are, or other room if less.

    Misses grow by some factor with each step of load, so this is nearly straight around its root.
    """
    spare = np.maximum(1.0 - needed, 1e-9)
    return np.minimum(np.log(spare / np.maximum(1.0 - attained, 1e-4 * spare)), room)


def largest(
    score: Score, low: Array, high: Array, effort: Effort = EXACT, near: Array | None = None
) -> tuple[Array, NDArray[np.bool_]]:
    """(x, fits): the largest x in [low, high] with score(x) ≥ 0, for a score that falls.

    Where even low does not fit, x is low and fits is false. low and high have the shape score returns. near:
    a guess, NaN where there is none; one far off costs calls, no more.
    """
    calls, within = effort.calls, max(effort.within, 8.0 * float(np.finfo(low.dtype).eps))
    bottom, top = np.log(low), np.log(high)
    a, b = bottom, top
    fa = fb = np.zeros_like(bottom)
    no_a = no_b = np.ones(bottom.shape, dtype=bool)
    at = 0.5 * (bottom + top)
    reach: tuple[float, ...] = (0.25 * float(np.max(top - bottom)), np.inf)
    if near is not None:
        at = np.where(near > 0.0, np.log(np.where(near > 0.0, near, 1.0)), at)
        at, reach = np.minimum(np.maximum(at, bottom), top), _REACH
    elif low.size <= _FEW and low.shape[-2:-1] == (1,):
        a, fa, b, fb = _ladder(score, bottom, top)
        no_a, no_b = b <= bottom, a >= top
        at, calls = _between(a, fa, b, fb, within), calls - len(_RUNGS)
    side = np.zeros(bottom.shape, dtype=np.int8)
    weight_a, weight_b = fa, fb
    last = b - a
    stalled = np.full_like(last, np.inf)
    for call in range(calls):
        value = np.maximum(score(np.exp(at)), -_DEEP)
        good = value >= 0.0
        # Anderson and Björck: an end that stays twice counts less, so that the other end moves too.
        before = np.where(good, fa, fb)
        less = 1.0 - value / np.where(before == 0.0, 1.0, before)
        less = np.where(side == np.where(good, 1, -1), np.where(less > 0.0, less, 0.5), 1.0)
        weight_a = np.where(good, value, weight_a * less)
        weight_b = np.where(good, weight_b * less, value)
        a, fa, no_a = np.where(good, at, a), np.where(good, value, fa), no_a & ~good
        b, fb, no_b = np.where(good, b, at), np.where(good, fb, value), no_b & good
        side = np.where(good, np.int8(1), np.int8(-1))
        gap = b - a
        if np.count_nonzero(gap > within) <= effort.left * gap.size:
            break
        creeps = gap > (np.maximum(stalled, _CLOSE) if call < _PATIENCE else 0.5 * last)
        at = np.where(creeps, 0.5 * (a + b), _between(a, weight_a, b, weight_b, within))
        stalled, last = 0.5 * last, gap
        if no_a.any() or no_b.any():
            step = reach[min(call, len(reach) - 1)]
            at = np.where(no_b, np.minimum(a + step, top), np.where(no_a, np.maximum(b - step, bottom), at))
    found = np.where(no_a | no_b, a, _between(a, fa, b, fb, 0.0)) if effort.guess else a
    fits = b > bottom
    return np.where(a >= top, high, np.where(fits, np.exp(found), low)), fits


def _ladder(score: Score, bottom: Array, top: Array) -> tuple[Array, Array, Array, Array]:
    """(a, its score, b, its score): neighbouring loads between which the score turns negative; both are the
    bottom where none fits, the top where all do.
    """
    share = np.linspace(0.0, 1.0, _RUNGS[0])[:, None]
    x = bottom + share * (top - bottom)
    value = np.maximum(score(np.exp(x)), -_DEEP)
    for rungs in _RUNGS[1:]:
        a, fa, b, fb = _turn(x, value)
        share = np.arange(1.0, rungs + 1.0)[:, None] / (rungs + 1.0)
        between = a + share * (b - a)
        x = np.concatenate((a, between, b), axis=-2)
        value = np.concatenate((fa, np.maximum(score(np.exp(between)), -_DEEP), fb), axis=-2)
    return _turn(x, value)


def _turn(x: Array, value: Array) -> tuple[Array, Array, Array, Array]:
    """The last rung that fits before the first that does not, and that one."""
    bad = ~(value >= 0.0)
    first = np.where(bad.any(axis=-2), bad.argmax(axis=-2), bad.shape[-2])[..., None, :]
    at = np.minimum(np.maximum(first - 1, 0), bad.shape[-2] - 1)
    after = np.minimum(first, bad.shape[-2] - 1)
    parts = [np.take_along_axis(of, index, axis=-2) for index in (at, after) for of in (x, value)]
    return parts[0], parts[1], parts[2], parts[3]


def _between(a: Array, fa: Array, b: Array, fb: Array, within: float) -> Array:
    """Where a straight line between the scores of the two ends is zero, half of `within` away from both."""
    gap = b - a
    least = np.minimum(0.5 * within, 0.5 * gap)
    share = np.where(gap > _WIDE, 0.5, fa / np.maximum(fa - fb, 1e-30))
    return np.asarray(a + np.minimum(np.maximum(share * gap, least), gap - least))


def meet(value: Callable[[Array], Array], target: Array, low: Array, high: Array) -> Array:
    """x in [low, high] with value(x) = target, for a rising value; Illinois' false position in logarithms.

    Converges to about 1e-12 relative in a dozen evaluations; clamps where the target lies outside.
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
        if np.all((np.abs(fx) < 1e-12) | (np.abs(b - a) < 1e-15)):
            break
        same = np.sign(fx) == np.sign(fb)
        a, fa = np.where(same, a, b), np.where(same, 0.5 * fa, fb)
        b, fb = x, fx
    return np.asarray(np.exp(x))
