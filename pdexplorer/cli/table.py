"""A CSV of measured points, looked through before it is worked on: its lines, and what is no table."""

import csv
from pathlib import Path

from pdexplorer.evidence.points import LARGEST_FILE_BYTES


def check_out(out: str | None) -> None:
    """ValueError where --out cannot be a file, before minutes of work."""
    if out is not None and (not out.strip() or Path(out).is_dir() or not Path(out).parent.is_dir()):
        raise ValueError(f"--out {out or '(empty)'}: allowed is a file in an existing directory")


def checked_lines(file: str) -> list[int]:
    """Line in the file on which each row ends; the header is line 1. ValueError for what is no table."""
    path = Path(file)
    if not file.strip():
        raise ValueError("FILE is empty: allowed is the path of a CSV file")
    if path.is_dir():
        raise ValueError(f"{file}: is a folder, not a CSV file")
    if path.exists() and not path.is_file():
        raise ValueError(f"{file}: is a device or a pipe, not a CSV file")
    if path.stat().st_size > LARGEST_FILE_BYTES:
        megabytes = path.stat().st_size / 1e6
        raise ValueError(
            f"{file}: {megabytes:,.0f} MB; allowed are at most {LARGEST_FILE_BYTES / 1e6:.0f} MB"
        )
    lines: list[int] = []
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as handle:
        reader = csv.reader(handle)
        try:
            columns = len(next(reader, []))
            for cells in reader:
                if len(cells) > columns:
                    raise ValueError(
                        f"{file}: row {reader.line_num}: {len(cells)} cells; the header has {columns}"
                    )
                if cells:
                    lines.append(reader.line_num)
        except csv.Error as error:
            raise ValueError(f"{file}: row {reader.line_num}: not readable as CSV ({error})") from None
    return lines
