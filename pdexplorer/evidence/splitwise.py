"""Scores splitwise_perf_model.csv: prompt and token times of the 2023 engine, without CUDA graphs."""

import csv
from pathlib import Path

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.accuracy import TPOT, TTFT, ScoredFile, ScoredRow
from pdexplorer.evidence.points import RefusedRow, StepPoint, number_in, point_or_refusal, time_in
from pdexplorer.evidence.steptime import predict_points

_DERIVED = "h100-80gb-pcap"


def score_splitwise(file: Path, catalog: Catalog) -> ScoredFile:
    """Prompt time as TTFT and time a token as TPOT, at the mean context of the run. Rows under a power cap
    were
    derived by their authors, not measured: they are set against the uncapped chip and reported apart.
    """
    with file.open(newline="", encoding="utf-8-sig") as handle:
        raws = [dict(row) for row in csv.DictReader(handle)]
    if not raws:
        raise ValueError(f"{file.name} has no rows below its header")
    rows = tuple(_row(number, raw, catalog) for number, raw in enumerate(raws, start=2))
    return ScoredFile(
        "splitwise",
        rows,
        "partly in sample: the overheads of vllm_2023 were read off its batch-1 rows, kernels from other "
        "files",
        "none: three numbers of that engine only",
    )


def _row(number: int, raw: dict[str, str], catalog: Catalog) -> ScoredRow:
    labels = {
        "system": raw["hardware"],
        "model": raw["model"],
        "tp": raw["tensor_parallel"],
        "batch": raw["batch_size"],
    }
    measured = {TTFT: time_in(number, raw, "prompt_time"), TPOT: time_in(number, raw, "token_time")}
    common = {
        "engine": "vllm_2023",
        "system": raw["hardware"].removesuffix("-pcap"),
        "model": raw["model"],
        "tp": raw["tensor_parallel"],
        "batch": raw["batch_size"],
    }
    context = number_in(number, raw, "prompt_size") + number_in(number, raw, "token_size") / 2
    found = [
        point_or_refusal(number, {**common, "phase": "prefill", "new_tokens": raw["prompt_size"]}),
        point_or_refusal(number, {**common, "phase": "decode", "context_tokens": str(context)}),
    ]
    refused = next((point for point in found if isinstance(point, RefusedRow)), None)
    if refused is not None:
        if not refused.unknown:
            raise ValueError(f"row {number}: {refused.reason}")
        return ScoredRow(raw, labels, measured, {TTFT: None, TPOT: None}, refused.reason, "not read")
    points = [point for point in found if isinstance(point, StepPoint)]
    (first, why), (token, _) = predict_points(points, catalog, overhead="engine")
    suspect = labels["tp"] == "2" and labels["batch"] == "64"
    split = "derived by its authors" if raw["hardware"] == _DERIVED else "shipped"
    reason = why or ("TP 2 at batch 64 is marked suspect by the file's source" if suspect else "")
    return ScoredRow(raw, labels, measured, {TTFT: first, TPOT: token}, reason, split)
