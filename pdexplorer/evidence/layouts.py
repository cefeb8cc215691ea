"""What a measured file holds, told by the columns of its header."""

import csv
from pathlib import Path


def columns_of(path: str | Path) -> set[str]:
    """The names in a CSV file's header, none for an empty file."""
    with Path(path).open(newline="", encoding="utf-8-sig", errors="replace") as handle:
        return set(next(csv.reader(handle), []))


def holds_serving(columns: set[str]) -> bool:
    """Whether a file with these columns is laid out as serving.csv."""
    return "silicon_ttft_ms" in columns


def holds_reduces(columns: set[str]) -> bool:
    """Whether a file with these columns is laid out as catalog/efficiency.csv."""
    return {"category", "num_devices", "value"} <= columns
