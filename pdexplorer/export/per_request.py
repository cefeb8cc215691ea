"""Simulated requests as CSV, one row a request and fleet."""

import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pdexplorer.export.named_errors import naming

COLUMNS = (
    "request_id",
    "fleet",
    "status",
    "arrival_s",
    "prefill_start_s",
    "prefill_end_s",
    "transfer_start_s",
    "transfer_end_s",
    "first_token_s",
    "finish_s",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "prefill_instance",
    "decode_instance",
    "preemptions",
    "retries",
)
_WHOLE = (
    "request_id",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "prefill_instance",
    "decode_instance",
)
_COUNTS = ("preemptions", "retries")


def write_per_request(path: Path, fleets: Mapping[str, Mapping[str, np.ndarray[Any, Any]]]) -> int:
    """Writes the records of each fleet under its name; a cell is empty where a request never got there.

    Returns the number of rows. Raises OSError where the file cannot be written.
    """
    rows = 0
    with naming(path), path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for fleet, records in fleets.items():
            count = len(records["request_id"])
            columns = [
                [fleet] * count if name == "fleet" else [_cell(name, v) for v in records[name].tolist()]
                for name in COLUMNS
            ]
            writer.writerows(zip(*columns, strict=True))
            rows += count
    return rows


def _cell(name: str, value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            return ""
        return int(value) if name in _WHOLE or name in _COUNTS else round(value, 9)
    if name.endswith("_instance") and value == -1:
        return ""
    return value
