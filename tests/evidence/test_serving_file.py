"""`catalog fit` on serving runs: the numbers move with the times, and the catalogue reads what is written."""

import csv
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.cli.main import main
from pdexplorer.evidence.serving_file import fit_serving_files, serving_toml
from pdexplorer.evidence.serving_points import read_serving
from pdexplorer.evidence.serving_predict import ServingNumbers, numbers_in, predict_serving

REFERENCE = Path(__file__).parents[1] / "reference" / "serving.csv"
MODELS = ("openai/gpt-oss-120b", "MiniMaxAI/MiniMax-M2.5")
Row = dict[str, str]


def few_runs(file: Path, change: Callable[[Row], Row] = lambda row: row) -> Path:
    """Colocated runs of two models and one split fleet's."""
    with REFERENCE.open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    split = next(row for row in rows if row["mode"] == "disagg" and row["decode_num_workers"])
    kept = [row for row in rows if row["mode"] == "agg" and row["model_path"] in MODELS]
    with file.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(change(row) for row in [*kept, split])
    return file


def twice_as_slow(row: Row) -> Row:
    return {**row, **{key: str(2 * float(row[key])) for key in ("silicon_ttft_ms", "silicon_tpot_ms")}}


def tpot_ms(numbers: ServingNumbers) -> list[float]:
    points = [point for point in read_serving(REFERENCE) if not point.problem][::4]
    return [served.tpot_ms or 0.0 for served in predict_serving(points, load_catalog(), numbers)]


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    said: list[str] = []
    found = fit_serving_files([few_runs(tmp_path / "runs.csv")], report=said.append)
    text = serving_toml(found.numbers)
    read = numbers_in(tomllib.loads(text))
    assert serving_toml(read) == text
    assert tpot_ms(read) == pytest.approx(tpot_ms(found.numbers), rel=2e-3)
    assert read.count == found.parameters == found.numbers.count
    assert read.ratios.source == "runs.csv, colocated runs but its named outliers"
    assert read.ratios.points == found.runs
    assert [line.split()[0] for line in said] == ["replaying", "fitting", "split"]


def test_the_numbers_move_with_the_measured_times(tmp_path: Path) -> None:
    measured = fit_serving_files([few_runs(tmp_path / "runs.csv")]).numbers
    doubled = fit_serving_files([few_runs(tmp_path / "slow.csv", twice_as_slow)]).numbers
    assert np.median(np.array(tpot_ms(doubled)) / np.array(tpot_ms(measured))) > 1.2


def test_the_shell_writes_the_catalogues_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs, out = few_runs(tmp_path / "runs.csv"), tmp_path / "efficiencies_serving.toml"
    assert main(["catalog", "fit", str(runs), "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert "serving runs, written to" in told.out
    assert len(told.err.splitlines()) == 3
    assert main(["catalog", "fit", str(runs)]) == 0
    assert capsys.readouterr().out == out.read_text("utf-8")


def test_files_without_a_run_to_fit_to_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = few_runs(tmp_path / "broken.csv", lambda row: {**row, "isl": "long"})
    nothing = few_runs(tmp_path / "nothing.csv", lambda row: {**row, "system": "abacus"})
    steps = REFERENCE.with_name("mixed_steps.csv")
    for files, says in (
        ([broken], "broken.csv row 2: isl = 'long'"),
        ([nothing], "nothing.csv: no colocated run"),
        ([REFERENCE, steps], "mixed_steps.csv does not; fit kernel times first"),
        ([steps, REFERENCE], "mixed_steps.csv does not; fit kernel times first"),
    ):
        assert main(["catalog", "fit", *map(str, files)]) == 2
        told = capsys.readouterr()
        assert (told.out, told.err.count("\n")) == ("", 1)
        assert says in told.err


def test_runs_of_an_engine_nobody_launched_here_are_told_and_not_fitted(tmp_path: Path) -> None:
    """Their scheduler's settings are in no script that was read."""
    file = few_runs(tmp_path / "runs.csv", lambda row: {**row, "backend": "llama.cpp"})
    answers = predict_serving(read_serving(file))
    assert {answer.reason.partition(";")[0] for answer in answers} == {"how local was launched is not known"}
    with pytest.raises(ValueError, match="no colocated run"):
        fit_serving_files([file])
