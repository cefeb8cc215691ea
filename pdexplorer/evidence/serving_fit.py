"""The few numbers between kernel times and serving, fitted to measured runs and scored on others.

A ratio for each group of kernels, a ratio of compute for each family and format, one for young engines, what
a request costs by engine and class of model, and how many drafts hold. What is brought down is the published
error itself, |predicted / measured - 1|, of TTFT and TPOT together, rounded where it is small; each number is
pulled towards where it starts, and a group of many runs counts as its square root.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.evidence.serving_points import ServingPoint
from pdexplorer.evidence.serving_predict import Served, ServingNumbers, replay_serving, with_waits
from pdexplorer.evidence.serving_steps import Runs, closed_form_ms, collect_runs, group_of, pick
from pdexplorer.evidence.serving_waits import tokens_per_step
from pdexplorer.physics.serving import NUMBERS, KernelRatios, ServingRatios

Floats = NDArray[np.float64]

_START_REQUEST_S = 0.06
_START_ACCEPTANCE = 0.7
_MOST_ACCEPTANCE = 0.97
_SPREAD = MappingProxyType(
    {**dict.fromkeys(NUMBERS, 0.5), "product_weights": 0.2, "expert_weights": 0.3, "cache": 0.3}
)
_FORMAT_SPREAD, _YOUNG_SPREAD, _REQUEST_SPREAD, _ACCEPTANCE_SPREAD = 0.3, 0.5, 0.9, 0.3
_SMALL_ERROR = 0.12
_USUAL_ERROR = 0.15
_FULL_WEIGHT_RUNS = 40
_STEPS = 12
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


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where each number stands among the fitted logarithms."""

    formats: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def spreads(self) -> Floats:
        """How far each plausibly lies from its start."""
        return np.array(
            [_SPREAD[name] for name in NUMBERS]
            + [_FORMAT_SPREAD] * len(self.formats)
            + [_YOUNG_SPREAD]
            + [_REQUEST_SPREAD] * len(self.keys)
            + [_ACCEPTANCE_SPREAD]
        )

    def split(self, theta: Floats) -> tuple[Floats, Floats, float, Floats, float]:
        """(kernel ratios, compute by format, young, request costs in s, acceptance)."""
        first, second = len(NUMBERS), len(NUMBERS) + len(self.formats)
        values = np.exp(theta)
        acceptance = min(_START_ACCEPTANCE * float(values[-1]), _MOST_ACCEPTANCE)
        requests = _START_REQUEST_S * values[second + 1 : -1]
        return values[:first], values[first:second], float(values[second]), requests, acceptance


def references(points: Sequence[ServingPoint], catalog: Catalog | None = None) -> References:
    """Replays under neutral ratios; no measured time enters."""
    catalogue = catalog or load_catalog()
    replays = replay_serving(points, catalogue, ServingRatios())
    return References(points, replays, collect_runs(points, replays, catalogue), catalogue)


def fit_serving(
    known: References, leave_out: Sequence[tuple[str, str]] = (), source: str = "serving runs"
) -> ServingFit:
    """All numbers, from the runs whose (model, system) is not left out and that are no named outliers. A
    format or kind of request no run is left of stays where the others put it.
    """
    runs = known.runs
    used = runs.use & ~np.isin(runs.groups, ["|".join(group) for group in leave_out])
    layout = _Layout(tuple(sorted(set(runs.formats[used]))), tuple(sorted(set(runs.keys[used]))))
    theta = _minimum(runs, used, layout)
    kernels, formats, age, requests, acceptance = layout.split(theta)
    errors = np.abs(_predicted(runs, layout, theta)[1] / runs.tpot_ms - 1.0)[used]
    ratios = ServingRatios(
        kernels=KernelRatios(*map(float, kernels)),
        compute_by_format=MappingProxyType(dict(zip(layout.formats, map(float, formats), strict=True))),
        young=age,
        kind="fitted",
        source=source,
        points=int(used.sum()),
        median_error_fraction=round(float(np.median(errors)), 4),
        p90_error_fraction=round(float(np.quantile(errors, 0.9)), 4),
        spread_fraction=round(float(np.sqrt(np.mean(np.minimum(errors, 0.5) ** 2))), 4),
    )
    request_s = MappingProxyType(dict(zip(layout.keys, map(float, requests), strict=True)))
    numbers = ServingNumbers(ratios, request_s, acceptance)
    return ServingFit(numbers, numbers.count, int(used.sum()))


def held_out(known: References, report: Callable[[str], None] = lambda text: None) -> list[Served]:
    """Every run predicted by a fit that has not seen its (model, system)."""
    results: list[Served] = list(known.replays)
    for group in sorted({group_of(point) for point in known.points}):
        rows = [row for row, point in enumerate(known.points) if group_of(point) == group]
        numbers = fit_serving(known, [group]).numbers
        own = [known.points[row] for row in rows]
        replays = replay_serving(own, known.catalog, numbers.ratios)
        for row, point, raw in zip(rows, own, replays, strict=True):
            results[row] = with_waits(point, raw, known.catalog, numbers)
        report(f"left out {group[0]} on {group[1]}: {len(rows)} runs")
    return results


def _kernel_ratios(runs: Runs, layout: _Layout, theta: Floats) -> KernelRatios:
    kernels, formats, age, _, _ = layout.split(theta)
    slower = np.where(runs.young, age, 1.0)
    by_format = dict(zip(layout.formats, formats, strict=True))
    own = np.array([by_format.get(name, 1.0) for name in runs.formats])
    values = {name: value * slower for name, value in zip(NUMBERS, kernels, strict=True)}
    values["compute"] = values["compute"] * own
    return KernelRatios(**values, overhead=slower)


def _predicted(
    runs: Runs, layout: _Layout, theta: Floats, kernels: KernelRatios | None = None
) -> tuple[Floats, Floats, Floats]:
    """(TTFT, TPOT, the request's cost in it), milliseconds."""
    _, _, _, requests, acceptance = layout.split(theta)
    ratios = kernels or _kernel_ratios(runs, layout, theta)
    step, prompt, alone = (np.empty_like(runs.tpot_ms) for _ in range(3))
    for part in runs.parts:
        step[part.where], prompt[part.where], alone[part.where] = closed_form_ms(
            part, pick(ratios, part.where)
        )
    by_key = dict(zip(layout.keys, requests, strict=True))
    usual = float(np.exp(np.mean(np.log(requests))))
    request = 1e3 * np.array([by_key.get(key, usual) for key in runs.keys])
    tokens = np.array([tokens_per_step(int(draft), acceptance) for draft in runs.drafts])
    ttft = request + prompt + runs.waited_steps * step + runs.together * alone
    return ttft, step / tokens, request


def _minimum(runs: Runs, used: NDArray[np.bool_], layout: _Layout) -> Floats:
    """Damped Gauss-Newton on the relative errors, each |e| rounded to e² below a small one."""
    spreads = layout.spreads
    counts = {group: int(np.sum(used & (runs.groups == group))) for group in set(runs.groups)}
    shares = np.array([min(1.0, np.sqrt(_FULL_WEIGHT_RUNS / max(counts[g], 1))) for g in runs.groups])
    weights = np.concatenate([used * ~runs.walled * shares, used * shares]) / _USUAL_ERROR**2
    measured = np.log(np.concatenate([runs.ttft_ms, runs.tpot_ms]))

    def logs(theta: Floats, kernels: KernelRatios | None = None) -> Floats:
        found: Floats = np.log(np.concatenate(_predicted(runs, layout, theta, kernels)[:2])) - measured
        return found

    def cost(theta: Floats, residual: Floats) -> float:
        error = np.expm1(np.minimum(residual, 3.0)) / _SMALL_ERROR
        total = weights @ (_SMALL_ERROR**2 * (np.sqrt(1.0 + error**2) - 1.0))
        return float(total + 0.5 * np.sum((theta / spreads) ** 2))

    theta = np.zeros_like(spreads)
    residual = logs(theta)
    best, damping = cost(theta, residual), 1e-2
    for _ in range(_STEPS):
        jacobian = _jacobian(runs, layout, theta, residual, logs)
        bounded = np.minimum(residual, 3.0)
        error = np.expm1(bounded)
        pull = weights / np.sqrt(1.0 + (error / _SMALL_ERROR) ** 2)
        curvature = jacobian.T @ ((pull * np.exp(2 * bounded))[:, None] * jacobian) + np.diag(spreads**-2)
        gradient = jacobian.T @ (pull * error * np.exp(bounded)) + theta / spreads**2
        for _ in range(6):
            damped = curvature + damping * np.diag(np.diag(curvature))
            trial = theta + np.clip(-np.linalg.solve(damped, gradient), -1.0, 1.0)
            after = logs(trial)
            value = cost(trial, after)
            if value < best:
                break
            damping *= 5.0
        else:
            break
        converged = best - value < 2e-4 * best
        theta, residual, best, damping = trial, after, value, max(damping / 5.0, 1e-6)
        if converged:
            break
    return theta


def _jacobian(
    runs: Runs, layout: _Layout, theta: Floats, residual: Floats, logs: Callable[..., Floats]
) -> Floats:
    """∂ log predicted / ∂ each logarithm. The compute ratios of formats share one evaluation, each run having
    one format; requests' costs are known in closed form.
    """
    columns = np.zeros((residual.size, theta.size))
    ratios = _kernel_ratios(runs, layout, theta)
    slower = ratios.times(np.exp(_NUDGE))
    for place, name in enumerate(NUMBERS):
        nudged = KernelRatios(
            **{n: getattr(slower if n == name else ratios, n) for n in KernelRatios.__slots__}
        )
        columns[:, place] = (logs(theta, nudged) - residual) / _NUDGE
    compute = columns[:, NUMBERS.index("compute")]
    start = len(NUMBERS)
    for place, name in enumerate(layout.formats):
        columns[:, start + place] = compute * np.tile(runs.formats == name, 2)
    start += len(layout.formats)
    columns[:, start] = (logs(theta, slower) - residual) / _NUDGE * np.tile(runs.young, 2)
    ttft, _, request = _predicted(runs, layout, theta, ratios)
    for place, key in enumerate(layout.keys):
        columns[: ttft.size, start + 1 + place] = request / ttft * (runs.keys == key)
    moved = theta.copy()
    moved[-1] += _NUDGE
    columns[:, -1] = (logs(moved, ratios) - residual) / _NUDGE
    return columns
