"""The answer as a spreadsheet: every figure of both fleets once."""

import csv
import io

from pdexplorer.export.answer_csv import answer_csv


def rows(report):
    return {row["figure"]: row for row in csv.DictReader(io.StringIO(answer_csv(report)))}


def test_every_figure_of_both_fleets(report):
    found = rows(report)
    for fleet in ("colocated", "disaggregated"):
        assert float(found["ttft_s.p95"][fleet]) == report.answer[fleet]["ttft_s"]["p95"]
        assert float(found["cost_per_request_usd.total"][fleet]) > 0
    assert found["kv_transfer_s.p95"]["colocated"] == ""
    pools = report.answer["disaggregated"]["instances"]
    assert found["instances.prefill"]["disaggregated"] == str(pools["prefill"])


def test_a_side_that_cannot_is_empty_cells(nothing):
    found = rows(nothing)
    assert found["gpus"]["colocated"] == found["gpus"]["disaggregated"] == ""
    assert "no published figure" in found["infeasible.text"]["colocated"]
