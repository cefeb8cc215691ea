"""How well step times predict rows they were not fitted to.

Splits of a step file, never fitting and scoring the same rows:
- `other_models`: every model in turn is left out of the fit, on all systems, and scored where another
model shares
  its system (accelerator and engine), weight format and attention kind.
- `other_groups`: rows without such a partner, whole (tp, ep, attention DP, phase) groups of them left out
  together.
- `zero_shot`: the same rows again, with their model left out altogether.
- `mixed`: steps with prefill and decode together, under a fit to the file's other rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.calibration import fit
from pdexplorer.evidence.points import StepPoint
from pdexplorer.evidence.steptime import predict_points

Split = Literal["other_models", "other_groups", "zero_shot", "mixed"]


@dataclass(frozen=True, slots=True)
class Scored:
    """One row, predicted by a fit that has not seen it; None and a reason where it cannot be."""

    point: StepPoint
    predicted_ms: float | None
    reason: str
    split: Split


def cross_validate(points: Sequence[StepPoint], catalog: Catalog) -> list[Scored]:
    """Every row of a step file scored out of sample; rows without a partner model appear under two splits."""
    steps = [point for point in points if point.phase != "mixed" and point.measured_ms]
    mixed = [point for point in points if point.phase == "mixed" and point.measured_ms]
    if mixed:
        return _scored(steps, mixed, catalog, "mixed")
    models_of: dict[tuple[str, ...], set[str]] = {}
    for point in steps:
        models_of.setdefault(system_key(point, catalog), set()).add(point.model)
    scored = []
    for model in sorted({point.model for point in steps}):
        others = [point for point in steps if point.model != model]
        own = [point for point in steps if point.model == model]
        split: dict[int, Split] = {
            point.row: "other_models" if len(models_of[system_key(point, catalog)]) > 1 else "zero_shot"
            for point in own
        }
        scored += [
            replace(row, split=split[row.point.row]) for row in _scored(others, own, catalog, "other_models")
        ]
    unpaired = [point for point in steps if len(models_of[system_key(point, catalog)]) == 1]
    for group in sorted({_group(point) for point in unpaired}):
        held = [point for point in unpaired if _group(point) == group]
        rows = {point.row for point in held}
        scored += _scored([p for p in steps if p.row not in rows], held, catalog, "other_groups")
    return scored


def system_key(point: StepPoint, catalog: Catalog) -> tuple[str, ...]:
    """What two models must share for one to stand in for the other: system, format and attention kind."""
    architecture = catalog.models[point.model]
    kind: str = architecture.attention
    if architecture.window_layers:
        kind += "+window"
    if architecture.linear_layers:
        kind += "+linear"
    return point.accelerator, point.engine, point.weight_format, kind


def _group(point: StepPoint) -> tuple[int, int, int, str]:
    return point.tp, point.ep, point.attention_dp, point.phase


def _scored(
    train: Sequence[StepPoint], test: Sequence[StepPoint], catalog: Catalog, split: Split
) -> list[Scored]:
    if not test:
        return []
    fitted = fit(train, catalog, "cross-validation")
    return [
        Scored(point, predicted, reason, split)
        for point, (predicted, reason) in zip(
            test, predict_points(test, catalog, entries=fitted.entries), strict=True
        )
    ]
