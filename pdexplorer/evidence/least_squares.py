"""A small Levenberg–Marquardt fitter for a handful of positive numbers, in log space."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def fit_positive(
    predict: Callable[[Floats], Floats],
    start: Floats,
    measured: Floats,
    *,
    weights: Floats | None = None,
    prior_weights: Floats | None = None,
    robust_fraction: float = 0.1,
    steps: int = 60,
) -> Floats:
    """Positive parameters that bring log(predict) nearest to log(measured).

    Residuals are log ratios, so short and long steps count alike. robust_fraction: beyond this log ratio
    a row's
    pull grows no further (Huber), so that outliers of a table do not bend the rest. prior_weights: pull
    of each
    log parameter towards its start, in rows at the same distance; it settles what the rows do not determine.
    """
    base = np.log(start)
    target = np.log(measured)
    row_weights = np.ones_like(measured) if weights is None else weights
    pull = np.zeros_like(base) if prior_weights is None else prior_weights
    theta = base.copy()
    damping = 1e-2

    def residual(point: Floats) -> Floats:
        return np.log(np.maximum(predict(np.exp(point)), 1e-300)) - target

    def cost(point: Floats, errors: Floats) -> float:
        size = np.abs(errors)
        huber = np.where(
            size < robust_fraction, 0.5 * size**2, robust_fraction * (size - 0.5 * robust_fraction)
        )
        return float(row_weights @ huber + 0.5 * pull @ (point - base) ** 2)

    errors = residual(theta)
    best = cost(theta, errors)
    for _ in range(steps):
        jacobian = np.stack(
            [(residual(theta + nudge) - errors) / 1e-5 for nudge in 1e-5 * np.eye(theta.size)], axis=1
        )
        scale = row_weights * np.minimum(1.0, robust_fraction / np.maximum(np.abs(errors), 1e-12))
        gradient = jacobian.T @ (scale * errors) + pull * (theta - base)
        curvature = jacobian.T @ (scale[:, None] * jacobian) + np.diag(pull)
        for _ in range(8):
            damped = curvature + damping * (np.diag(np.diag(curvature)) + 1e-9 * np.eye(theta.size))
            step = np.clip(-np.linalg.solve(damped, gradient), -1.0, 1.0)
            trial = theta + step
            trial_errors = residual(trial)
            value = cost(trial, trial_errors)
            if value < best:
                break
            damping *= 4.0
        else:
            break
        converged = best - value < 1e-10 * max(best, 1e-12)
        theta, errors, best = trial, trial_errors, value
        damping = max(damping / 6.0, 1e-9)
        if converged:
            break
    return np.exp(theta)
