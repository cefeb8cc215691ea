"""Two real vLLM runs under overload, replayed request by request: how close do TTFT and TPOT come?

Two factors a run are fitted to its first requests; the others are scored. Everything else is a figure: KV
memory, the engine's settings, arrivals and lengths.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.aliases import resolve_accelerator, resolve_model
from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.evidence.engine_rows import cells_of, engine_rows, times_s
from pdexplorer.evidence.points import RefusedRow
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.fleet import ColocatedFleet
from pdexplorer.physics.instance import Instance, Parallelism, build_instance
from pdexplorer.physics.serving import in_serving
from pdexplorer.simulator.options import CacheOptions, SimulationOptions
from pdexplorer.simulator.run import simulate_colocated
from pdexplorer.workload.requests import Requests

Floats = NDArray[np.float64]

CALIBRATION_REQUESTS = 100
"""The first of each run, which the factors are fitted to; nothing later is looked at."""

LIMITS: Mapping[str, float] = MappingProxyType({"mean": 0.05, "p50": 0.05, "p95": 0.10})
"""Errors that count as met, by statistic."""

MEMORY_FRACTION = 0.9
BLOCK_TOKENS = 16
_KERNEL_GRID = (0.84, 0.92, 1.0, 1.08, 1.16)
_OVERHEAD_GRID_S = (0.0, 0.00125, 0.0025, 0.00375, 0.005)
_HALVINGS = 3


@dataclass(frozen=True, eq=False)
class VllmRun:
    """One measured run, in order of arrival; rows as read. ttft_s counts from arrival: the file counts from
    when the engine queued the request, up to a step later. problem: a name nobody knows, which stands as
    written.
    """

    rows: tuple[Mapping[str, str], ...]
    model: str
    weight_format: str
    accelerator: str
    tp: int
    max_batch: int
    chunk_tokens: int
    requests: Requests
    ttft_s: Floats
    tpot_s: Floats
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Factors:
    """All that is fitted. kernel_ratio: kernel times over those of the catalogue's efficiencies;
    step_overhead_s: what a step costs besides its kernels.
    """

    kernel_ratio: float
    step_overhead_s: float


@dataclass(frozen=True, eq=False)
class Replayed:
    """Predictions in the order of the run; NaN where a request did not finish."""

    ttft_s: Floats
    tpot_s: Floats
    preemptions: int


@dataclass(frozen=True, slots=True)
class RunScore:
    """One statistic of one metric over the scored requests."""

    metric: str
    statistic: str
    measured_s: float
    predicted_s: float

    @property
    def error_fraction(self) -> float:
        """Predicted over measured, less 1."""
        return self.predicted_s / self.measured_s - 1.0

    @property
    def met(self) -> bool:
        """Whether the error is within its limit."""
        return abs(self.error_fraction) <= LIMITS[self.statistic]


def read_vllm_runs(path: Path) -> tuple[VllmRun, ...]:
    """The runs of the file, told apart by their settings. ValueError names a column that is missing, or a row
    with a broken cell.
    """
    runs, refused = readable_runs(path)
    if refused:
        raise ValueError(f"row {refused[0].row}: {refused[0].reason}")
    return runs


def readable_runs(path: Path) -> tuple[tuple[VllmRun, ...], tuple[RefusedRow, ...]]:
    """The runs of the file and its rows with a broken cell. A request of which only a measured time is broken
    was there all the same: it is in its run too, its times NaN. ValueError names a column that is missing.
    """
    runs, refused = engine_rows(path)
    return tuple(_run(own) for own in runs), refused


def run_instance(run: VllmRun, catalog: Catalog | None = None) -> Instance:
    """The run's instance before any fit: kernels as in serving. ValueError where it cannot run."""
    if run.problem:
        raise ValueError(run.problem)
    catalogue = catalog or load_catalog()
    instance = build_instance(
        catalogue.accelerators[run.accelerator],
        catalogue.models[run.model],
        Parallelism(run.tp),
        run.weight_format,
        "bf16",
        catalogue.engines["vllm"],
        memory_fraction=MEMORY_FRACTION,
        kv_block_tokens=BLOCK_TOKENS,
    )
    if isinstance(instance, Infeasible):
        raise ValueError(instance.text)
    return in_serving(instance)


def default_factors(run: VllmRun, catalog: Catalog | None = None) -> Factors:
    """What a prediction takes that has seen no run."""
    return Factors(1.0, run_instance(run, catalog).engine.step_overhead_s)


def calibrated(instance: Instance, factors: Factors) -> Instance:
    """The same instance with its kernels slower by a ratio, and with another overhead of a step."""
    e, ratio = instance.efficiency, factors.kernel_ratio
    attention = replace(
        e.attention,
        prefill_mfu=e.attention.prefill_mfu / ratio,
        decode_mbu=e.attention.decode_mbu / ratio,
        decode_mfu=e.attention.decode_mfu / ratio,
    )
    efficiency = replace(
        e,
        gemm=replace(e.gemm, mfu=e.gemm.mfu / ratio, mbu=e.gemm.mbu / ratio),
        head=replace(e.head, mfu=e.head.mfu / ratio, mbu=e.head.mbu / ratio),
        elementwise=replace(e.elementwise, mbu=e.elementwise.mbu / ratio),
        attention=attention,
    )
    engine = replace(instance.engine, step_overhead_s=factors.step_overhead_s)
    return replace(instance, efficiency=efficiency, engine=engine)


def replay(
    run: VllmRun, factors: Factors, catalog: Catalog | None = None, horizon_s: float | None = None
) -> Replayed:
    """The run through one colocated instance; measured times are not used.

    As vLLM's v1 engine serves: decodes first, prompts in order of arrival, no watermark, the latest admitted
    preempted and recomputed. Prefix caching is on by default, so the prompt of a preempted request is found
    again, its answer is not. That is a bound: the engine may have overwritten part of the prompt by then.
    Prompts of different requests share nothing here.
    """
    instance = calibrated(run_instance(run, catalog), factors)
    fleet = ColocatedFleet(instance, 1, run.chunk_tokens, "chunked", run.max_batch)
    options = SimulationOptions(
        kv_block_tokens=BLOCK_TOKENS,
        watermark_fraction=0.0,
        horizon_s=horizon_s,
        samples=0,
        cache=CacheOptions(),
    )
    records = simulate_colocated(fleet, run.requests, options).records
    ttft_s = records["first_token_s"] - records["arrival_s"]
    gaps = np.maximum(run.requests.output_tokens - 1, 1)
    tpot_s = (records["finish_s"] - records["first_token_s"]) / gaps
    return Replayed(ttft_s, tpot_s, int(records["preemptions"].sum()))


def calibrate(run: VllmRun, catalog: Catalog | None = None, requests: int = CALIBRATION_REQUESTS) -> Factors:
    """The factors that fit the first requests best: a grid, then ever smaller steps from its best point."""
    known: dict[tuple[float, float], float] = {}
    horizon_s = 1.3 * float(_finish_s(run)[:requests].max())

    def misfit_of(point: tuple[float, float]) -> float:
        point = (round(point[0], 6), round(max(point[1], 0.0), 8))
        if point not in known:
            known[point] = misfit(run, replay(run, Factors(*point), catalog, horizon_s), requests)
        return known[point]

    best = min(product(_KERNEL_GRID, _OVERHEAD_GRID_S), key=misfit_of)
    kernel_step, overhead_step = _KERNEL_GRID[1] - _KERNEL_GRID[0], _OVERHEAD_GRID_S[1]
    for _ in range(_HALVINGS):
        kernel_step, overhead_step = kernel_step / 2, overhead_step / 2
        around = [
            (best[0] + i * kernel_step, max(best[1] + j * overhead_step, 0.0))
            for i, j in product((0, -1, 1), (0, -1, 1))
        ]
        best = min(around, key=misfit_of)
    return Factors(round(best[0], 6), round(best[1], 8))


def misfit(run: VllmRun, replayed: Replayed, requests: int = CALIBRATION_REQUESTS) -> float:
    """Mean error of the first requests: of TPOT by itself, of TTFT by the request's whole time, so that a
    TTFT of a tenth of a second does not outweigh the queue. Infinite where one did not finish.
    """
    first = slice(0, requests)
    whole_s = (_finish_s(run) - run.requests.arrival_s)[first]
    ttft = np.abs(replayed.ttft_s - run.ttft_s)[first] / whole_s
    tpot = np.abs(replayed.tpot_s / run.tpot_s - 1.0)[first]
    total = float(ttft.mean() + tpot.mean())
    return total if np.isfinite(total) else float("inf")


def score(run: VllmRun, replayed: Replayed, requests: int = CALIBRATION_REQUESTS) -> tuple[RunScore, ...]:
    """Mean, P50 and P95 of TTFT and TPOT over the requests that the factors have not seen."""
    pairs = (("ttft", run.ttft_s, replayed.ttft_s), ("tpot", run.tpot_s, replayed.tpot_s))
    return tuple(
        RunScore(metric, name, _statistic(name, measured[requests:]), _statistic(name, predicted[requests:]))
        for metric, measured, predicted in pairs
        for name in LIMITS
    )


def _statistic(name: str, values: Floats) -> float:
    return float(values.mean() if name == "mean" else np.quantile(values, int(name[1:]) / 100.0))


def _finish_s(run: VllmRun) -> Floats:
    r = run.requests
    finish: Floats = r.arrival_s + run.ttft_s + run.tpot_s * np.maximum(r.output_tokens - 1, 1)
    return finish


def _run(rows: Sequence[Mapping[str, str]]) -> VllmRun:
    rows = sorted(rows, key=lambda row: float(row["arrival_s"]))
    first = rows[0]
    arrival_s = cells_of(rows, "arrival_s")
    input_tokens = cells_of(rows, "input_tokens").astype(np.int64)
    own_blocks = tuple(
        tuple(number * 1_000_000 + block for block in range(int(tokens) // BLOCK_TOKENS))
        for number, tokens in enumerate(input_tokens)
    )
    requests = Requests(
        arrival_s=arrival_s,
        input_tokens=input_tokens,
        cached_tokens=np.zeros(len(rows), dtype=np.int64),
        output_tokens=cells_of(rows, "output_tokens").astype(np.int64),
        block_hashes=own_blocks,
        block_tokens=BLOCK_TOKENS,
    )
    model, weight_format, accelerator, problem = _names(first)
    return VllmRun(
        rows=tuple(rows),
        model=model,
        weight_format=weight_format,
        accelerator=accelerator,
        tp=int(float(first["tp"])),
        max_batch=int(float(first["max_num_seqs"])),
        chunk_tokens=int(float(first["max_num_batched_tokens"])),
        requests=requests,
        ttft_s=cells_of(rows, "queued_s") - arrival_s + times_s(rows, "ttft_ms"),
        tpot_s=times_s(rows, "tpot_ms"),
        problem=problem,
    )


def _names(row: Mapping[str, str]) -> tuple[str, str, str, str]:
    """(model, weight format, accelerator, ""), or as written with what is unknown."""
    try:
        model, weight_format = resolve_model(row["model"])
        return model, weight_format or "bf16", resolve_accelerator(row["hardware"]), ""
    except ValueError as error:
        return row["model"], "", row["hardware"], str(error)
