"""A joint fit of a few numbers over many chips, engines and formats: bases, and effects that rows ask for.

All rows of a section are fitted together in log space. Every number may have an effect of each measured chip
family, chip, engine, format and engine-and-format; each is pulled towards none. Then effects that explain too
little are dropped, the least useful first, and the rest is fitted again, until all that is left is needed.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.effects import BASE, bounded
from pdexplorer.evidence.fitted_numbers import RESIDUAL, Numbers

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

WORTH_ROWS = 20.0
"""An effect stays where dropping it would cost as much as this many rows each off by RESIDUAL more."""

_HUBER = 0.1
"""Log ratio beyond which a row's pull grows no further, so that outliers of a table do not bend the rest."""

_PRIOR_SHARE = 1.0 / 40.0
"""A prior weighs at least one row, and this share of the rows it is about: what the form cannot describe
must not drag a number away by sheer count."""

_STEPS = 25
_NUDGE = 1e-5


@dataclass(frozen=True, slots=True)
class Observed:
    """Rows of one chip, engine and format: measured seconds, weights, and seconds predicted from numbers."""

    levels: Mapping[str, str]
    measured_s: Floats
    weights: Floats
    predict: Callable[[Mapping[str, float]], Floats]


def fit_effects(
    numbers: Numbers, observed: Sequence[Observed], worth_rows: float = WORTH_ROWS
) -> dict[str, dict[str, float]]:
    """Factors by number and level, `base` first: as catalog.effects stores them."""
    fit = _EffectFit(numbers, observed)
    theta, kept = fit.start, np.ones(len(fit.keys), dtype=bool)
    while True:
        theta, curvature = fit.descend(theta, kept)
        needed, nearest = _prune(
            (theta - fit.start)[kept], curvature, fit.is_base[kept], 0.5 * RESIDUAL**2 * worth_rows
        )
        if needed.all():
            break
        theta = fit.start.copy()
        theta[kept] += nearest
        kept[kept] = needed
    theta = fit.within_bounds(theta, kept)
    found: dict[str, dict[str, float]] = {name: {} for name in fit.names}
    for (name, level), value, keep in zip(fit.keys, theta, kept, strict=True):
        if keep:
            found[name][level] = float(np.exp(value))
    return found


def _prune(
    moved: Floats, curvature: Floats, is_base: NDArray[np.bool_], threshold: float
) -> tuple[NDArray[np.bool_], Floats]:
    """Which parameters to keep, and where the others then lie, on the quadratic around the full fit."""
    inverse, moved = np.linalg.inv(curvature), moved.copy()
    kept = np.ones(moved.size, dtype=bool)
    while True:
        cost = np.where(kept & ~is_base, moved**2 / (2 * np.maximum(np.diag(inverse), 1e-30)), np.inf)
        least = int(np.argmin(cost))
        if not cost[least] < threshold:
            return kept, moved
        column = inverse[:, least] / inverse[least, least]
        moved = moved - column * moved[least]
        inverse = inverse - np.outer(column, inverse[least])
        moved[least], kept[least] = 0.0, False


class _EffectFit:
    """Levenberg–Marquardt over log bases and effects, one numeric derivative a number, not a parameter."""

    def __init__(self, numbers: Numbers, observed: Sequence[Observed]) -> None:
        self.observed = observed
        self.names = list(numbers.start)
        rows: dict[tuple[str, str], int] = {}
        total = sum(one.measured_s.size for one in observed)
        for one in observed:
            for name in self.names:
                for kind in numbers.effects:
                    key = (name, f"{kind} {one.levels[kind]}")
                    rows[key] = rows.get(key, 0) + one.measured_s.size
        bases = [(name, BASE) for name in self.names]
        self.keys = bases + [key for key, count in rows.items() if count < total]
        sizes = np.array([rows.get(key, total) for key in self.keys])
        spreads = np.array([numbers.spread[name] for name, _ in self.keys])
        self.pull = np.maximum(1.0, sizes * _PRIOR_SHARE) * (RESIDUAL / spreads) ** 2
        self.is_base = np.array([level == BASE for _, level in self.keys])
        self.start = np.where(self.is_base, [np.log(numbers.start[name]) for name, _ in self.keys], 0.0)
        self.number = np.array([self.names.index(name) for name, _ in self.keys])
        self.weights = np.concatenate([one.weights for one in observed])

    def descend(self, theta: Floats, kept: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """The minimum over the kept parameters, and the curvature of the cost there."""
        live = np.flatnonzero(kept)
        active = [self._active(one, live) for one in self.observed]
        errors = self._errors(theta, active)
        best, damping = self._cost(theta, live, errors), 1e-2
        curvature = np.diag(self.pull[live])
        for _ in range(_STEPS):
            curvature, gradient = self._slopes(theta, live, active, errors)
            for _ in range(8):
                damped = curvature + damping * np.diag(np.diag(curvature))
                trial = theta.copy()
                trial[live] += np.clip(-np.linalg.solve(damped, gradient), -1.0, 1.0)
                trial_errors = self._errors(trial, active)
                value = self._cost(trial, live, trial_errors)
                if value < best:
                    break
                damping *= 4.0
            else:
                break
            converged = best - value < 1e-4 * best
            theta, errors, best = trial, trial_errors, value
            damping = max(damping / 6.0, 1e-9)
            if converged:
                break
        return theta, curvature

    def within_bounds(self, theta: Floats, kept: NDArray[np.bool_]) -> Floats:
        """Effects without what their bound takes back everywhere: the same numbers, told as they are."""
        theta, live = theta.copy(), np.flatnonzero(kept)
        active = [self._active(one, live) for one in self.observed]
        for index in live[~self.is_base[live]]:
            own = [indices for indices in active if index in indices]
            name = self.names[self.number[index]]
            over = [self._log_numbers(theta, indices)[name] for indices in own]
            held = [np.log(self._numbers(theta, indices)[name]) for indices in own]
            theta[index] -= min(np.subtract(over, held))
        return theta

    def _active(self, one: Observed, live: Indices) -> Indices:
        """Which of the live parameters bear on these rows."""
        levels = {BASE, *(f"{kind} {level}" for kind, level in one.levels.items())}
        return np.array([index for index in live if self.keys[index][1] in levels])

    def _log_numbers(self, theta: Floats, active: Indices) -> dict[str, float]:
        logs = np.zeros(len(self.names))
        np.add.at(logs, self.number[active], theta[active])
        return dict(zip(self.names, logs.tolist(), strict=True))

    def _numbers(self, theta: Floats, active: Indices) -> dict[str, float]:
        logs = self._log_numbers(theta, active)
        return bounded({name: math.exp(value) for name, value in logs.items()})

    def _errors(self, theta: Floats, active: Sequence[Indices]) -> list[Floats]:
        return [
            _log(one.predict(self._numbers(theta, indices))) - np.log(one.measured_s)
            for one, indices in zip(self.observed, active, strict=True)
        ]

    def _cost(self, theta: Floats, live: Indices, errors: Sequence[Floats]) -> float:
        size = np.abs(np.concatenate(errors))
        huber = np.where(size < _HUBER, 0.5 * size**2, _HUBER * (size - 0.5 * _HUBER))
        moved = (theta - self.start)[live]
        return float(self.weights @ huber + 0.5 * self.pull[live] @ moved**2)

    def _slopes(
        self, theta: Floats, live: Indices, active: Sequence[Indices], errors: Sequence[Floats]
    ) -> tuple[Floats, Floats]:
        """Gauss–Newton curvature and gradient over the live parameters. Numbers are nudged down, so that one
        at its bound has a slope too.
        """
        place = {int(index): position for position, index in enumerate(live)}
        curvature = np.diag(self.pull[live])
        gradient = self.pull[live] * (theta - self.start)[live]
        for one, indices, error in zip(self.observed, active, errors, strict=True):
            values = self._numbers(theta, indices)
            base = error + np.log(one.measured_s)
            slopes = np.stack(
                [
                    (base - _log(one.predict({**values, name: values[name] * (1.0 - _NUDGE)}))) / _NUDGE
                    for name in self.names
                ],
                axis=1,
            )
            scale = one.weights * np.minimum(1.0, _HUBER / np.maximum(np.abs(error), 1e-12))
            of_number = self.number[indices]
            own = np.array([place[int(index)] for index in indices])
            curvature[np.ix_(own, own)] += (slopes.T @ (scale[:, None] * slopes))[
                np.ix_(of_number, of_number)
            ]
            gradient[own] += (slopes.T @ (scale * error))[of_number]
        return curvature, gradient


def _log(seconds: Floats) -> Floats:
    return np.log(np.maximum(seconds, 1e-300))
