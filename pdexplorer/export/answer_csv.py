"""Both fleets' numbers as CSV, one row a figure, for a spreadsheet."""

import csv
import io
from typing import Any

from pdexplorer.export.json_text import plain
from pdexplorer.export.report import FLEETS, Report
from pdexplorer.scenario.settings import flatten


def answer_csv(report: Report) -> str:
    """`figure,colocated,disaggregated` in the keys and units of `evaluate --json`; empty where there is none.

    A text that a spreadsheet would take for a formula gets a quote in front.
    """
    sides = [dict(flatten(plain(report.answer[fleet]))) for fleet in FLEETS]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("figure", *FLEETS))
    for key in dict.fromkeys(key for side in sides for key in side):
        writer.writerow((key, *(_cell(side.get(key)) for side in sides)))
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@")):
        return f"'{value}"
    return "" if value is None else value
