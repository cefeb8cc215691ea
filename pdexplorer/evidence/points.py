"""Step points: rows of a CSV that each describe one engine step, in any of three column layouts.

Layouts, told apart by their columns: this project's own (engine, system, model, weight_format, kv_format,
tp, pp,
ep, attention_dp, phase, batch, new_tokens, cached_tokens, context_tokens; most have defaults), that of
step_times.csv (backend, gemm_quant, isl_new, prefix, ...) and that of mixed_steps.csv (hardware,
prompt_tokens, ...).
`batch` is per attention-DP rank, as in step_times.csv.
"""

import csv
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pdexplorer.catalog.aliases import resolve_accelerator, resolve_engine, resolve_format, resolve_model
from pdexplorer.physics.formats import weight_formats

LARGEST_FILE_BYTES = 64_000_000
_Named = TypeVar("_Named")
PHASES = ("prefill", "decode", "mixed")
_PROMPT = ("new_tokens", "isl_new", "prompt_tokens")
_CACHED = ("cached_tokens", "prefix", "prefill_context")
_CONTEXT = ("context_tokens", "context_len", "context")
_OWN_COLUMNS = (
    "engine, system, model, weight_format, kv_format, tp, pp, ep, attention_dp, phase, batch, new_tokens, "
    "cached_tokens, context_tokens"
)


@dataclass(frozen=True, slots=True)
class StepPoint:
    """One step of one instance: catalogue ids, formats, parallelism, load; the measured time where given.

    new_tokens and cached_tokens are per prefilling sequence, context_tokens per decoding one; both
    batches are of
    one attention-DP rank. raw is the row as read.
    """

    row: int
    engine: str
    accelerator: str
    model: str
    weight_format: str
    kv_format: str
    tp: int
    pp: int
    ep: int
    attention_dp: int
    phase: str
    prefill_batch: int
    new_tokens: float
    cached_tokens: float
    decode_batch: int
    context_tokens: float
    measured_ms: float | None
    raw: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that describes no step this package knows: as read, and why, in one line. unknown: it names what
    is not in the catalogue; else a cell is broken.
    """

    row: int
    raw: Mapping[str, str]
    reason: str
    unknown: bool


class UnknownNameError(ValueError):
    """A name that means nothing here: no fault of the file."""


def read_points(path: str | Path) -> list[StepPoint]:
    """All points of a CSV file. ValueError, one line, for an empty or huge file or a broken row."""
    points = []
    for row in read_rows(path):
        if isinstance(row, RefusedRow):
            raise ValueError(f"row {row.row}: {row.reason}")
        points.append(row)
    return points


def readable_rows(path: str | Path) -> list[StepPoint | RefusedRow]:
    """All rows, those among them that name the unknown. ValueError, one line, for a bad file, a broken row,
    or where no row is known.
    """
    rows = read_rows(path)
    refused = [row for row in rows if isinstance(row, RefusedRow)]
    for row in refused:
        if not row.unknown or len(refused) == len(rows):
            raise ValueError(f"row {row.row}: {row.reason}")
    return rows


def read_rows(path: str | Path, needed: tuple[str, ...] = ()) -> list[StepPoint | RefusedRow]:
    """All rows of a CSV file, those among them that cannot be read. needed: columns without which a row is
    not read although they have a default. ValueError for an empty or huge file, or one without such a column.
    """
    file = Path(path)
    if file.stat().st_size > LARGEST_FILE_BYTES:
        raise ValueError(
            f"{file.name} holds {file.stat().st_size} bytes; at most {LARGEST_FILE_BYTES} are read"
        )
    with file.open(newline="", encoding="utf-8-sig", errors="replace") as handle:
        reader = csv.DictReader(handle)
        columns = tuple(reader.fieldnames or ())
        _check_columns(file.name, columns)
        missing = [name for name in needed if name not in columns]
        if missing:
            raise ValueError(f"{file.name} has no column {missing[0]}; needed are {', '.join(needed)}")
        rows = [point_or_refusal(reader.line_num, row, needed) for row in reader]
    if not rows:
        raise ValueError(f"{file.name} has no rows below its header; expected columns: {_OWN_COLUMNS}")
    return rows


def time_in(row: Mapping[str, str | None], column: str) -> float:
    """A measured time to compare with: above 0, as `number_in`."""
    if (value := number_in(row, column)) == 0.0:
        raise ValueError(f"{column} = {row[column]!r} must be above 0 to be compared with")
    return value


def number_in(row: Mapping[str, str | None], column: str) -> float:
    """A cell as a number from 0 to 1e9. ValueError with the column where it is none."""
    text = row[column] or ""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1e9:
        raise ValueError(f"{column} = {text!r} must be a number from 0 to 1e9")
    return value


def point_or_refusal(
    number: int, raw: Mapping[str, str | None], needed: tuple[str, ...] = ()
) -> StepPoint | RefusedRow:
    """One row; `number` is its line in the file. needed: as `read_rows`."""
    cells = {key: (value or "").strip() for key, value in raw.items() if isinstance(key, str)}
    try:
        for name in needed:
            if not cells.get(name):
                raise ValueError(f"{name} is empty")
        return _parse(number, cells)
    except ValueError as error:
        return RefusedRow(number, cells, str(error), isinstance(error, UnknownNameError))


def _check_columns(name: str, columns: tuple[str, ...]) -> None:
    if "model" not in columns or not {"system", "hardware"} & set(columns):
        found = ", ".join(columns)[:200] or "nothing"
        raise ValueError(f"{name} has columns {found}; expected {_OWN_COLUMNS} (or those of step_times.csv)")


def _parse(number: int, cells: dict[str, str]) -> StepPoint:
    model, named_format = _named("model", cells.get("model", ""), resolve_model)
    system = cells.get("system") or cells.get("hardware", "")
    phase = (cells.get("phase") or "decode").lower()
    if phase not in PHASES:
        raise ValueError(f"phase = {phase!r} is not one of {', '.join(PHASES)}")
    batch = _whole(cells, ("batch",), 1, low=0 if phase == "mixed" else 1)
    for name in (*_PROMPT, *_CACHED, *_CONTEXT):  # a broken cell is one, whether this phase needs it or not
        _count(cells, (name,), 0, default=0.0)
    prefills, decodes = phase != "decode", phase != "prefill"
    return StepPoint(
        row=number,
        engine=_named("engine", cells.get("engine") or cells.get("backend") or "vllm", resolve_engine),
        accelerator=_named("system", system, resolve_accelerator),
        model=model,
        weight_format=_weight_format(cells, named_format),
        kv_format=_kv_format(cells),
        tp=_whole(cells, ("tp",), 1),
        pp=_whole(cells, ("pp",), 1),
        ep=_whole(cells, ("ep", "moe_ep"), 1),
        attention_dp=_whole(cells, ("attention_dp", "attn_dp"), 1),
        phase=phase,
        prefill_batch=(1 if phase == "mixed" else batch) if prefills else 0,
        new_tokens=_count(cells, _PROMPT, 1) if prefills else 0.0,
        cached_tokens=_count(cells, _CACHED, 0, default=0.0) if prefills else 0.0,
        decode_batch=batch if decodes else 0,
        context_tokens=_count(cells, _CONTEXT, 0) if decodes else 0.0,
        measured_ms=_measured(cells),
        raw=cells,
    )


def _named(key: str, value: str, resolve: Callable[[str], _Named]) -> _Named:
    if not value:
        raise ValueError(f"{key} is empty")
    try:
        return resolve(value)
    except ValueError as error:
        raise UnknownNameError(f"{key} = {value!r}: {error}") from None


def _weight_format(cells: Mapping[str, str], named: str | None) -> str:
    given = cells.get("weight_format")
    if not given and cells.get("gemm_quant"):
        experts = resolve_or_none(cells.get("moe_quant", ""))
        # A checkpoint with 4-bit experts keeps its projections in 16 bits: the experts name the format.
        given = "mxfp4" if experts == "mxfp4" else cells["gemm_quant"]
    resolved = resolve_or_none(given or "") if given else (named or "bf16")
    if resolved not in weight_formats():
        raise UnknownNameError(f"weight_format = {given!r} is not one of {', '.join(weight_formats())}")
    return str(resolved)


def _kv_format(cells: Mapping[str, str]) -> str:
    given = cells.get("kv_format") or cells.get("kv_quant") or "bf16"
    resolved = resolve_or_none(given)
    if resolved not in ("bf16", "fp8"):
        raise UnknownNameError(f"kv_format = {given!r} is not one of bf16, fp8")
    return resolved


def resolve_or_none(name: str) -> str | None:
    """This project's word for a number format, or None for a name nobody knows."""
    try:
        return resolve_format(name)
    except ValueError:
        return None


def _cell(cells: Mapping[str, str], names: tuple[str, ...]) -> tuple[str, str]:
    for name in names:
        if cells.get(name):
            return name, cells[name]
    return names[0], ""


def _count(
    cells: Mapping[str, str], names: tuple[str, ...], low: float, default: float | None = None
) -> float:
    name, text = _cell(cells, names)
    if not text:
        if default is None:
            raise ValueError(f"{name} is empty; a number of at least {low:g} is needed")
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not low <= value <= 1e9:
        raise ValueError(f"{name} = {text!r} must be a number from {low:g} to 1e9")
    return value


def _whole(cells: Mapping[str, str], names: tuple[str, ...], default: int, low: int = 1) -> int:
    value = _count(cells, names, low, float(default))
    if value != int(value):
        name, text = _cell(cells, names)
        raise ValueError(f"{name} = {text!r} must be a whole number")
    return int(value)


def _measured(cells: Mapping[str, str]) -> float | None:
    names = ("latency_ms", "measured_ms")
    return _count(cells, names, 0.0) if _cell(cells, names)[1] else None
