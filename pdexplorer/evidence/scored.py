"""What scoring a measured file gives: rows beside their predictions, and those that cannot be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pdexplorer.evidence.points import RefusedRow

STEP, TTFT, TPOT = "step", "ttft", "tpot"
COLUMN = {STEP: "predicted_ms", TTFT: "predicted_ttft_ms", TPOT: "predicted_tpot_ms"}

NOT_READ = "not read"
"""The split of rows that are not scored because a cell is broken or names what nobody knows."""


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """One row of a file: measured and predicted milliseconds by quantity, why not where None, and its
    labels. line: where it stands in the file, 0 where nobody asks.
    """

    raw: Mapping[str, str]
    labels: Mapping[str, str]
    measured_ms: Mapping[str, float]
    predicted_ms: Mapping[str, float | None]
    reason: str
    split: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class ScoredFile:
    """All rows of a file. fitted_on: which rows of the file the numbers used were fitted to; outside: how an
    error on unseen rows is had.
    """

    layout: str
    rows: tuple[ScoredRow, ...]
    fitted_on: str
    outside: str


def nothing_read(file: Path, refused: Sequence[RefusedRow]) -> ValueError:
    """Why a file of which no row can be read is refused, by its first row."""
    return ValueError(f"{file.name} row {refused[0].row}: {refused[0].reason}")


def unread_row(
    row: RefusedRow, labels: Mapping[str, tuple[str, ...]], quantities: Sequence[str]
) -> ScoredRow:
    """A row that is not scored, with the reason. labels: columns that may hold each."""
    found = {
        label: next((row.raw[name] for name in names if row.raw.get(name)), "")
        for label, names in labels.items()
    }
    nothing: Mapping[str, float | None] = dict.fromkeys(quantities)
    return ScoredRow(row.raw, found, dict.fromkeys(quantities, 0.0), nothing, row.reason, NOT_READ, row.row)


def not_read_line(name: str, scored: ScoredFile) -> str:
    """How many rows of the file are not scored and why the first is not; empty where all are."""
    rows = sorted((row for row in scored.rows if row.split == NOT_READ), key=lambda row: row.line)
    if not rows:
        return ""
    first = f"first line {rows[0].line}: {rows[0].reason}"
    return f"{name}: {len(rows)} of {len(scored.rows)} rows not read; {first}"
