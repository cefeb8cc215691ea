"""Predicted times of step points: the physics applied to the rows of a file."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.evidence.points import RefusedRow, StepPoint, readable_rows
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.instance import Instance, Parallelism, build_instance
from pdexplorer.physics.step import step_time_s

Overhead = Literal["none", "engine"]
Entries = dict[str, tuple[Any, ...]]


def predict_file(
    path: str | Path, overhead: Overhead = "none", out: str | Path | None = None
) -> list[dict[str, Any]]:
    """Rows of a points file with `predicted_ms`, `overhead` and, where nothing can be predicted, `reason`.

    overhead: none = kernels only, engine = plus the engine profile's host time. out: also write them as CSV.
    A row that names an unknown model, system or engine is one of those. ValueError, one line, for a bad file,
    row or option.
    """
    found = readable_rows(path)
    points = [row for row in found if isinstance(row, StepPoint)]
    answers = iter(predict_points(points, overhead=overhead))
    rows: list[dict[str, Any]] = []
    for row in found:
        predicted, reason = (None, row.reason) if isinstance(row, RefusedRow) else next(answers)
        rows.append({**row.raw, "predicted_ms": predicted, "overhead": overhead, "reason": reason})
    if out is not None:
        write_rows(rows, out)
    return rows


def predict_points(
    points: Sequence[StepPoint],
    catalog: Catalog | None = None,
    overhead: Overhead = "none",
    entries: Entries | None = None,
) -> list[tuple[float | None, str]]:
    """(predicted milliseconds, "") of each point, or (None, why not). entries: efficiencies other than the
    shipped.
    """
    if overhead not in ("none", "engine"):
        raise ValueError(f"overhead = {overhead!r} is not one of none, engine")
    catalogue = catalog or load_catalog()
    instances: dict[tuple[Any, ...], Instance | Infeasible] = {}
    results: list[tuple[float | None, str]] = []
    for point in points:
        instance = _instance(catalogue, point, instances, entries)
        if isinstance(instance, Infeasible):
            results.append((None, instance.text))
        else:
            results.append((1e3 * step_time_s(instance, **load_of(point), overhead=overhead == "engine"), ""))
    return results


def load_of(point: StepPoint) -> dict[str, float]:
    """The point's load as step_time_s takes it: totals over the instance's attention-DP ranks."""
    ranks = point.attention_dp
    sequences = point.prefill_batch * ranks
    return {
        "prefill_tokens": point.new_tokens * sequences,
        "prefill_past_tokens": point.cached_tokens,
        "prefill_sequences": max(sequences, 1),
        "decode_batch": point.decode_batch * ranks,
        "decode_context_tokens": point.context_tokens,
    }


def instance_of(point: StepPoint, catalog: Catalog, entries: Entries | None = None) -> Instance | Infeasible:
    """The instance a point ran on; whether its weights fit is not asked."""
    return build_instance(
        catalog.accelerators[point.accelerator],
        catalog.models[point.model],
        Parallelism(point.tp, point.pp, point.ep, point.attention_dp),
        point.weight_format,
        point.kv_format,
        catalog.engines[point.engine],
        efficiency_entries=entries,
    )


def write_rows(rows: list[dict[str, Any]], path: str | Path) -> None:
    """Rows as CSV; None is an empty cell."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with Path(path).open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)


def _instance(
    catalog: Catalog,
    point: StepPoint,
    known: dict[tuple[Any, ...], Instance | Infeasible],
    entries: Entries | None,
) -> Instance | Infeasible:
    key = (
        *(point.accelerator, point.engine, point.model, point.weight_format, point.kv_format),
        *(point.tp, point.pp, point.ep, point.attention_dp),
    )
    if key not in known:
        known[key] = instance_of(point, catalog, entries)
    return known[key]
