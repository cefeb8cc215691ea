"""The few numbers between kernel times and serving, fitted to measured runs and scored on others.

Seven ratios for each class of model (physics.serving), then per engine what a request costs before its prompt
is scheduled, and one share of a scheduler's polling interval.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.evidence.least_squares import fit_positive
from pdexplorer.evidence.serving_points import ServingPoint
from pdexplorer.evidence.serving_predict import (
    Served,
    ServingNumbers,
    replay_serving,
    with_waits,
)
from pdexplorer.evidence.serving_setup import admission_steps, named_outlier
from pdexplorer.evidence.serving_steps import Floats, RunBlock, closed_form_ms, group_of, run_blocks
from pdexplorer.physics.serving import CLASSES, NUMBERS, ServingRatios

_START: Mapping[str, float] = {
    "dense_launch_ratio": 0.8,
    "attention_launch_ratio": 0.8,
    "expert_launch_ratio": 0.7,
    "expert_parallel_launch_ratio": 0.3,
    "expert_compute_ratio": 1.0,
    "expert_weights_ratio": 1.0,
    "linear_layer_s": 6e-6,
}
_SPREAD: Mapping[str, float] = {
    "dense_launch_ratio": 0.5,
    "attention_launch_ratio": 0.5,
    "expert_launch_ratio": 0.5,
    "expert_parallel_launch_ratio": 0.6,
    "expert_compute_ratio": 0.35,
    "expert_weights_ratio": 0.2,
    "linear_layer_s": 0.7,
}
_RESIDUAL = 0.08
_REQUEST_S = 0.04
_ADMISSION_FRACTION = 0.6
_REQUEST_SPREAD = 0.8


@dataclass(frozen=True, slots=True)
class ServingFit:
    """Fitted numbers, how many they are and to how many runs."""

    numbers: ServingNumbers
    parameters: int
    runs: int


@dataclass(frozen=True, slots=True)
class References:
    """Colocated runs replayed before any fit: what every fit of ratios starts from."""

    points: Sequence[ServingPoint]
    replays: Sequence[Served]
    blocks: Sequence[RunBlock]
    catalog: Catalog


def references(points: Sequence[ServingPoint], catalog: Catalog | None = None) -> References:
    """Replays under neutral ratios; no measured time enters."""
    catalogue = catalog or load_catalog()
    neutral = {name: ServingRatios() for name in CLASSES}
    replays = replay_serving(points, catalogue, neutral)
    return References(points, replays, run_blocks(points, replays, catalogue), catalogue)


def fit_serving(
    known: References, leave_out: Sequence[tuple[str, str]] = (), full: ServingFit | None = None
) -> ServingFit:
    """All numbers, from the runs whose (model, system) is not left out and that are no named outliers.

    full: a fit to all runs; classes of model it shares with this one are taken from it.
    """
    ratios, parameters, runs = {}, 0, 0
    for name in CLASSES:
        of_class = [b for b in known.blocks if b.model_class == name]
        blocks = [b for b in of_class if b.group not in leave_out]
        same = full is not None and len(blocks) == len(of_class)
        ratios[name] = full.numbers.ratios[name] if full is not None and same else fit_ratios(blocks)
        parameters += len(_free(name)) if blocks else 0
        runs += ratios[name].points
    request, fraction = _fit_waits(known, leave_out)
    numbers = ServingNumbers(ratios, request, fraction)
    return ServingFit(numbers, parameters + len(request) + 1, runs)


def fit_ratios(blocks: Sequence[RunBlock], source: str = "serving runs") -> ServingRatios:
    """The ratios of one class; without a run they stay where they start."""
    if not blocks:
        return _ratios(_START, spread_fraction=0.25, source="no run of this class")
    names = _free(blocks[0].model_class)
    measured = np.concatenate([b.measured_ms[b.use] for b in blocks])
    if not measured.size:
        return _ratios(_START, spread_fraction=0.25, source="no run of this class")
    kept: dict[str, float] = {}  # numbers a class does not have stay neutral

    def trial(theta: Floats) -> ServingRatios:
        found = dict(zip(names, (float(value) for value in theta), strict=True))
        return _ratios({**kept, **found})

    def predict(theta: Floats) -> Floats:
        ratios = trial(theta)
        return np.concatenate([closed_form_ms(b, ratios)[b.use] for b in blocks])

    scale = max(1.0, measured.size / 40.0)
    theta = fit_positive(
        predict,
        np.array([_START[name] for name in names]),
        measured,
        prior_weights=np.array([scale * (_RESIDUAL / _SPREAD[name]) ** 2 for name in names]),
        robust_fraction=0.15,
        steps=8,
    )
    errors = np.abs(predict(theta) / measured - 1.0)
    return replace(
        trial(theta),
        kind="fitted",
        source=source,
        points=int(measured.size),
        median_error_fraction=round(float(np.median(errors)), 4),
        p90_error_fraction=round(float(np.quantile(errors, 0.9)), 4),
        spread_fraction=round(float(np.sqrt(np.mean(np.minimum(errors, 0.5) ** 2))), 4),
    )


def held_out(known: References, report: Callable[[str], None] = lambda text: None) -> list[Served]:
    """Every run predicted by a fit that has not seen its (model, system)."""
    results: list[Served] = list(known.replays)
    full = fit_serving(known)
    for group in sorted({group_of(point) for point in known.points}):
        rows = [row for row, point in enumerate(known.points) if group_of(point) == group]
        numbers = fit_serving(known, [group], full).numbers
        own = [known.points[row] for row in rows]
        replays = replay_serving(own, known.catalog, numbers.ratios)
        for row, point, raw in zip(rows, own, replays, strict=True):
            results[row] = with_waits(point, raw, known.catalog, numbers)
        report(f"left out {group[0]} on {group[1]}: {len(rows)} runs")
    return results


def _ratios(numbers: Mapping[str, float], **record: Any) -> ServingRatios:
    return ServingRatios(**cast(dict[str, Any], dict(numbers)), **record)


def _free(name: str) -> list[str]:
    if name == "dense":
        return ["dense_launch_ratio", "attention_launch_ratio"]
    return [number for number in NUMBERS if name == "moe" or number != "linear_layer_s"]


def _fit_waits(known: References, leave_out: Sequence[tuple[str, str]]) -> tuple[dict[str, float], float]:
    """Request overhead by engine (s), and the share of the polling interval, from TTFT."""
    rows = [
        (point, raw.ttft_ms, point.measured_ttft_ms)
        for point, raw in zip(known.points, known.replays, strict=True)
        if raw.ttft_ms is not None
        and point.colocated is not None
        and point.measured_ttft_ms
        and group_of(point) not in leave_out
        and not named_outlier(point)
    ]
    keys = sorted({point.engine for point in known.points})
    if not rows:
        return dict.fromkeys(keys, _REQUEST_S), _ADMISSION_FRACTION
    replayed = np.array([ttft for _, ttft, _ in rows])
    # The interval is counted in steps as measured: their own error must not enter the share.
    poll = np.array([admission_steps(p, known.catalog) * (p.measured_tpot_ms or 0.0) for p, _, _ in rows])
    which = np.array([keys.index(point.engine) for point, _, _ in rows])
    measured = np.array([ttft for _, _, ttft in rows])

    def predict(theta: Floats) -> Floats:
        return np.asarray(replayed + 1e3 * theta[which] + theta[-1] * poll)

    start = np.array([*([_REQUEST_S] * len(keys)), _ADMISSION_FRACTION])
    pulls = np.full(start.size, (0.3 / _REQUEST_SPREAD) ** 2)
    theta = fit_positive(predict, start, measured, prior_weights=pulls, robust_fraction=0.3)
    return dict(zip(keys, (float(value) for value in theta[:-1]), strict=True)), float(theta[-1])
