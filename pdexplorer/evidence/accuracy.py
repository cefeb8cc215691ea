"""How accurate predictions are on a measured file of any known layout: every row scored, errors by group."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.evidence.cross_validation import cross_validate
from pdexplorer.evidence.layouts import columns_of, holds_serving
from pdexplorer.evidence.points import RefusedRow, StepPoint, read_rows
from pdexplorer.evidence.scored import (
    COLUMN,
    STEP,
    TPOT,
    TTFT,
    ScoredFile,
    ScoredRow,
    nothing_read,
    unread_row,
)
from pdexplorer.evidence.serving_points import ServingPoint, serving_rows
from pdexplorer.evidence.serving_predict import Served, predict_serving
from pdexplorer.evidence.steptime import predict_points

STEP_COLUMNS = ("phase", "batch", "tp")
"""Columns without which a measured step would be set against a guess."""

_STEP_LABELS = {
    "system": ("system", "hardware"),
    "engine": ("engine", "backend"),
    "model": ("model",),
    "format": ("weight_format", "gemm_quant"),
    "phase": ("phase",),
}
_SERVING_LABELS = {
    "mode": ("mode",),
    "system": ("system",),
    "engine": ("backend",),
    "model": ("model_path",),
    "format": ("gemm_quant_mode",),
    "outlier": (),
}


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """Errors |predicted ÷ measured − 1| of one group and quantity; an unanswered row counts as 1."""

    group: tuple[str, ...]
    quantity: str
    rows: int
    answered: int
    median: float
    mean: float
    p90: float
    mean_log_ratio: float

    @property
    def answered_fraction(self) -> float:
        """Share of rows that were predicted."""
        return self.answered / self.rows if self.rows else 0.0


def score_file(
    path: str | Path,
    held_out: bool = False,
    catalog: Catalog | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> ScoredFile:
    """Score a file laid out as step_times, mixed_steps, own step points, serving, splitwise_perf_model or
    vllm_runs. held_out: each row by a fit that has not seen its group. ValueError, one line, for another.
    """
    file = Path(path)
    columns = columns_of(file)
    catalogue = catalog or load_catalog()
    if holds_serving(columns):
        return _serving(file, held_out, catalogue, report)
    if {"prompt_time", "token_time"} <= columns:
        from pdexplorer.evidence.splitwise import score_splitwise

        return score_splitwise(file, catalogue)
    if {"arrival_s", "ttft_ms", "max_num_batched_tokens"} <= columns:
        from pdexplorer.evidence.engine_runs import score_engine_runs

        return score_engine_runs(file, catalogue)
    found = ", ".join(sorted(columns))[:200] or "none"
    if "model" not in columns or not {"system", "hardware"} & columns:
        raise ValueError(
            f"{file.name}: not laid out as what is scored (step_times, mixed_steps, own step points, "
            f"serving, splitwise_perf_model, vllm_runs); its columns are {found}"
        )
    return _steps(file, held_out, catalogue)


def error_lines(scored: ScoredFile, by: Sequence[str] = ()) -> list[ErrorLine]:
    """Errors by quantity, split and the given labels. ValueError for a label the file does not have."""
    groups: dict[tuple[tuple[str, ...], str], list[tuple[float, float | None]]] = {}
    for row in scored.rows:
        missing = [name for name in by if name not in row.labels]
        if missing:
            raise ValueError(f"--by {missing[0]}: this file has {', '.join(row.labels)}")
        key = (row.split, *(row.labels[name] for name in by))
        for quantity, measured in row.measured_ms.items():
            groups.setdefault((key, quantity), []).append((measured, row.predicted_ms.get(quantity)))
    return [error_line(key, quantity, pairs) for (key, quantity), pairs in sorted(groups.items())]


def error_line(
    group: tuple[str, ...], quantity: str, pairs: Sequence[tuple[float, float | None]]
) -> ErrorLine:
    """Errors of (measured, predicted) pairs."""
    ratios = np.array([predicted / measured for measured, predicted in pairs if predicted])
    errors = np.concatenate([np.abs(ratios - 1.0), np.ones(len(pairs) - ratios.size)])
    return ErrorLine(
        group,
        quantity,
        len(pairs),
        int(ratios.size),
        float(np.median(errors)),
        float(np.mean(errors)),
        float(np.quantile(errors, 0.9)),
        float(np.mean(np.log(ratios))) if ratios.size else float("nan"),
    )


def rows_out(scored: ScoredFile) -> list[dict[str, object]]:
    """Every row as read, with its predictions, the reason where there is none, and the split."""
    return [
        {
            **row.raw,
            **{COLUMN[quantity]: value for quantity, value in row.predicted_ms.items()},
            "reason": row.reason,
            "split": row.split,
        }
        for row in scored.rows
    ]


def _steps(file: Path, held_out: bool, catalog: Catalog) -> ScoredFile:
    found = [_with_a_time(row) for row in read_rows(file, STEP_COLUMNS)]
    points = [point for point in found if isinstance(point, StepPoint)]
    refused = [row for row in found if isinstance(row, RefusedRow)]
    if not points:
        raise nothing_read(file, refused)
    scored: list[tuple[StepPoint, float | None, str, str]]
    if held_out:
        scored = [(s.point, s.predicted_ms, s.reason, s.split) for s in cross_validate(points, catalog)]
    else:
        answers = predict_points(points, catalog)
        scored = [
            (point, predicted, reason, "shipped")
            for point, (predicted, reason) in zip(points, answers, strict=True)
        ]
    rows = tuple(
        ScoredRow(
            raw=point.raw,
            labels={
                "system": point.accelerator,
                "engine": point.engine,
                "model": point.model,
                "format": point.weight_format,
                "phase": point.phase,
            },
            measured_ms={STEP: point.measured_ms or 0.0},
            predicted_ms={STEP: predicted},
            reason=reason,
            split=str(split),
        )
        for point, predicted, reason, split in scored
    )
    return ScoredFile(
        "step times",
        _as_in_file(found, (*rows, *(unread_row(row, _STEP_LABELS, (STEP,)) for row in refused))),
        "in sample: the shipped numbers were fitted to the prefill and decode rows of step_times.csv and "
        "mixed_steps.csv; never to mixed rows",
        "--held-out leaves one model out at a time (or whole groups where none shares its kernels), and "
        "scores "
        "mixed rows under a fit to the others",
    )


def _with_a_time(row: StepPoint | RefusedRow) -> StepPoint | RefusedRow:
    """The row, refused where it has no measured time to compare with."""
    if isinstance(row, RefusedRow) or row.measured_ms:
        return row
    column = "measured_ms" if "measured_ms" in row.raw else "latency_ms"
    given = row.raw.get(column, "")
    why = f"= {given!r} must be above 0 to be compared with" if given else "is empty: nothing to compare with"
    return RefusedRow(row.row, row.raw, f"{column} {why}", unknown=False)


def _serving(file: Path, held_out: bool, catalog: Catalog, report: Callable[[str], None]) -> ScoredFile:
    from pdexplorer.evidence import serving_fit

    found = serving_rows(file, catalog)
    points = [row for row in found if isinstance(row, ServingPoint)]
    refused = [row for row in found if isinstance(row, RefusedRow)]
    if not points:
        raise nothing_read(file, refused)
    if held_out:
        answers: list[Served] = serving_fit.held_out(serving_fit.references(points, catalog), report)
    else:
        answers = predict_serving(points, catalog)
    scored = scored_serving(points, answers, held_out)
    unread = (unread_row(row, _SERVING_LABELS, (TTFT, TPOT)) for row in refused)
    return replace(scored, rows=_as_in_file(found, (*scored.rows, *unread)))


def _as_in_file(
    found: Sequence[StepPoint | ServingPoint | RefusedRow], rows: Sequence[ScoredRow]
) -> tuple[ScoredRow, ...]:
    """The scored rows in the order in which their file was read."""
    place = {id(row.raw): number for number, row in enumerate(found)}
    return tuple(sorted(rows, key=lambda row: place[id(row.raw)]))


def scored_serving(points: Sequence[ServingPoint], answers: Sequence[Served], held_out: bool) -> ScoredFile:
    """Serving runs beside their predictions. Split fleets whose rows do not determine a TTFT are a split
    apart.
    """
    from pdexplorer.evidence.serving_setup import named_outlier

    rows = tuple(
        ScoredRow(
            raw=point.raw,
            labels={
                "mode": point.mode,
                "system": point.accelerator,
                "engine": point.engine,
                "model": point.model,
                "format": point.weight_format,
                "outlier": "yes" if named_outlier(point) else "no",
            },
            measured_ms={TTFT: point.measured_ttft_ms, TPOT: point.measured_tpot_ms},
            predicted_ms={TTFT: answer.ttft_ms, TPOT: answer.tpot_ms},
            reason=answer.reason or named_outlier(point),
            split=_serving_split(point, held_out),
        )
        for point, answer in zip(points, answers, strict=True)
    )
    return ScoredFile(
        "serving",
        rows,
        "in sample: the shipped serving ratios and request costs were fitted to all answered serving.csv "
        "colocated runs but the named outliers; two numbers to split runs of at most 2,500 in flight",
        "--held-out leaves one (model, system) out at a time, refits and replays it",
    )


def _serving_split(point: ServingPoint, held_out: bool) -> str:
    if point.mode == "disagg" and point.problem:
        return "disagg without worker counts"
    return f"{point.mode}, {'held out' if held_out else 'shipped'}"
