"""`steptime`: predicted engine step times beside the rows of a CSV."""

import csv
import sys
from pathlib import Path
from typing import Literal

from pdexplorer.evidence.steptime import predict_file


def steptime(points: str, overhead: Literal["none", "engine"], out: str | None) -> None:
    """Writes the rows with predicted_ms and overhead to out, or to standard output."""
    path = Path(points)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(f"{points}: is a device or a pipe, not a CSV file")
    rows = predict_file(points, overhead, out)
    unpredicted = [row for row in rows if row["predicted_ms"] is None]
    if out is None:
        writer = csv.DictWriter(
            sys.stdout, list(dict.fromkeys(key for row in rows for key in row)), restval=""
        )
        writer.writeheader()
        writer.writerows(rows)
    else:
        print(f"{len(rows)} points, {len(rows) - len(unpredicted)} predicted, written to {out}")
    if unpredicted:
        print(
            f"pdexplorer: {len(unpredicted)} not predicted; first: {unpredicted[0]['reason']}",
            file=sys.stderr,
        )
