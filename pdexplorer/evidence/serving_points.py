"""Rows of serving.csv: measured closed-loop runs, with their parallelism and concurrency made consistent.

The file was merged from several benchmark dumps that count GPUs differently. What is settled here, from the
configuration alone and never from a measured time, is named in `notes` of each point.
"""

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pdexplorer.catalog.aliases import resolve_accelerator, resolve_engine, resolve_format, resolve_model
from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.evidence.points import RefusedRow
from pdexplorer.evidence.serving_fleets import Recipe, fleet_of
from pdexplorer.evidence.serving_pools import (
    LOOKED_UP_FLEET,
    NO_POOLS,
    OWN_SWEEPS,
    STATED,
    WHOLE_FLEET,
    Pool,
    always_spreads_experts,
    concurrency_of,
    count,
    looked_up,
    read_pool,
    with_instances,
)

COLUMNS = ("silicon_data_source", "backend", "model_path", "system", "mode", "isl", "osl", "tp_size")
_DAY = re.compile(r"measured=(\d{4}-\d\d-\d\d)")
SWEPT_MIDDLE = 16
CLIENT_LIMIT = (
    "512 is what the client would hold, not what the server admitted: read as 16, ten requests each, at once"
)
"""The script of this sweep sets max-num-seqs to each of its loads, 4 to 64, and sends ten requests a slot:
all at once where the client may hold 512. Which load a row had it does not say: the middle one is assumed.
"""


@dataclass(frozen=True, slots=True)
class ServingPoint:
    """One run. colocated, or prefill and decode, name the pools; problem says why a row determines no fleet.

    concurrency is of the whole fleet. length_ratios: lengths are uniform between these shares of the nominal.
    notes: what was read otherwise than written. raw is the row as read. recipe: of a split fleet that was
    looked up.
    """

    row: int
    engine: str
    accelerator: str
    model: str
    weight_format: str
    kv_format: str
    input_tokens: int
    output_tokens: int
    length_ratios: tuple[float, float]
    concurrency: int
    colocated: Pool | None
    prefill: Pool | None
    decode: Pool | None
    measured_ttft_ms: float
    measured_tpot_ms: float
    problem: str
    notes: tuple[str, ...]
    raw: Mapping[str, str]
    recipe: Recipe | None = None

    @property
    def own_sweep(self) -> bool:
        """Whether the file's authors measured the run themselves; the others are from a public dump."""
        return OWN_SWEEPS in self.raw["silicon_data_source"]

    @property
    def measured_on(self) -> str:
        """The day it was measured, or nothing."""
        found = _DAY.search(self.raw["silicon_data_source"])
        return found.group(1) if found else ""

    @property
    def mean_length_ratio(self) -> float:
        """Mean length over the nominal."""
        return sum(self.length_ratios) / 2

    @property
    def mode(self) -> str:
        """agg or disagg, as the file says."""
        return self.raw["mode"]


def read_serving(path: str | Path, catalog: Catalog | None = None) -> list[ServingPoint]:
    """All runs of a file laid out as serving.csv. ValueError, one line, for a file or row it cannot read."""
    points = []
    for row in serving_rows(path, catalog):
        if isinstance(row, RefusedRow):
            raise ValueError(f"{Path(path).name} row {row.row}: {row.reason}")
        points.append(row)
    return points


def serving_rows(path: str | Path, catalog: Catalog | None = None) -> list[ServingPoint | RefusedRow]:
    """All rows of such a file, those among them with a broken cell. ValueError for a file it cannot read."""
    file = Path(path)
    with file.open(newline="", encoding="utf-8-sig", errors="replace") as handle:
        reader = csv.DictReader(handle)
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(
                f"{file.name} has no column {missing[0]}; a serving file has {', '.join(COLUMNS)}"
            )
        rows = [
            (reader.line_num, {key: (value or "").strip() for key, value in row.items() if key})
            for row in reader
        ]
    if not rows:
        raise ValueError(f"{file.name} has no rows below its header")
    catalogue = catalog or load_catalog()
    return [_point_or_refusal(number, row, catalogue) for number, row in rows]


def parse_serving(number: int, cells: Mapping[str, str], catalog: Catalog | None = None) -> ServingPoint:
    """One row; `number` is its line in the file. A name nobody knows is the row's problem, not the file's.
    ValueError names key, value and what is allowed.
    """
    catalogue = catalog or load_catalog()
    names, unknown = _names(cells, catalogue)
    return _parse(number, cells, catalogue, names, unknown)


def _point_or_refusal(number: int, cells: Mapping[str, str], catalog: Catalog) -> ServingPoint | RefusedRow:
    try:
        return parse_serving(number, cells, catalog)
    except ValueError as error:
        return RefusedRow(number, cells, str(error), unknown=False)


def _names(cells: Mapping[str, str], catalog: Catalog) -> tuple[tuple[str, str, str, str], str]:
    """(engine, accelerator, model, weight format) as the catalogue calls them; as written, and which of them
    is unknown, where one is.
    """
    try:
        engine = resolve_engine(cells["backend"])
        accelerator = resolve_accelerator(cells["system"])
        model, named = resolve_model(cells["model_path"])
        return (engine, accelerator, model, _weight_format(cells, model, named, catalog)), ""
    except ValueError as error:
        written = (cells["backend"], cells["system"], cells["model_path"], cells.get("gemm_quant_mode", ""))
        return written, str(error)


def _parse(
    number: int, cells: Mapping[str, str], catalog: Catalog, names: tuple[str, str, str, str], unknown: str
) -> ServingPoint:
    engine, accelerator, model, weight_format = names
    notes: list[str] = []
    source = cells["silicon_data_source"]
    stated = STATED.search(source)
    colocated = prefill = decode = recipe = None
    problem = ""
    input_tokens, output_tokens = _whole(cells, "isl"), _whole(cells, "osl")
    if cells["mode"] == "agg":
        colocated, problem = read_pool(cells, "", notes)
        concurrency = concurrency_of(colocated, stated)
        if (engine, model, accelerator, concurrency) == ("vllm", "gpt_oss_120b", "h100_sxm", 512):
            notes.append(CLIENT_LIMIT)
            concurrency = 10 * SWEPT_MIDDLE
        if colocated is not None:
            colocated = with_instances(colocated, concurrency, cells, notes)
        if colocated is not None and WHOLE_FLEET in notes:
            lengths = (input_tokens, output_tokens)
            gpus = colocated.gpus * colocated.instances
            recipe = fleet_of((engine, accelerator, weight_format, *lengths), gpus, concurrency)
        if recipe is not None:
            colocated, prefill, decode = None, looked_up(recipe.prefill), looked_up(recipe.decode)
            notes[notes.index(WHOLE_FLEET)] = LOOKED_UP_FLEET
    else:
        concurrency = int(stated.group(1)) if stated else 0
        prefill, first = read_pool(cells, "prefill_", notes)
        decode, second = read_pool(cells, "decode_", notes)
        problem = first or second
        if not problem and (prefill is None or decode is None or not decode.batch or not prefill.batch):
            problem = NO_POOLS
        if not problem and not concurrency:
            assert decode is not None
            concurrency = decode.batch * decode.attention_dp * decode.instances
            notes.append("concurrency is taken as what the decode batches hold")
    if not problem and concurrency < 1:
        problem = "neither concurrency nor batch size is given"
    problem = unknown or problem
    return ServingPoint(
        row=number,
        engine=engine,
        accelerator=accelerator,
        model=model,
        weight_format=weight_format,
        kv_format="" if unknown else _kv_format(engine, weight_format, accelerator, model, catalog, cells),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        length_ratios=_length_ratios(engine, source),
        concurrency=concurrency,
        colocated=colocated if not problem else None,
        prefill=prefill if not problem else None,
        decode=decode if not problem else None,
        measured_ttft_ms=_time(cells, "silicon_ttft_ms"),
        measured_tpot_ms=_time(cells, "silicon_tpot_ms"),
        problem=problem,
        notes=tuple(notes),
        raw=cells,
        recipe=recipe if not problem else None,
    )


def _length_ratios(engine: str, source: str) -> tuple[float, float]:
    """Clients of InferenceX draw lengths uniformly from 0.8 of the nominal up to it. Those of the authors'
    own sweeps are equal: under TensorRT-LLM requests then end one step apart and come back so, for ever, and
    every prompt waits for two others at any concurrency. The other engines' sweeps do not show it: a tenth
    of spread is assumed for them.
    """
    if OWN_SWEEPS not in source:
        return 0.8, 1.0
    return (1.0, 1.0) if engine == "trtllm" else (0.9, 1.1)


def _weight_format(cells: Mapping[str, str], model: str, named: str | None, catalog: Catalog) -> str:
    given = cells.get("gemm_quant_mode", "")
    if not given:
        return named or "bf16"
    native = catalog.models[model].native_weight_format or "bf16"
    resolved = resolve_format(given)
    if native == "mxfp4":
        return "mxfp4"  # published only so, whatever the column says
    blocked = "fp8_block" in (native, named, cells.get("moe_quant_mode", ""))
    if resolved in ("fp8", "fp8_block") and blocked:
        return "fp8_block"
    return resolved


def _kv_format(
    engine: str,
    weight_format: str,
    accelerator: str,
    model: str,
    catalog: Catalog,
    cells: Mapping[str, str],
) -> str:
    """Assumed from checkpoints and public launch scripts: NVIDIA's static fp8 and nvfp4 checkpoints
    prescribe fp8 KV, TensorRT-LLM takes it with any quantised weights, SGLang for Qwen3.5 and for latent
    attention on Blackwell. vLLM on Blackwell: kv-cache-dtype fp8, of MiniMax since its scripts run 0.19.
    """
    if engine == "sglang" and model.startswith("qwen3_5"):
        return "fp8"
    if weight_format == "bf16":
        return "bf16"
    if engine == "trtllm":
        return "bf16" if weight_format == "mxfp4" else "fp8"
    blackwell = catalog.accelerators[accelerator].family == "blackwell"
    if engine == "sglang" and blackwell and catalog.models[model].attention == "mla":
        return "fp8"
    block = () if always_spreads_experts(cells) else ("fp8_block",)
    own = ("mxfp4", *block) if blackwell else ()
    if engine == "vllm" and weight_format in ("fp8", "nvfp4", *own):
        return "fp8"
    return "bf16"


def _whole(cells: Mapping[str, str], key: str) -> int:
    value = count(cells, key)
    if value < 1:
        raise ValueError(f"{key} = {cells.get(key, '')!r} must be a whole number of at least 1")
    return value


def _time(cells: Mapping[str, str], key: str) -> float:
    text = cells.get(key, "")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1e9:
        raise ValueError(f"{key} = {text!r} must be a number of milliseconds above 0")
    return value
