"""The few numbers between kernel times and serving, fitted to measured runs and scored on others.

What is brought down is the published error itself, |predicted / measured - 1|, of TTFT and TPOT together,
rounded where it is small; each effect is pulled towards where it starts, and a group of many runs counts as
its square root.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.evidence.serving_effects import (
    GROUPS,
    Effect,
    acceptance,
    compile_ms,
    effects,
    kernel_ratios,
    levels,
    numbers_of,
    request_ms,
)
from pdexplorer.evidence.serving_points import ServingPoint
from pdexplorer.evidence.serving_predict import Served, ServingNumbers, replay_serving, with_waits
from pdexplorer.evidence.serving_split_fit import with_split
from pdexplorer.evidence.serving_steps import Runs, closed_form, collect_runs, group_of, pick
from pdexplorer.physics.serving import ServingRatios

Floats = NDArray[np.float64]

_SMALL_ERROR = 0.12
_USUAL_ERROR = 0.15
_FULL_WEIGHT_RUNS = 40
_STEPS = 80
_TRIALS = 12
_CALM = 3e-5
_NUDGE = 1e-4


@dataclass(frozen=True, slots=True)
class ServingFit:
    """Fitted numbers, how many they are and to how many runs."""

    numbers: ServingNumbers
    parameters: int
    runs: int


@dataclass(frozen=True, slots=True)
class References:
    """Colocated runs replayed before any fit: what every fit starts from."""

    points: Sequence[ServingPoint]
    replays: Sequence[Served]
    runs: Runs
    catalog: Catalog


def references(points: Sequence[ServingPoint], catalog: Catalog | None = None) -> References:
    """Replays under neutral ratios; no measured time enters."""
    catalogue = catalog or load_catalog()
    replays = replay_serving(points, catalogue, ServingRatios())
    return References(points, replays, collect_runs(points, replays, catalogue), catalogue)


def fit_serving(
    known: References, leave_out: Sequence[tuple[str, str]] = (), source: str = "serving runs"
) -> ServingFit:
    """All numbers, from the runs whose (model, system) is not left out and that are no named outliers."""
    runs = known.runs
    used = runs.use & ~np.isin(runs.groups, ["|".join(group) for group in leave_out])
    found = effects(runs, used)
    theta = _minimum(runs, used, found)
    tpot = _predicted(runs, levels(runs, found, theta))[1]
    errors = np.abs(tpot / runs.tpot_ms - 1.0)[used]
    record = ServingRatios(
        kind="fitted",
        source=source,
        points=int(used.sum()),
        median_error_fraction=round(float(np.median(errors)), 4),
        p90_error_fraction=round(float(np.quantile(errors, 0.9)), 4),
        spread_fraction=round(float(np.sqrt(np.mean(np.minimum(errors, 0.5) ** 2))), 4),
    )
    numbers = numbers_of(runs, found, theta, record)
    return ServingFit(numbers, numbers.count, int(used.sum()))


def held_out(known: References, report: Callable[[str], None] = lambda text: None) -> list[Served]:
    """Every run predicted by a fit that has not seen its (model, system)."""
    results: list[Served] = list(known.replays)
    for group in sorted({group_of(point) for point in known.points}):
        rows = [row for row, point in enumerate(known.points) if group_of(point) == group]
        numbers = fit_serving(known, [group]).numbers
        own = [known.points[row] for row in rows]
        if any(point.prefill is not None for point in own):
            numbers = with_split(known.points, numbers, known.catalog, [group])
        replays = replay_serving(own, known.catalog, numbers.ratios, numbers.split)
        for row, point, raw in zip(rows, own, replays, strict=True):
            results[row] = with_waits(point, raw, known.catalog, numbers)
        report(f"left out {group[0]} on {group[1]}: {len(rows)} runs")
    return results


def _predicted(runs: Runs, sums: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """(TTFT, TPOT), milliseconds."""
    ratios = kernel_ratios(runs, sums)
    held = acceptance(sums)
    drafted = range(1, int(runs.drafts.max()) + 1)
    tokens = sum(((runs.drafts >= k) * held**k for k in drafted), np.ones_like(runs.tpot_ms))
    ttft, tpot = np.empty_like(runs.tpot_ms), np.empty_like(runs.tpot_ms)
    for part in runs.parts:
        where = part.where
        closed = closed_form(part, pick(ratios, where), tokens[where], runs.host_ms[where])
        step = np.where(part.prefill_first, closed.step_ms, closed.tpot_ms * tokens[where])
        waits = runs.waited_steps[where] * step + runs.together[where] * closed.alone_ms
        ttft[where] = closed.ttft_ms + waits
        tpot[where] = closed.tpot_ms
    return request_ms(sums) + ttft + compile_ms(runs, sums), tpot


def _minimum(runs: Runs, used: NDArray[np.bool_], found: tuple[Effect, ...]) -> Floats:
    """Damped Gauss-Newton on the relative errors, each |e| rounded to e² below a small one, until two steps
    in a row gain next to nothing.
    """
    spreads = np.array([effect.spread for effect in found])
    starts = np.array([effect.start for effect in found])
    counts = {group: int(np.sum(used & (runs.groups == group))) for group in set(runs.groups)}
    shares = np.array([min(1.0, np.sqrt(_FULL_WEIGHT_RUNS / max(counts[g], 1))) for g in runs.groups])
    weights = np.concatenate([used * ~runs.walled * shares, used * shares]) / _USUAL_ERROR**2
    measured = np.log(np.concatenate([runs.ttft_ms, runs.tpot_ms]))

    def residuals(sums: Mapping[str, Floats]) -> Floats:
        logs: Floats = np.log(np.concatenate(_predicted(runs, sums))) - measured
        return logs

    def cost(theta: Floats, residual: Floats) -> float:
        error = np.expm1(np.minimum(residual, 3.0)) / _SMALL_ERROR
        total = weights @ (_SMALL_ERROR**2 * (np.sqrt(1.0 + error**2) - 1.0))
        return float(total + 0.5 * np.sum(((theta - starts) / spreads) ** 2))

    theta = starts.copy()
    residual = residuals(levels(runs, found, theta))
    best, damping, calm = cost(theta, residual), 1e-2, 0
    for _ in range(_STEPS):
        jacobian = _jacobian(found, levels(runs, found, theta), residual, residuals)
        bounded = np.minimum(residual, 3.0)
        error = np.expm1(bounded)
        pull = weights / np.sqrt(1.0 + (error / _SMALL_ERROR) ** 2)
        curvature = jacobian.T @ ((pull * np.exp(2 * bounded))[:, None] * jacobian) + np.diag(spreads**-2)
        gradient = jacobian.T @ (pull * error * np.exp(bounded)) + (theta - starts) / spreads**2
        for _ in range(_TRIALS):
            move = -np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), gradient)
            trial = theta + move / max(float(np.max(np.abs(move))), 1.0)
            after = residuals(levels(runs, found, trial))
            value = cost(trial, after)
            if value < best:
                break
            damping *= 4.0
        else:
            break
        calm = calm + 1 if best - value < _CALM * best else 0
        theta, residual, best, damping = trial, after, value, max(damping / 4.0, 1e-7)
        if calm > 1:
            break
    return theta


def _jacobian(
    found: tuple[Effect, ...],
    sums: Mapping[str, Floats],
    residual: Floats,
    residuals: Callable[[Mapping[str, Floats]], Floats],
) -> Floats:
    """∂ log predicted / ∂ each effect: one evaluation a group, as a run follows from its own sums alone."""
    slopes = {
        group: (residuals({**sums, group: sums[group] + _NUDGE}) - residual) / _NUDGE for group in GROUPS
    }
    return np.column_stack(
        [sum(slopes[group] for group in effect.groups) * np.tile(effect.where, 2) for effect in found]
    )
