"""`accuracy` tells whose measured times the predictions of each accelerator rest on."""

import csv
from pathlib import Path

import pytest

from pdexplorer.evidence.accuracy import score_file
from pdexplorer.evidence.numbers_used import numbers_used

REFERENCE = Path(__file__).parents[1] / "reference"


def moved(tmp_path: Path, file: str, column: str, chips: tuple[str, ...]) -> list[str]:
    """What is said of the file's first rows of an 8B model, moved to other chips."""
    with (REFERENCE / file).open(newline="") as handle:
        rows = [row for row in csv.DictReader(handle) if "8B" in str(row)][: len(chips)]
    with (tmp_path / file).open("w", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, column: chip} for row, chip in zip(rows, chips, strict=True))
    return numbers_used(score_file(tmp_path / file))


def test_step_times_rest_on_kernels_alone(tmp_path: Path) -> None:
    chips = ("rtx4090", "rtx4090", "l4", "gaudi3", "m4_max")
    (line,) = moved(tmp_path, "mixed_steps.csv", "hardware", chips)
    assert line.removeprefix("kernel numbers: ").split("; ") == [
        "read off published figures for gaudi3",
        "inherited in family ada for l4",
        "inherited in family apple for m4_max",
        "its own for rtx4090",
    ]


def test_serving_runs_rest_on_ratios_of_the_family_too(tmp_path: Path) -> None:
    kernels, serving = moved(tmp_path, "serving.csv", "system", ("h20_96", "rtx_pro_6000_server"))
    assert kernels == "kernel numbers: inherited in family hopper for h20_96; its own for rtx_pro_6000_server"
    ratios = "family hopper's for h20_96; none, kernel times as they stand, for rtx_pro_6000_server"
    assert serving == f"serving ratios: {ratios}"


@pytest.mark.parametrize(("file", "lines"), [("vllm_runs.csv", 2), ("splitwise_perf_model.csv", 1)])
def test_every_layout_has_its_lines(file: str, lines: int) -> None:
    assert len(numbers_used(score_file(REFERENCE / file))) == lines


def test_rows_that_are_not_predicted_rest_on_nothing(tmp_path: Path) -> None:
    said = moved(tmp_path, "mixed_steps.csv", "hardware", ("rtx4090", "abacus"))
    assert said == ["kernel numbers: its own for rtx4090"]
