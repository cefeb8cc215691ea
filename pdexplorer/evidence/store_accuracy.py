"""Measures the shipped and the held-out errors on all files and stores them for the page.

Run as `python -m pdexplorer.evidence.store_accuracy FOLDER DATE [FILE ...]`; takes about ten minutes. With
files named, the others keep what is stored of them.
"""

import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from pdexplorer import MODEL_VERSION
from pdexplorer.evidence.accuracy import error_lines, score_file
from pdexplorer.evidence.methodology import (
    ACCURACY_FILE,
    SAMPLE_FILE,
    MethodologyRow,
    StoredError,
    accuracy_toml,
    load_accuracy,
    methodology_rows,
    parameter_counts,
)
from pdexplorer.evidence.scored import STEP, ScoredFile

FILES = ("step_times.csv", "mixed_steps.csv", "serving.csv", "splitwise_perf_model.csv", "vllm_runs.csv")
WITH_HELD_OUT = FILES[:3]
_STEP_FILES = FILES[:2]
_EVERY = 12
_COLUMNS = ("quantity", "system", "engine", "model", "measured_ms", "predicted_ms", "held_out")


def stored_errors(file: str, scored: ScoredFile, held_out: bool) -> list[StoredError]:
    """The lines of one scored file."""
    return [
        StoredError(
            file=file,
            split=line.group[0],
            quantity=line.quantity,
            held_out=held_out,
            rows=line.rows,
            answered=line.answered,
            median=line.median,
            mean=line.mean,
            p90=line.p90,
            mean_log_ratio=line.mean_log_ratio if line.answered else 0.0,
        )
        for line in error_lines(scored)
    ]


def sample_rows(scored: ScoredFile, held_out: bool, every: int = _EVERY) -> list[MethodologyRow]:
    """Every n-th predicted row of a file with all its quantities, in its order."""
    answered = [row for row in scored.rows if any(value is not None for value in row.predicted_ms.values())]
    return [
        MethodologyRow(
            quantity=quantity,
            system=row.labels["system"],
            engine=row.labels.get("engine", "vllm"),
            model=row.labels["model"],
            measured_ms=measured,
            predicted_ms=predicted,
            held_out=held_out,
        )
        for row in answered[::every]
        for quantity, measured in row.measured_ms.items()
        if (predicted := row.predicted_ms.get(quantity)) is not None
    ]


def write_stored(
    folder: Path, measured: str, errors: Sequence[StoredError], rows: Iterable[MethodologyRow]
) -> None:
    """Both files of the page's methodology."""
    text = accuracy_toml(measured, MODEL_VERSION, errors, parameter_counts())
    (folder / ACCURACY_FILE).write_text(text, encoding="utf-8")
    with (folder / SAMPLE_FILE).open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for row in rows:
            times = (f"{row.measured_ms:.5g}", f"{row.predicted_ms:.5g}")
            held = "yes" if row.held_out else "no"
            writer.writerow((row.quantity, row.system, row.engine, row.model, *times, held))


def kept(files: Sequence[str]) -> tuple[list[StoredError], list[MethodologyRow]]:
    """What is stored of the files that are not measured again. ValueError for an unknown file, or for one of
    two whose sampled rows are of one kind.
    """
    for file in files:
        if file not in FILES:
            raise ValueError(f"{file} is not one of {', '.join(FILES)}")
    if len(set(files) & set(_STEP_FILES)) == 1:
        raise ValueError(f"{' and '.join(_STEP_FILES)} are measured together: their sampled rows are alike")
    steps, serving = _STEP_FILES[0] in files, "serving.csv" in files
    rows = [row for row in methodology_rows() if not (steps if row.quantity == STEP else serving)]
    return [error for error in load_accuracy().errors if error.file not in files], rows


def main(arguments: Sequence[str]) -> None:
    """FOLDER with the measured files, the date to store, and which files to measure: all if none is named."""
    folder, measured, *named = Path(arguments[0]), *arguments[1:]
    files = tuple(named) or FILES
    errors, rows = kept(files)
    for file in files:
        errors += stored_errors(file, score_file(folder / file), held_out=False)
        if file in WITH_HELD_OUT:
            scored = score_file(folder / file, held_out=True, report=print)
            errors += stored_errors(file, scored, held_out=True)
            rows += sample_rows(scored, held_out=True)
    errors.sort(key=lambda error: FILES.index(error.file))
    write_stored(Path(__file__).parent / "data", measured, errors, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
