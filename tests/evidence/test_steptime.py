"""Predicted step times of files, and how near they are to measured ones."""

import csv
from pathlib import Path

import numpy as np
import pytest

from pdexplorer.evidence.steptime import predict_file

from ..shared_data import shared_path

REFERENCE = Path(__file__).parents[1] / "reference"


def median_error(rows: list[dict[str, object]]) -> float:
    ratios = [float(row["predicted_ms"]) / float(row["latency_ms"]) for row in rows if row["predicted_ms"]]  # type: ignore[arg-type]
    return float(np.median(np.abs(np.array(ratios) - 1.0)))


@pytest.mark.parametrize("name", ["step_times.csv", "mixed_steps.csv"])
def test_samples_are_met(name: str) -> None:
    rows = predict_file(REFERENCE / name)
    assert all(row["predicted_ms"] for row in rows)
    assert median_error(rows) < 0.05


def test_the_whole_file_is_met() -> None:
    assert median_error(predict_file(shared_path("measured/step_times.csv"))) < 0.03


def test_rows_come_back_with_their_columns_and_the_engine_adds_its_time(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    kernels = predict_file(REFERENCE / "step_times.csv", overhead="none")
    served = predict_file(REFERENCE / "step_times.csv", overhead="engine", out=out)
    written = list(csv.DictReader(out.open()))
    assert [row["system"] for row in written] == [row["system"] for row in kernels]
    assert {row["overhead"] for row in written} == {"engine"}
    assert all(
        float(s["predicted_ms"]) > float(k["predicted_ms"]) for s, k in zip(served, kernels, strict=True)
    )


def test_what_cannot_be_predicted_says_why(tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text("system,model,phase,context_tokens\nascend_910b,llama_3_1_8b,decode,100\n")
    (row,) = predict_file(file)
    assert row["predicted_ms"] is None
    assert "no published figure for ascend_910b" in row["reason"]


def test_a_row_that_names_the_unknown_leaves_the_others_predicted(tmp_path: Path) -> None:
    file, out = tmp_path / "points.csv", tmp_path / "out.csv"
    lines = ["system,model,engine,phase,context_tokens", "h100_sxm,llama_3_1_8b,vllm,decode,100"]
    strange = [lines[1].replace(name, "nobody") for name in ("h100_sxm", "llama_3_1_8b", "vllm")]
    file.write_text("\n".join([*lines, *strange, lines[1]]))
    rows = predict_file(file, out=out)
    assert [bool(row["predicted_ms"]) for row in rows] == [True, False, False, False, True]
    assert all("nobody" in row["reason"] for row in rows[1:4])
    assert [row["predicted_ms"] for row in csv.DictReader(out.open())][1:4] == ["", "", ""]
    file.write_text("\n".join([lines[0], *strange]))
    with pytest.raises(ValueError, match=r"^row 2: system = 'nobody'"):
        predict_file(file)


def test_an_unknown_overhead_is_refused() -> None:
    with pytest.raises(ValueError, match="none, engine"):
        predict_file(REFERENCE / "step_times.csv", overhead="all")  # type: ignore[arg-type]
