"""Vectorised search for the largest load that still fits, and for the load that meets a target."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Scores = Callable[[Array], tuple[Array, ...]]
"""Of a load, limit by limit: at least zero where it is held, nearly straight over log load."""

_RUNGS = (14, 8)
_FEW = 64
"""Up to so many searches a call costs its overhead, and a ladder of loads little more than one load."""
_SATURATED = (-3.0, 9.2)
"""Beyond, a score says no more than that it is far from zero."""
_FALL = 4.0
"""A score of misses falls by about that much over a factor e of load; one of room by one."""
_SLOWEST = 0.02
"""Of scores over log x: flatter ones say nothing of where they turn."""
_BEYOND = 1.15
_ASIDE = 0.03
"""A first step goes so many times as far as the score says, and this much further: to the other side."""
_STRIDE = 1.0
_GROWTH = 2.5
"""A later step goes no further than this in log x, or so many times as far as the one before."""
_CLOSE = 0.25
"""Of the precision asked for: a next step as short ends the search."""
_PATIENCE = 9
"""Calls after which every third halves what is left: a score that jumps is not straight anywhere."""
_LEAST_PROBE = 0.05
"""Of the whole range in log x: a first guess is no nearer to its bottom, which is known."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long `largest` searches: so many calls at most, or until log x is known within so much for all but
    a share `left`. guess: where the scores are taken to be zero, else a little below. probe: the first call
    is at the least load. reach: how far in log x from a guess the second is at most.
    """

    calls: int
    within: float
    left: float
    guess: bool
    probe: bool
    reach: float


EXACT = Effort(60, 1e-7, 0.0, guess=False, probe=False, reach=0.12)
"""For a verdict."""
ROUGH = Effort(7, 1e-2, 0.02, guess=True, probe=True, reach=0.6)
"""For many cells."""
NEARBY = Effort(6, 1e-2, 0.02, guess=True, probe=True, reach=0.12)
"""The same from a guess between their neighbours."""


@dataclass(frozen=True, eq=False)
class Largest:
    """x: the largest that fits, the least there is where none does. reserve: the lowest score at the least x;
    where that was not worked out, 1 where something fits and -1 where nothing.
    """

    x: Array
    fits: Mask
    reserve: Array


def misses_score(attained: Array, needed: Array | float) -> Array:
    """A score for `largest`: the logarithm of the misses allowed over those there are.

    Misses grow by some factor with each step of load, so this is nearly straight around its root.
    """
    spare = np.maximum(1.0 - needed, 1e-9)
    return np.asarray(np.log(spare / np.maximum(1.0 - attained, 1e-4 * spare)))


def room_score(used: Array) -> Array:
    """A score for `largest`: the logarithm of what there is over what is used; used: as a share of it."""
    return np.asarray(-np.log(np.maximum(used, 1e-9)))


def lowest(scores: tuple[Array, ...]) -> Array:
    """Of all limits."""
    return np.asarray(reduce(np.minimum, scores))


def largest(
    scores: Scores, low: Array, high: Array, effort: Effort = EXACT, near: Array | None = None
) -> Largest:
    """The largest x in [low, high] at which no score is below zero, for scores that fall.

    low and high have the shape that scores broadcast to. near: a guess; one far off costs calls, no more.
    Each limit's score is followed on its own line through the last two loads tried, so that it does not
    matter where another limit takes over; the first that turns negative is where the next load is tried.
    """
    within = max(effort.within, 8.0 * float(np.finfo(low.dtype).eps))
    bottom, top = np.log(low), np.log(high)
    seen = _Seen(scores, low.shape, low.dtype)
    a, b, calls = bottom.copy(), top.copy(), effort.calls
    no_a, no_b = np.ones(low.shape, dtype=bool), np.ones(low.shape, dtype=bool)
    lost = np.zeros(low.shape, dtype=bool)
    before: tuple[Array, Array] | None = None
    if near is not None:
        guess = np.where(near > 0.0, near, np.exp(0.5 * (bottom + top)))
        at = np.log(np.minimum(np.maximum(guess, low), high))
    else:
        at = 0.5 * (bottom + top)
    if near is None and low.size <= _FEW and low.shape[-2:-1] == (1,):
        a, value_a, b, value_b = _ladder(seen, bottom, top)
        no_a, no_b = b <= bottom, a >= top
        before = a, value_a
        at = _inside(b + _step(before, b, value_b), a, b, no_a, no_b, within)
        calls -= len(_RUNGS)
    elif effort.probe:
        seen.learn(seen.raw(bottom))
        lost = seen.reserve < 0.0
        no_a, calls = lost.copy(), calls - 1
        at = np.maximum(at, bottom + _LEAST_PROBE * (top - bottom))
    root = at
    for call in range(calls):
        value = seen.at(at)
        good = value.min(axis=0) >= 0.0
        wide = b > a
        np.copyto(a, at, where=good & wide)
        np.copyto(b, at, where=~good & wide)
        no_a &= ~good
        no_b &= good
        step = _step(before, at, value, effort.reach)
        root = np.minimum(np.maximum(at + step, a), b)
        known = (b - a <= within) | lost
        if before is None:
            step = _BEYOND * step + np.where(good, _ASIDE, -_ASIDE)
        else:
            known |= ~no_a & (np.abs(root - at) <= _CLOSE * within)
        if np.count_nonzero(known) >= (1.0 - effort.left) * known.size:
            break
        # As long as none fits, aim a little below, at one that does.
        to = _inside(at + step - no_a * within, a, b, no_a, no_b, within)
        if call >= _PATIENCE and call % 3 == 0:
            to = np.where(no_a | no_b, to, 0.5 * (a + b))
        before, at = (at, value), np.where(known & ~lost, root, to)
    if not effort.guess:
        root = np.maximum(a, root - (0.5 if effort.left else 1.0) * within)
    x = np.exp(np.where(no_a | no_b, a, root))
    reserve = np.where(no_a, -1.0, 1.0) if seen.idle is None else seen.reserve
    return Largest(np.where(a >= top, high, np.where(no_a, low, x)), ~no_a, reserve)


class _Seen:
    """Scores stacked, (limits, ...), over log x, in what the search sees of them.

    Some requests miss whatever the load is. Once it is known how many do, only the others count: their
    misses, not all, grow by a factor with each step of load.
    """

    def __init__(self, scores: Scores, shape: tuple[int, ...], kind: np.dtype[np.float64]) -> None:
        self._scores, self._shape, self._kind = scores, shape, kind
        self.idle: Array | None = None
        self.reserve = np.zeros(shape, dtype=kind)

    def at(self, x: Array) -> Array:
        return self.shaped(self.raw(x))

    def shaped(self, values: Array) -> Array:
        if self.idle is not None:
            beyond = (np.exp(-values[0]) - self.idle) / (1.0 - self.idle)
            values[0] = -np.log(np.maximum(beyond, 1e-4))
        return np.minimum(np.maximum(values, _SATURATED[0]), _SATURATED[1])

    def learn(self, values: Array) -> None:
        """values: at the least load."""
        self.reserve = values.min(axis=0)
        self.idle = np.where(self.reserve < 0.0, 0.0, np.exp(-np.maximum(values[0], 1e-6)))

    def raw(self, x: Array) -> Array:
        found = self._scores(np.exp(x))
        values = np.empty((len(found), *np.broadcast_shapes(x.shape, self._shape)), dtype=self._kind)
        for row, each in zip(values, found, strict=True):
            row[...] = each
        return values


def _step(before: tuple[Array, Array] | None, at: Array, value: Array, reach: float = np.inf) -> Array:
    """From log x to where the first of the scores is zero, on the line from the load before."""
    if before is None:
        fall = np.array([_FALL, *[1.0] * (len(value) - 1)], dtype=value.dtype)
        step = (value / fall.reshape(-1, *[1] * at.ndim)).min(axis=0)
        return np.asarray(np.minimum(np.maximum(step, -reach), reach))
    moved = at - before[0]
    fall = np.maximum((before[1] - value) / np.where(moved == 0.0, 1.0, moved), _SLOWEST)
    most = np.maximum(_GROWTH * np.abs(moved), _STRIDE)
    return np.asarray(np.minimum(np.maximum((value / fall).min(axis=0), -most), most))


def _inside(x: Array, a: Array, b: Array, no_a: Mask, no_b: Mask, within: float) -> Array:
    """x between a and b, half of `within` away from an end that was tried; the middle if it lies outside."""
    x = np.where(((x > a - within) | no_a) & ((x < b + within) | no_b), x, 0.5 * (a + b))
    aside = np.minimum(0.5 * within, 0.5 * (b - a))
    return np.asarray(np.minimum(np.maximum(x, a + ~no_a * aside), b - ~no_b * aside))


def _ladder(seen: _Seen, bottom: Array, top: Array) -> tuple[Array, Array, Array, Array]:
    """(a, its scores, b, its scores): neighbouring loads between which a score turns negative; both are the
    bottom where none fits, the top where all do.
    """
    share = np.linspace(0.0, 1.0, _RUNGS[0])[:, None]
    x = bottom + share * (top - bottom)
    values = seen.raw(x)
    seen.learn(values[..., :1, :])
    value = seen.shaped(values)
    for rungs in _RUNGS[1:]:
        a, value_a, b, value_b = _turn(x, value)
        share = np.arange(1.0, rungs + 1.0)[:, None] / (rungs + 1.0)
        between = a + share * (b - a)
        x = np.concatenate((a, between, b), axis=-2)
        value = np.concatenate((value_a, seen.at(between), value_b), axis=-2)
    return _turn(x, value)


def _turn(x: Array, value: Array) -> tuple[Array, Array, Array, Array]:
    """The last rung that fits before the first that does not, and that one."""
    bad = ~(value.min(axis=0) >= 0.0)
    first = np.where(bad.any(axis=-2), bad.argmax(axis=-2), bad.shape[-2])[..., None, :]
    at = np.minimum(np.maximum(first - 1, 0), bad.shape[-2] - 1)
    after = np.minimum(first, bad.shape[-2] - 1)
    parts = [
        np.take_along_axis(of, index if of is x else index[None], axis=-2)
        for index in (at, after)
        for of in (x, value)
    ]
    return parts[0], parts[1], parts[2], parts[3]


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
