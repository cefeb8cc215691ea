"""The rows of one trace file, whatever its format: checked, in the file's order.

The format is told from the content: JSON lines are Mooncake's (also vLLM's timed_trace); CSV headers tell
Azure, BurstGPT and vidur's length files apart.
"""

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from pdexplorer.scenario.plain_number import plain_number
from pdexplorer.units import MS, SECONDS_PER_DAY

MAX_FILE_BYTES = 200_000_000
MAX_TOKENS = 2_000_000


@dataclass
class TraceRows:
    """Columns as read. arrival_s is empty where the file holds lengths only; block_hashes where it has
    none.
    """

    arrival_s: list[float] = field(default_factory=list)
    input_tokens: list[int] = field(default_factory=list)
    output_tokens: list[int] = field(default_factory=list)
    block_hashes: list[tuple[int, ...]] = field(default_factory=list)
    dropped_rows: int = 0


def read_rows(path: Path) -> TraceRows:
    """Raises ValueError, one line, for a file that is missing, empty, too large, unknown or broken in a
    row.
    """
    lines = _lines(path)
    if lines[0].lstrip().startswith("{"):
        return _mooncake(path, lines)
    header = [name.strip().lower() for name in next(_table(path, lines, first=1))]
    for columns, reader in _CSV_FORMATS:
        if set(columns) <= set(header):
            picked = [header.index(name) for name in columns]
            return reader(path, _table(path, lines), picked)
    raise ValueError(
        f"trace {path}: first line {lines[0][:80]!r} is no known format; allowed: Azure CSV (TIMESTAMP, "
        "ContextTokens, GeneratedTokens), Mooncake JSON lines (timestamp, input_length, output_length, "
        "hash_ids), BurstGPT CSV (Timestamp, Request tokens, Response tokens), "
        "vidur CSV (num_prefill_tokens, num_decode_tokens)"
    )


def _table(path: Path, lines: list[str], first: int = 2) -> Iterator[list[str]]:
    """Rows of cells from line `first` on; a cell that csv will not read is a broken row."""
    reader = csv.reader(lines[first - 1 :])
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            row = first - 1 + reader.line_num
            raise ValueError(f"trace {path}: row {row}: not readable as CSV ({error})") from None


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        what = (
            "is a folder" if path.is_dir() else "is a device or a pipe" if path.exists() else "no such file"
        )
        raise ValueError(f"trace {path}: {what}; give the path of a trace file (CSV or JSON lines)")
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise ValueError(
            f"trace {path}: the file has {size / 1e6:.0f} MB; allowed: at most {MAX_FILE_BYTES / 1e6:.0f} MB"
        )
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(
            f"trace {path}: not text in UTF-8; allowed: an unpacked CSV or JSON-lines file"
        ) from None
    lines = text.splitlines()
    if not any(line.strip() for line in lines):
        raise ValueError(
            f"trace {path}: the file is empty; allowed: a header or JSON lines with at least one row"
        )
    return lines


def _broken(path: Path, row: int, column: str, value: object, allowed: str) -> ValueError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return ValueError(f"trace {path}: row {row}, column {column} = {shown}; allowed: {allowed}")


def _tokens(path: Path, row: int, column: str, value: object, least: int = 1) -> int:
    try:
        number = _number(value)
        if number == int(number) and least <= number <= MAX_TOKENS and not isinstance(value, bool):
            return int(number)
    except (TypeError, ValueError, OverflowError):
        pass
    raise _broken(path, row, column, value, f"a whole number from {least} to {MAX_TOKENS}")


def _seconds(path: Path, row: int, column: str, value: object, unit: str) -> float:
    try:
        number = _number(value)
        if 0 <= number < 1e15 and not isinstance(value, bool):
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise _broken(path, row, column, value, f"a number of {unit}, at least 0")


def _number(value: object) -> float:
    """A JSON number or the text of a cell. ValueError, TypeError or OverflowError for anything else."""
    if isinstance(value, str):
        number = plain_number(value)
        if number is None:
            raise ValueError(value)
        return number
    return float(value)  # type: ignore[arg-type]


def _mooncake(path: Path, lines: list[str]) -> TraceRows:
    rows = TraceRows()
    for row, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):  # also an integer of thousands of digits
            raise _broken(path, row, "(whole row)", line, "one JSON object a line") from None
        if not isinstance(entry, dict):
            raise _broken(path, row, "(whole row)", line, "one JSON object a line")
        for column in ("timestamp", "input_length", "output_length"):
            if column not in entry:
                raise _broken(path, row, column, None, "present in every row")
        hashes = entry.get("hash_ids", [])
        if not isinstance(hashes, list) or not all(type(block) is int for block in hashes):
            raise _broken(path, row, "hash_ids", hashes, "a list of whole numbers")
        rows.arrival_s.append(_seconds(path, row, "timestamp", entry["timestamp"], "milliseconds") * MS)
        rows.input_tokens.append(_tokens(path, row, "input_length", entry["input_length"]))
        rows.output_tokens.append(_tokens(path, row, "output_length", entry["output_length"]))
        rows.block_hashes.append(tuple(hashes))
    if not any(rows.block_hashes):
        rows.block_hashes = []
    return rows


def _cells(path: Path, row: int, cells: list[str], picked: list[int]) -> list[str]:
    if len(cells) <= max(picked):
        raise _broken(path, row, "(whole row)", ",".join(cells), f"at least {max(picked) + 1} columns")
    return [cells[index].strip() for index in picked]


def _azure(path: Path, table: Iterator[list[str]], picked: list[int]) -> TraceRows:
    rows = TraceRows()
    days: dict[str, float] = {}
    for row, cells in enumerate(table, start=2):
        if not cells:
            continue
        stamp, context, generated = _cells(path, row, cells, picked)
        try:
            day = stamp[:10]
            if day not in days:
                days[day] = date.fromisoformat(day).toordinal() * SECONDS_PER_DAY
            if not stamp.isascii() or "_" in stamp:
                raise ValueError(stamp)
            hours, minutes, seconds = stamp[11:].removesuffix("Z").split("+")[0].split(":")
            clock_s = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
            if not (stamp[10] in " T" and 0 <= clock_s < SECONDS_PER_DAY + 1):
                raise ValueError(stamp)
        except (ValueError, IndexError):
            allowed = "a time like 2023-11-16 18:15:46.6805900"
            raise _broken(path, row, "TIMESTAMP", stamp, allowed) from None
        # Seconds since year 1 leave too few digits for 100 ns: count from the first row's day.
        rows.arrival_s.append(days[day] - next(iter(days.values())) + clock_s)
        rows.input_tokens.append(_tokens(path, row, "ContextTokens", context))
        rows.output_tokens.append(_tokens(path, row, "GeneratedTokens", generated))
    return rows


def _burstgpt(path: Path, table: Iterator[list[str]], picked: list[int]) -> TraceRows:
    rows = TraceRows()
    for row, cells in enumerate(table, start=2):
        if not cells:
            continue
        stamp, request, response = _cells(path, row, cells, picked)
        arrival_s = _seconds(path, row, "Timestamp", stamp, "seconds")
        output_tokens = _tokens(path, row, "Response tokens", response, least=0)
        # A response of 0 tokens is how the trace writes a failed request.
        input_tokens = _tokens(path, row, "Request tokens", request, least=0 if output_tokens == 0 else 1)
        if output_tokens == 0:
            rows.dropped_rows += 1
            continue
        rows.arrival_s.append(arrival_s)
        rows.input_tokens.append(input_tokens)
        rows.output_tokens.append(output_tokens)
    return rows


def _vidur(path: Path, table: Iterator[list[str]], picked: list[int]) -> TraceRows:
    rows = TraceRows()
    for row, cells in enumerate(table, start=2):
        if not cells:
            continue
        prefill, decode = _cells(path, row, cells, picked)
        rows.input_tokens.append(_tokens(path, row, "num_prefill_tokens", prefill))
        rows.output_tokens.append(_tokens(path, row, "num_decode_tokens", decode))
    return rows


_CsvReader = Callable[[Path, Iterator[list[str]], list[int]], TraceRows]
_CSV_FORMATS: tuple[tuple[tuple[str, ...], _CsvReader], ...] = (
    (("timestamp", "contexttokens", "generatedtokens"), _azure),
    (("timestamp", "request tokens", "response tokens"), _burstgpt),
    (("num_prefill_tokens", "num_decode_tokens"), _vidur),
)
