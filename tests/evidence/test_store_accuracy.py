"""Stored errors: files that are not measured again keep theirs, and a scored file gives lines and samples."""

from pathlib import Path

import pytest

from pdexplorer.evidence.accuracy import score_file
from pdexplorer.evidence.methodology import load_accuracy, methodology_rows
from pdexplorer.evidence.scored import STEP
from pdexplorer.evidence.store_accuracy import kept, sample_rows, stored_errors, write_stored

REFERENCE = Path(__file__).parents[1] / "reference"


def test_files_not_measured_again_keep_what_is_stored() -> None:
    errors, rows = kept(("serving.csv",))
    assert {e.file for e in errors} == {e.file for e in load_accuracy().errors} - {"serving.csv"}
    assert rows == [row for row in methodology_rows() if row.quantity == STEP]
    assert kept(("splitwise_perf_model.csv",))[1] == list(methodology_rows())


@pytest.mark.parametrize("files", [("serving",), ("step_times.csv",)])
def test_what_cannot_be_measured_alone_is_refused(files: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"is not one of|are measured together"):
        kept(files)


def test_a_scored_file_is_written_as_lines_and_samples(tmp_path: Path) -> None:
    scored = score_file(REFERENCE / "splitwise_perf_model.csv")
    errors = stored_errors("splitwise_perf_model.csv", scored, held_out=False)
    rows = sample_rows(scored, held_out=False, every=3)
    write_stored(tmp_path, "2026-01-01", errors, rows)
    assert (tmp_path / "accuracy.toml").read_text(encoding="utf-8").count("[[errors]]") == len(errors)
    lines = (tmp_path / "accuracy_sample.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(rows) + 1 > 2


def test_a_sampled_row_shows_all_its_quantities() -> None:
    rows = sample_rows(score_file(REFERENCE / "splitwise_perf_model.csv"), held_out=False, every=2)
    counts = [sum(1 for row in rows if row.quantity == name) for name in {row.quantity for row in rows}]
    assert len(set(counts)) == 1
    assert len(counts) == 2
