"""`steptime`: predicted engine step times beside the rows of a CSV."""

import csv
import re
import sys
from pathlib import Path
from typing import Literal

from pdexplorer.evidence.points import LARGEST_FILE_BYTES
from pdexplorer.evidence.steptime import predict_file
from pdexplorer.export.named_errors import naming

_ROW = re.compile(r"row (\d+): ")


def steptime(points: str, overhead: Literal["none", "engine"], out: str | None) -> None:
    """Writes the rows with predicted_ms and overhead to out, or to standard output.

    Rows that cannot be predicted are counted on standard error, with the first one's reason. ValueError,
    one line with the file and its line, for a broken row.
    """
    lines = _checked_lines(points)
    try:
        with naming(out or "standard output"):
            rows = predict_file(points, overhead, out)
    except ValueError as error:
        text = str(error)
        if numbered := _ROW.match(text):
            text = f"{points}: row {lines[int(numbered[1]) - 1]}: {text[numbered.end() :]}"
        raise ValueError(text) from None
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


def _checked_lines(points: str) -> list[int]:
    """Line in the file on which each row ends; the header is line 1. ValueError for what is no table."""
    path = Path(points)
    if not points.strip():
        raise ValueError("POINTS.csv is empty: allowed is the path of a CSV file")
    if path.is_dir():
        raise ValueError(f"{points}: is a folder, not a CSV file")
    if path.exists() and not path.is_file():
        raise ValueError(f"{points}: is a device or a pipe, not a CSV file")
    if path.stat().st_size > LARGEST_FILE_BYTES:
        megabytes = path.stat().st_size / 1e6
        raise ValueError(
            f"{points}: {megabytes:,.0f} MB; allowed are at most {LARGEST_FILE_BYTES / 1e6:.0f} MB"
        )
    lines: list[int] = []
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        reader = csv.reader(file)
        try:
            columns = len(next(reader, []))
            for cells in reader:
                if len(cells) > columns:
                    raise ValueError(
                        f"{points}: row {reader.line_num}: {len(cells)} cells; the header has {columns}"
                    )
                if cells:
                    lines.append(reader.line_num)
        except csv.Error as error:
            raise ValueError(f"{points}: row {reader.line_num}: not readable as CSV ({error})") from None
    return lines
