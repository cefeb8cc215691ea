"""Scores splitwise_perf_model.csv: prompt and token times of the 2023 engine, without CUDA graphs."""

import csv
from dataclasses import replace
from pathlib import Path

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.points import RefusedRow, StepPoint, number_in, point_or_refusal, time_in
from pdexplorer.evidence.scored import TPOT, TTFT, ScoredFile, ScoredRow, nothing_read, unread_row
from pdexplorer.evidence.steptime import predict_points

_DERIVED = "h100-80gb-pcap"
_LABELS = {
    "system": ("hardware",),
    "model": ("model",),
    "tp": ("tensor_parallel",),
    "batch": ("batch_size",),
}
_COLUMNS = (
    *(name for names in _LABELS.values() for name in names),
    *("prompt_size", "token_size", "prompt_time", "token_time"),
)


def score_splitwise(file: Path, catalog: Catalog) -> ScoredFile:
    """Prompt time as TTFT and time a token as TPOT, at the mean context of the run. Rows under a power cap
    were
    derived by their authors, not measured: they are set against the uncapped chip and reported apart.
    """
    with file.open(newline="", encoding="utf-8-sig") as handle:
        reader = csv.DictReader(handle)
        missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(f"{file.name} has no column {missing[0]}; needed are {', '.join(_COLUMNS)}")
        raws = [
            (reader.line_num, {name: (cell or "").strip() for name, cell in row.items() if name})
            for row in reader
        ]
    if not raws:
        raise ValueError(f"{file.name} has no rows below its header")
    found = [_row(number, raw, catalog) for number, raw in raws]
    refused = [row for row in found if isinstance(row, RefusedRow)]
    if len(refused) == len(found):
        raise nothing_read(file, refused)
    rows = tuple(
        unread_row(row, _LABELS, (TTFT, TPOT)) if isinstance(row, RefusedRow) else row for row in found
    )
    return ScoredFile(
        "splitwise",
        rows,
        "partly in sample: the overheads of vllm_2023 were read off its batch-1 rows, kernels from other "
        "files",
        "none: three numbers of that engine only",
    )


def _row(number: int, raw: dict[str, str], catalog: Catalog) -> ScoredRow | RefusedRow:
    try:
        measured = {TTFT: time_in(raw, "prompt_time"), TPOT: time_in(raw, "token_time")}
        context = number_in(raw, "prompt_size") + number_in(raw, "token_size") / 2
    except ValueError as error:
        return RefusedRow(number, raw, str(error), unknown=False)
    labels = {label: raw[name] for label, (name,) in _LABELS.items()}
    common = {
        "engine": "vllm_2023",
        "system": raw["hardware"].removesuffix("-pcap"),
        "model": raw["model"],
        "tp": raw["tensor_parallel"],
        "batch": raw["batch_size"],
    }
    needed = ("tp", "batch")
    found = [
        point_or_refusal(number, {**common, "phase": "prefill", "new_tokens": raw["prompt_size"]}, needed),
        point_or_refusal(number, {**common, "phase": "decode", "context_tokens": str(context)}, needed),
    ]
    refused = next((point for point in found if isinstance(point, RefusedRow)), None)
    if refused is not None:
        return replace(refused, raw=raw)
    points = [point for point in found if isinstance(point, StepPoint)]
    (first, why), (token, _) = predict_points(points, catalog, overhead="engine")
    suspect = labels["tp"] == "2" and labels["batch"] == "64"
    split = "derived by its authors" if raw["hardware"] == _DERIVED else "shipped"
    reason = why or ("TP 2 at batch 64 is marked suspect by the file's source" if suspect else "")
    return ScoredRow(raw, labels, measured, {TTFT: first, TPOT: token}, reason, split)
