"""Scores vllm_runs.csv: real runs of one engine, replayed request by request."""

import csv
from pathlib import Path

import numpy as np

from pdexplorer.catalog.aliases import resolve_accelerator, resolve_model
from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.accuracy import TPOT, TTFT, ScoredFile, ScoredRow
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.fleet import ColocatedFleet
from pdexplorer.physics.instance import Parallelism, build_instance
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.run import simulate_colocated
from pdexplorer.workload.requests import Requests

_KEYS = ("model", "hardware", "tp", "max_num_seqs", "max_num_batched_tokens")


def score_engine_runs(file: Path, catalog: Catalog) -> ScoredFile:
    """TTFT and TPOT of each request, at its own arrival time. No row of the file was used in a fit."""
    with file.open(newline="", encoding="utf-8-sig") as handle:
        raws = [dict(row) for row in csv.DictReader(handle)]
    runs: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for raw in raws:
        runs.setdefault(tuple(raw[key] for key in _KEYS), []).append(raw)
    rows = [row for run in runs.values() for row in _run(run, catalog)]
    return ScoredFile(
        "engine runs", tuple(rows), "none of its rows", "as it is: nothing was fitted to this file"
    )


def _run(raws: list[dict[str, str]], catalog: Catalog) -> list[ScoredRow]:
    first = raws[0]
    engine = catalog.engines["vllm"]
    model, weight_format = resolve_model(first["model"])
    instance = build_instance(
        catalog.accelerators[resolve_accelerator(first["hardware"])],
        catalog.models[model],
        Parallelism(int(first["tp"])),
        weight_format or "bf16",
        "bf16",
        engine,
    )
    ttft: np.ndarray[tuple[int], np.dtype[np.float64]]
    reason = ""
    ttft = tpot = np.full(len(raws), np.nan)
    if isinstance(instance, Infeasible):
        reason = instance.text
    else:
        chunk, most = int(first["max_num_batched_tokens"]), int(first["max_num_seqs"])
        requests = Requests(
            arrival_s=np.array([float(raw["arrival_s"]) for raw in raws]),
            input_tokens=np.array([int(raw["input_tokens"]) for raw in raws]),
            cached_tokens=np.zeros(len(raws), dtype=np.int64),
            output_tokens=np.array([int(raw["output_tokens"]) for raw in raws]),
        )
        fleet = ColocatedFleet(instance, 1, chunk, "chunked", most)
        records = simulate_colocated(fleet, requests, SimulationOptions(samples=0)).records
        ttft = 1e3 * (records["first_token_s"] - records["arrival_s"] + engine.request_overhead_s)
        gaps = np.maximum(records["output_tokens"] - 1, 1)
        tpot = 1e3 * (records["finish_s"] - records["first_token_s"]) / gaps
    return [
        ScoredRow(
            raw,
            {"system": raw["hardware"], "model": raw["model"]},
            {TTFT: float(raw["ttft_ms"]), TPOT: float(raw["tpot_ms"])},
            {TTFT: _or_none(ttft[i]), TPOT: _or_none(tpot[i])},
            reason,
            "shipped",
        )
        for i, raw in enumerate(raws)
    ]


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
