"""Rows of vllm_runs.csv: requests of measured runs, those with a broken cell told apart."""

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pdexplorer.evidence.points import RefusedRow, number_in, time_in

Floats = NDArray[np.float64]
Row = Mapping[str, str]
Check = Callable[[Row, str], float]

_SETTINGS = ("model", "hardware", "tp", "max_num_seqs", "max_num_batched_tokens")
_WHOLE = (*_SETTINGS[2:], "input_tokens", "output_tokens")
_CLOCK = ("arrival_s", "queued_s")
_COLUMNS = (*_SETTINGS[:2], *_WHOLE, *_CLOCK, "ttft_ms", "tpot_ms")


def engine_rows(path: Path) -> tuple[tuple[tuple[Row, ...], ...], tuple[RefusedRow, ...]]:
    """The rows of each run, told apart by their settings, and those with a broken cell: a row whose measured
    times alone are broken is among both. ValueError names a column that is missing.
    """
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        reader = csv.DictReader(file)
        rows = [
            (reader.line_num, {name: (cell or "").strip() for name, cell in row.items() if name})
            for row in reader
        ]
    for name in _COLUMNS:
        if name not in (reader.fieldnames or ()):
            raise ValueError(f"{path.name}: column {name} is missing; needed are {', '.join(_COLUMNS)}")
    if not rows:
        raise ValueError(f"{path.name} has no rows below its header")
    runs: dict[tuple[str, ...], list[Row]] = {}
    refused = []
    for line, row in rows:
        broken = _broken(row, _whole_in, _WHOLE) or _broken(row, number_in, _CLOCK)
        why = broken or _broken(row, time_in, measured_times(row))
        if why:
            refused.append(RefusedRow(line, row, why, unknown=False))
        if not broken:
            runs.setdefault(tuple(row[name] for name in _SETTINGS), []).append(row)
    return tuple(map(tuple, runs.values())), tuple(refused)


def measured_times(row: Row) -> tuple[str, ...]:
    """Columns of times to compare with: an answer of one token has none between tokens."""
    return ("ttft_ms", "tpot_ms") if float(row["output_tokens"]) > 1 else ("ttft_ms",)


def cells_of(rows: Sequence[Row], column: str) -> Floats:
    """A column of numbers."""
    return np.array([float(row[column]) for row in rows])


def times_s(rows: Sequence[Row], column: str) -> Floats:
    """Milliseconds of a column in seconds, NaN where a cell is no number."""
    return 1e-3 * np.array(
        [np.nan if _broken(row, number_in, (column,)) else float(row[column]) for row in rows]
    )


def _broken(row: Row, check: Check, columns: Sequence[str]) -> str:
    """Why the first cell that fails its check does; empty where none does."""
    for name in columns:
        try:
            check(row, name)
        except ValueError as error:
            return str(error)
    return ""


def _whole_in(row: Row, column: str) -> float:
    value = number_in(row, column)
    if value < 1.0 or value != int(value):
        raise ValueError(f"{column} = {row[column]!r} must be a whole number from 1")
    return value
