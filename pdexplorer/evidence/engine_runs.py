"""Scores a file of engine runs as it is: replayed request by request, no factor fitted to it."""

from pathlib import Path

import numpy as np

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.accuracy import TPOT, TTFT, ScoredFile, ScoredRow
from pdexplorer.evidence.vllm_runs import VllmRun, default_factors, read_vllm_runs, replay


def score_engine_runs(file: Path, catalog: Catalog) -> ScoredFile:
    """TTFT and TPOT of each request, at its own arrival time. No row of the file was used in a fit."""
    rows = [row for run in read_vllm_runs(file) for row in _scored(run, catalog)]
    return ScoredFile(
        "engine runs", tuple(rows), "none of its rows", "as it is: nothing was fitted to this file"
    )


def _scored(run: VllmRun, catalog: Catalog) -> list[ScoredRow]:
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
            {"system": row["hardware"], "model": row["model"]},
            # An answer of one token has no time between tokens.
            {TTFT: float(row["ttft_ms"])}
            | ({TPOT: float(row["tpot_ms"])} if float(row["output_tokens"]) > 1 else {}),
            {TTFT: _ms(first), TPOT: _ms(token)},
            reason,
            "shipped",
        )
        for row, first, token in zip(run.rows, ttft_s, tpot_s, strict=True)
    ]


def _ms(seconds: float) -> float | None:
    return None if np.isnan(seconds) else 1e3 * float(seconds)
