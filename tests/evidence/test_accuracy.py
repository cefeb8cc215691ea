"""Every measured layout is scored; unanswered rows count; the shipped errors stay where they are."""

import csv
import json
from pathlib import Path

import pytest

from pdexplorer.cli.main import main
from pdexplorer.evidence.accuracy import error_line, error_lines, rows_out, score_file

REFERENCE = Path(__file__).parents[1] / "reference"

# Measured errors of the samples, rounded up: a change that makes them worse must say so here.
MOST = {
    ("step_times.csv", "step"): 0.04,
    ("mixed_steps.csv", "step"): 0.07,
}


@pytest.mark.parametrize(("file", "quantity"), MOST)
def test_shipped_step_times(file: str, quantity: str) -> None:
    lines = [line for line in error_lines(score_file(REFERENCE / file)) if line.quantity == quantity]
    assert [line.answered_fraction for line in lines] == [1.0]
    assert lines[0].median < MOST[file, quantity]


def test_an_unanswered_row_counts_as_all_wrong() -> None:
    line = error_line(("x",), "tpot", [(10.0, 11.0), (10.0, None)])
    assert line.mean == pytest.approx(0.55)
    assert line.answered_fraction == 0.5


@pytest.mark.parametrize(
    "file", ["serving.csv", "splitwise_perf_model.csv", "vllm_runs.csv", "mixed_steps.csv"]
)
def test_rows_written_back_recompute_the_error(file: str, tmp_path: Path) -> None:
    scored = score_file(REFERENCE / file)
    with (REFERENCE / file).open(newline="") as handle:
        assert len(scored.rows) == sum(1 for _ in csv.DictReader(handle))
    for row, answer in zip(scored.rows, rows_out(scored), strict=True):
        assert set(row.raw) < set(answer)
        if None in row.predicted_ms.values():
            assert answer["reason"]


def test_the_command_prints_a_table_and_writes_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.csv"
    assert (
        main(["accuracy", str(REFERENCE / "step_times.csv"), "--by", "system,model", "--out", str(out)]) == 0
    )
    printed = capsys.readouterr().out
    assert "mean log ratio" in printed
    assert "fitted numbers in use" in printed
    assert "in sample" in printed
    with out.open(newline="") as handle:
        assert all(row["predicted_ms"] for row in csv.DictReader(handle))


def test_json_names_what_was_fitted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["accuracy", str(REFERENCE / "mixed_steps.csv"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["fitted_numbers"]["serving"] < 30
    assert document["errors"][0]["quantity"] == "step"


def test_bad_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["accuracy", str(REFERENCE / "step_times.csv"), "--by", "colour"]) == 2
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    assert main(["accuracy", str(other)]) == 2
    assert main(["accuracy", str(tmp_path / "none.csv")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_catalog_fit_writes_what_the_catalogue_reads(tmp_path: Path) -> None:
    from pdexplorer.catalog.efficiency import parse_efficiencies

    out = tmp_path / "efficiencies.toml"
    assert main(["catalog", "fit", str(REFERENCE / "mixed_steps.csv"), "--out", str(out)]) == 0
    assert parse_efficiencies(out.read_text("utf-8"))["gemm"]
    assert main(["catalog", "fit"]) == 2
