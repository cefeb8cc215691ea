"""Scores a file of engine runs as it is: replayed request by request, no factor fitted to it."""

from pathlib import Path

import numpy as np

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.engine_rows import measured_times
from pdexplorer.evidence.scored import TPOT, TTFT, ScoredFile, ScoredRow, nothing_read, unread_row
from pdexplorer.evidence.vllm_runs import VllmRun, default_factors, readable_runs, replay

_LABELS = {"system": ("hardware",), "model": ("model",)}
_QUANTITY = {"ttft_ms": TTFT, "tpot_ms": TPOT}


def score_engine_runs(file: Path, catalog: Catalog) -> ScoredFile:
    """TTFT and TPOT of each request, at its own arrival time. No row of the file was used in a fit."""
    runs, refused = readable_runs(file)
    broken = {id(row.raw) for row in refused}
    rows = [row for run in runs for row in _scored(run, broken, catalog)]
    if not rows:
        raise nothing_read(file, refused)
    unread = (unread_row(row, _LABELS, (TTFT, TPOT)) for row in refused)
    return ScoredFile(
        "engine runs",
        (*rows, *unread),
        "out of sample: no number in use was fitted to a row of this file",
        "as it is: nothing was fitted to this file",
    )


def _scored(run: VllmRun, broken: set[int], catalog: Catalog) -> list[ScoredRow]:
    """The run's rows but the broken: those were replayed with the others and have no time to compare with."""
    reason = ""
    ttft_s = tpot_s = np.full(len(run.rows), np.nan)
    try:
        replayed = replay(run, default_factors(run, catalog), catalog)
        ttft_s, tpot_s = replayed.ttft_s, replayed.tpot_s
    except ValueError as error:
        reason = str(error)
    return [
        ScoredRow(
            row,
            {label: row[name] for label, (name,) in _LABELS.items()},
            {_QUANTITY[name]: float(row[name]) for name in measured_times(row)},
            {TTFT: _ms(first), TPOT: _ms(token)},
            reason,
            "shipped",
        )
        for row, first, token in zip(run.rows, ttft_s, tpot_s, strict=True)
        if id(row) not in broken
    ]


def _ms(seconds: float) -> float | None:
    return None if np.isnan(seconds) else 1e3 * float(seconds)
