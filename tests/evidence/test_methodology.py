"""What the page says of accuracy is what was measured, and the shipped predictions still give it."""

from pathlib import Path

import numpy as np

from pdexplorer import MODEL_VERSION
from pdexplorer.evidence.accuracy import error_lines, score_file
from pdexplorer.evidence.methodology import (
    StoredError,
    load_accuracy,
    methodology_rows,
    parameter_counts,
)

REFERENCE = Path(__file__).parents[1] / "reference"


def stored(file: str, quantity: str, split: str) -> StoredError:
    found = [
        e
        for e in load_accuracy().errors
        if (e.file, e.quantity) == (file, quantity) and e.split.startswith(split)
    ]
    return next((e for e in found if e.held_out), found[0])


def test_the_table_is_of_this_version_and_these_numbers() -> None:
    assert load_accuracy().model_version == MODEL_VERSION
    assert load_accuracy().fitted_numbers == parameter_counts()


def test_reached_errors_hold() -> None:
    # Measured, rounded up; the aims were 5% and 15%, 6%, 10% and 20%, 15% and 30%.
    # 3.9% before exponentials overlapped products, which brought the P90 from 12% to 11%.
    assert stored("step_times.csv", "step", "other_models").median <= 0.041
    assert stored("step_times.csv", "step", "other_models").p90 <= 0.11
    assert stored("step_times.csv", "step", "other_groups").median <= 0.045
    assert stored("step_times.csv", "step", "other_groups").p90 <= 0.13
    assert stored("step_times.csv", "step", "zero_shot").median <= 0.085
    assert stored("mixed_steps.csv", "step", "mixed").median <= 0.04
    assert stored("serving.csv", "tpot", "agg").mean <= 0.13
    assert stored("serving.csv", "ttft", "agg").mean <= 0.23
    assert stored("serving.csv", "tpot", "disagg, held out").mean <= 0.135
    assert stored("serving.csv", "ttft", "disagg, held out").mean <= 0.33
    agg = stored("serving.csv", "tpot", "agg")
    assert agg.answered == agg.rows


def test_shipped_predictions_of_the_sample_are_as_good_as_of_the_file() -> None:
    lines = {
        line.quantity: line
        for line in error_lines(score_file(REFERENCE / "serving.csv"))
        if line.group[0].startswith("agg")
    }
    assert lines["tpot"].median < 0.20
    assert lines["ttft"].median < 0.40


def test_sampled_rows_show_the_stored_error() -> None:
    rows = [row for row in methodology_rows() if row.quantity == "tpot"]
    errors = [abs(row.predicted_ms / row.measured_ms - 1) for row in rows]
    assert len(rows) > 100
    assert all(row.held_out for row in rows)
    assert abs(float(np.median(errors)) - stored("serving.csv", "tpot", "agg").median) < 0.05
