"""Mean TPOT of closed-loop runs in closed form: what the serving ratios are fitted with, replays being too
slow.

A request's decode takes its own steps and, for each prompt of the others that comes in meanwhile, what that
prompt adds. Against the replay of the same runs the form is off by 0.5% at the median.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.serving_points import ServingPoint
from pdexplorer.evidence.serving_predict import Served, pool_instance
from pdexplorer.evidence.serving_setup import (
    SETUPS,
    TOKENS_PER_STEP,
    named_outlier,
    predicts_several_tokens,
)
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.plan import compile_plan
from pdexplorer.physics.serving import ServingRatios, in_serving, model_class
from pdexplorer.physics.step import equal_load, load_parts

Floats = NDArray[np.float64]

_NEUTRAL = ServingRatios()


@dataclass(frozen=True, slots=True)
class RunBlock:
    """Runs of one instance, as arrays. group: (model, system), what is held out together; rows index the
    points.

    correction: replayed over closed-form TPOT, both before any fit. use: neither outlier nor unmeasured.
    """

    instance: object
    model_class: str
    group: tuple[str, str]
    prefill_first: bool
    budget_tokens: float
    input_tokens: Floats
    output_tokens: Floats
    concurrency: Floats
    decoding_fraction: Floats
    correction: Floats
    measured_ms: Floats
    use: NDArray[np.bool_]
    rows: NDArray[np.int64]


def group_of(point: ServingPoint) -> tuple[str, str]:
    """What must not be split between fit and score: the same shape on the same system under any of its
    names.
    """
    return ("deepseek" if point.model.startswith("deepseek") else point.model), point.accelerator


def run_blocks(points: Sequence[ServingPoint], replays: Sequence[Served], catalog: Catalog) -> list[RunBlock]:
    """Colocated runs by instance, with replays of them under neutral ratios."""
    by_key: dict[tuple[object, ...], list[int]] = {}
    for row, (point, replay) in enumerate(zip(points, replays, strict=True)):
        if point.colocated is not None and replay.tpot_ms is not None and point.measured_tpot_ms:
            pool = point.colocated
            key = (point.engine, point.accelerator, point.model, point.weight_format, point.kv_format)
            by_key.setdefault((*key, pool.tp, pool.pp, pool.ep, pool.attention_dp), []).append(row)
    return [_block(points, replays, rows, catalog) for rows in by_key.values()]


def closed_form_ms(block: RunBlock, ratios: ServingRatios) -> Floats:
    """Milliseconds a token of each run."""
    plan = compile_plan(in_serving(block.instance, ratios))  # type: ignore[arg-type]
    batch = np.maximum(block.concurrency * block.decoding_fraction, 1.0)
    context = block.input_tokens + block.output_tokens / 2
    none = np.zeros_like(batch)
    decode: Floats = np.asarray(sum(load_parts(plan, equal_load(plan, none, none, 1.0, batch, context))))
    room = block.budget_tokens - (none if block.prefill_first else batch)
    chunks = np.ceil(block.input_tokens / np.maximum(room, 256.0))
    new = block.input_tokens / chunks
    along = none if block.prefill_first else batch
    load = equal_load(plan, new, (chunks - 1) / 2 * new, 1.0, along, context)
    added = np.asarray(sum(load_parts(plan, load))) - (0.0 if block.prefill_first else decode)
    others = np.maximum(block.concurrency - 1, 0) * block.decoding_fraction
    gaps = np.maximum(block.output_tokens - 1, 1)
    return np.asarray(1e3 * (decode + others * chunks * added / gaps) * block.correction)


def _block(
    points: Sequence[ServingPoint], replays: Sequence[Served], rows: list[int], catalog: Catalog
) -> RunBlock:
    first = points[rows[0]]
    pool = first.colocated
    assert pool is not None
    instance = pool_instance(first, pool, catalog, _NEUTRAL)
    assert not isinstance(instance, Infeasible)
    own = [points[row] for row in rows]
    ttft = np.array([replays[row].ttft_ms for row in rows], dtype=float)
    tpot = np.array([replays[row].tpot_ms for row in rows], dtype=float)
    output = np.array([p.output_tokens * sum(p.length_ratios) / 2 for p in own])
    several = np.array([TOKENS_PER_STEP if predicts_several_tokens(p) else 1.0 for p in own])
    setup = SETUPS[first.engine]
    block = RunBlock(
        instance=_raw(first, catalog),
        model_class=model_class(catalog.models[first.model]),
        group=group_of(first),
        prefill_first=setup.chunking == "prefill_first",
        budget_tokens=float(setup.chunk_tokens * pool.attention_dp),
        input_tokens=np.array([p.input_tokens * sum(p.length_ratios) / 2 for p in own]),
        output_tokens=output,
        concurrency=np.array([_each(p) for p in own]),
        decoding_fraction=tpot * (output - 1) / (tpot * (output - 1) + ttft),
        correction=np.ones(len(rows)),
        # A step that yields several tokens takes that much longer than the time a token.
        measured_ms=np.array([p.measured_tpot_ms for p in own], dtype=float) * several,
        use=np.array([not named_outlier(p) for p in own]),
        rows=np.array(rows),
    )
    correction = tpot / closed_form_ms(block, _NEUTRAL)
    return RunBlock(**{**{name: getattr(block, name) for name in block.__slots__}, "correction": correction})


def _each(point: ServingPoint) -> float:
    """In flight on one instance."""
    assert point.colocated is not None
    return max(point.concurrency / point.colocated.instances, 1.0)


def _raw(point: ServingPoint, catalog: Catalog) -> object:
    from pdexplorer.physics.instance import Parallelism, build_instance

    pool = point.colocated
    assert pool is not None
    return build_instance(
        catalog.accelerators[point.accelerator],
        catalog.models[point.model],
        Parallelism(pool.tp, pool.pp, pool.ep, pool.attention_dp),
        point.weight_format,
        point.kv_format,
        catalog.engines[point.engine],
    )
