"""JSON without NaN; one CSV row a request."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from pdexplorer.export.json_text import json_text
from pdexplorer.export.per_request import COLUMNS, write_per_request


def test_what_is_not_finite_becomes_null() -> None:
    value = {
        "a": float("nan"),
        "b": [np.float64("inf"), np.int64(3)],
        "c": np.array([1.5, np.nan]),
        "d": (True, None),
    }
    assert json.loads(json_text(value)) == {"a": None, "b": [None, 3], "c": [1.5, None], "d": [True, None]}


def test_an_object_without_a_form_is_a_bug() -> None:
    with pytest.raises(TypeError):
        json_text(object())


def test_one_row_a_request_with_empty_cells_for_what_never_happened(tmp_path: Path) -> None:
    records = {name: np.arange(2.0) for name in COLUMNS if name != "fleet"}
    records["status"] = np.array(["completed", "unfinished"])
    records["finish_s"] = np.array([1.0, np.nan])
    records["prefill_instance"] = np.array([0, -1])
    path = tmp_path / "out.csv"
    assert write_per_request(path, {"colocated": records, "disaggregated": records}) == 4
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert [r["fleet"] for r in rows] == ["colocated"] * 2 + ["disaggregated"] * 2
    assert rows[1]["finish_s"] == ""
    assert rows[1]["prefill_instance"] == ""
    assert rows[1]["request_id"] == "1"
