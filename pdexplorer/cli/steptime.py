"""`steptime`: predicted engine step times beside the rows of a CSV."""

import csv
import sys
from typing import Literal

from pdexplorer.cli.table import check_out, checked_lines
from pdexplorer.evidence.steptime import predict_file
from pdexplorer.export.named_errors import naming


def steptime(points: str, overhead: Literal["none", "engine"], out: str | None) -> None:
    """Writes the rows with predicted_ms and overhead to out, or to standard output.

    Rows that cannot be predicted are counted on standard error, with the first one's reason. ValueError,
    one line with the file and its line, for a broken row.
    """
    lines = checked_lines(points)
    check_out(out)
    try:
        with naming(out or "standard output"):
            rows = predict_file(points, overhead, out)
    except ValueError as error:
        text = str(error)
        raise ValueError(f"{points}: {text}" if text.startswith("row ") else text) from None
    missing = [
        (line, row["reason"]) for line, row in zip(lines, rows, strict=True) if row["predicted_ms"] is None
    ]
    if out is None:
        writer = csv.DictWriter(
            sys.stdout, list(dict.fromkeys(key for row in rows for key in row)), restval=""
        )
        writer.writeheader()
        writer.writerows(rows)
        sys.stdout.flush()
    else:
        print(f"{len(rows)} points, {len(rows) - len(missing)} predicted, written to {out}")
    if missing:
        line, reason = missing[0]
        print(
            f"pdexplorer: {len(missing):,} of {len(rows):,} rows could not be predicted; "
            f"the first is row {line}: {reason}",
            file=sys.stderr,
        )
