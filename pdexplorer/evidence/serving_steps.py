"""TTFT and TPOT of closed-loop runs in closed form: what the serving numbers are fitted with, replays being
too slow.

A request's decode takes its own steps and, for each prompt of the others that comes in meanwhile, what that
prompt adds; its TTFT is as many of its own prefill as the replay says. Both are scaled to the replay at
neutral ratios, so the form only says how times move with the ratios.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.serving_points import ServingPoint
from pdexplorer.evidence.serving_predict import Served, pool_instance
from pdexplorer.evidence.serving_setup import SETUPS, chunk_tokens, drafts, named_outlier, rounds, young
from pdexplorer.evidence.serving_waits import company, request_key, verify_added_s, waited_steps
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.plan import ReducePlan, StepPlan
from pdexplorer.physics.serving import KernelRatios, ServingRatios, format_key, scale_plan
from pdexplorer.physics.step import equal_load, load_parts

Floats = NDArray[np.float64]

_WALLED = 2.5
"""A replayed TTFT this many times what prefill alone explains waits for KV memory, not for prompts."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Colocated runs as arrays, in the order of `rows`, which index the points. keys: the request's cost;
    formats: which compute ratio applies. use: neither outlier nor unmeasured; walled: waits for memory.
    """

    rows: NDArray[np.int64]
    groups: NDArray[np.str_]
    keys: NDArray[np.str_]
    formats: NDArray[np.str_]
    young: NDArray[np.bool_]
    use: NDArray[np.bool_]
    walled: NDArray[np.bool_]
    ttft_ms: Floats
    tpot_ms: Floats
    drafts: Floats
    waited_steps: Floats
    together: Floats
    parts: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Runs whose plans have the same shape, stacked. where: their places in Runs. tpot_scale and ttft_scale:
    replay over closed form, both at neutral ratios; alone_ms: a prompt's prefill at neutral ratios.
    """

    where: NDArray[np.int64]
    plan: StepPlan
    prefill_first: NDArray[np.bool_]
    batch: Floats
    context: Floats
    chunks: Floats
    new: Floats
    along: Floats
    added_share: Floats
    drafts: Floats
    layers: Floats
    tpot_scale: Floats
    ttft_scale: Floats
    alone_ms: Floats


def group_of(point: ServingPoint) -> tuple[str, str]:
    """What must not be split between fit and score: the same shape on the same system under any of its
    names.
    """
    return ("deepseek" if point.model.startswith("deepseek") else point.model), point.accelerator


def closed_form_ms(part: Part, ratios: KernelRatios) -> tuple[Floats, Floats, Floats]:
    """Milliseconds of (a step and what interrupts it, TTFT without waits, a prompt alone) of each run."""
    plan = scale_plan(part.plan, ratios)
    decode, mixed = _steps_s(plan, part, part.along)
    added = mixed - np.where(part.prefill_first, 0.0, decode)
    longer = np.where(
        part.drafts > 0, verify_added_s(plan, part.batch, part.drafts, decode, part.layers), 0.0
    )
    step = 1e3 * (decode + longer + part.added_share * part.chunks * added) * part.tpot_scale
    prompt = 1e3 * mixed * part.chunks
    return step, prompt * part.ttft_scale, part.alone_ms * prompt / _neutral_prompt_ms(part)


def _neutral_prompt_ms(part: Part) -> Floats:
    return 1e3 * _steps_s(part.plan, part, part.along)[1] * part.chunks


def _steps_s(plan: StepPlan, part: Part, along: Floats) -> tuple[Floats, Floats]:
    """Seconds of a decode step, and of one with a prompt's chunk and `along` decodes."""
    none = np.zeros_like(part.batch)
    decode = sum(load_parts(plan, equal_load(plan, none, none, 1.0, part.batch, part.context)))
    past = (part.chunks - 1) / 2 * part.new
    mixed = sum(load_parts(plan, equal_load(plan, part.new, past, 1.0, along, part.context)))
    return np.asarray(decode) + none, np.asarray(mixed) + none


def collect_runs(points: Sequence[ServingPoint], replays: Sequence[Served], catalog: Catalog) -> Runs:
    """Colocated, measured runs with replays of them under neutral ratios."""
    rows = [
        row
        for row, (point, replay) in enumerate(zip(points, replays, strict=True))
        if point.colocated is not None
        and replay.tpot_ms is not None
        and point.measured_tpot_ms
        and point.measured_ttft_ms
    ]
    own = [points[row] for row in rows]
    shapes: dict[tuple[object, ...], list[int]] = {}
    plans: dict[tuple[object, ...], tuple[StepPlan, str]] = {}
    of_run = []
    for place, point in enumerate(own):
        pool = point.colocated
        key = (point.engine, point.accelerator, point.model, point.weight_format, point.kv_format, pool)
        if key not in plans:
            assert pool is not None
            instance = pool_instance(point, pool, catalog, ServingRatios())
            assert not isinstance(instance, Infeasible)
            plans[key] = instance.plan, format_key(instance)
        plan, _ = plans[key]
        of_run.append(plans[key])
        shapes.setdefault(_shape(plan), []).append(place)
    served = [replays[row] for row in rows]
    parts = tuple(
        _part(np.array(places), [of_run[i][0] for i in places], own, served, catalog)
        for places in shapes.values()
    )
    walled = np.zeros(len(rows), dtype=bool)
    for part in parts:
        walled[part.where] = _waits_for_memory(part, own, served)
    return Runs(
        rows=np.array(rows),
        groups=np.array(["|".join(group_of(p)) for p in own]),
        keys=np.array([request_key(p, catalog) for p in own]),
        formats=np.array([name for _, name in of_run]),
        young=np.array([young(p, catalog) for p in own]),
        use=np.array([not named_outlier(p) for p in own]),
        walled=walled,
        ttft_ms=np.array([p.measured_ttft_ms for p in own], dtype=float),
        tpot_ms=np.array([p.measured_tpot_ms for p in own], dtype=float),
        drafts=np.array([drafts(p) for p in own], dtype=float),
        waited_steps=np.array([waited_steps(p, catalog) for p in own]),
        together=np.array([company(p, catalog) / _pool_dp(p) for p in own]),
        parts=parts,
    )


def _pool_dp(point: ServingPoint) -> int:
    assert point.colocated is not None
    return point.colocated.attention_dp


def _shape(plan: StepPlan) -> tuple[object, ...]:
    """What decides which terms a plan has, so that plans of one shape stack."""
    reduces = [
        None if reduce is None else reduce.direct_tokens > 0
        for reduce in (plan.reduce_step, plan.reduce_rank)
    ]
    return (
        *(plan.attention_dp, plan.pp, plan.window_tokens, plan.experts),
        *(*reduces, plan.prefill_serial_full_s > 0, plan.mixed_block_rows > 0),
    )


def _stack(plans: Sequence[StepPlan]) -> StepPlan:
    """One plan whose numbers are arrays over plans of one shape."""
    first = plans[0]
    terms: dict[str, Any] = {}
    for entry in fields(StepPlan):
        value = getattr(first, entry.name)
        if isinstance(value, float):
            terms[entry.name] = np.array([getattr(plan, entry.name) for plan in plans])
        elif isinstance(value, ReducePlan):
            terms[entry.name] = _stack_reduces([getattr(plan, entry.name) for plan in plans])
    for name in ("prefill_serial_full_s", "prefill_serial_window_s", "mixed_block_rows"):
        if not getattr(first, name):
            terms[name] = 0.0
    terms["experts_per_token"] = np.array([float(plan.experts_per_token) for plan in plans])
    return replace(first, **terms)


def _stack_reduces(reduces: Sequence[ReducePlan]) -> ReducePlan:
    stacked: dict[str, Any] = {
        entry.name: np.array([getattr(reduce, entry.name) for reduce in reduces])
        for entry in fields(ReducePlan)
    }
    if not reduces[0].direct_tokens:
        stacked["direct_tokens"] = 0.0
    return ReducePlan(**stacked)


def _part(
    where: NDArray[np.int64],
    plans: Sequence[StepPlan],
    points: Sequence[ServingPoint],
    replays: Sequence[Served],
    catalog: Catalog,
) -> Part:
    own = [points[i] for i in where]
    ttft = np.array([replays[i].ttft_ms for i in where], dtype=float)
    tpot = np.array([replays[i].tpot_ms for i in where], dtype=float)
    ratio = np.array([sum(p.length_ratios) / 2 for p in own])
    prompt = np.array([p.input_tokens for p in own]) * ratio
    output = np.array([p.output_tokens for p in own]) * ratio
    each = np.array([_each(p) for p in own])
    decoding = tpot * (output - 1) / (tpot * (output - 1) + ttft)
    batch = np.maximum(each * decoding, 1.0)
    first = np.array([SETUPS[p.engine].chunking == "prefill_first" for p in own])
    along = np.where(first, 0.0, batch)
    budget = np.array([chunk_tokens(p) * _pool_dp(p) for p in own], dtype=float)
    chunks = np.ceil(prompt / np.maximum(budget - along, 256.0))
    # In a single wave only the prompts behind one's own interrupt it: half of them on average.
    wave = np.array([0.5 if rounds(p) == 1 else 1.0 for p in own])
    blank = np.ones(len(own))
    part = Part(
        where=where,
        plan=_stack(plans),
        prefill_first=first,
        batch=batch,
        context=prompt + output / 2,
        chunks=chunks,
        new=prompt / chunks,
        along=along,
        added_share=np.maximum(each - 1, 0) * decoding * wave / np.maximum(output - 1, 1),
        drafts=np.array([drafts(p) for p in own], dtype=float),
        layers=np.array([catalog.models[p.model].layers for p in own], dtype=float),
        tpot_scale=blank,
        ttft_scale=blank,
        alone_ms=blank,
    )
    alone_ms = 1e3 * chunks * _steps_s(part.plan, part, np.zeros_like(batch))[1]
    step, prompt_ms, _ = closed_form_ms(replace(part, drafts=0.0 * batch), KernelRatios())
    return replace(part, tpot_scale=tpot / step, ttft_scale=ttft / prompt_ms, alone_ms=alone_ms)


def _waits_for_memory(part: Part, points: Sequence[ServingPoint], replays: Sequence[Served]) -> Any:
    prompt = _neutral_prompt_ms(part)
    each = np.array([_each(points[i]) for i in part.where])
    share = np.array([1.0 / rounds(points[i]) for i in part.where])
    expected = (share * (each + 1) / 2 + 1.0 - share) * prompt
    return np.array([replays[i].ttft_ms for i in part.where], dtype=float) > _WALLED * expected


def _each(point: ServingPoint) -> float:
    """In flight on one instance."""
    assert point.colocated is not None
    return max(point.concurrency / point.colocated.instances, 1.0)


def pick(ratios: KernelRatios, where: NDArray[np.int64]) -> KernelRatios:
    """The ratios of some runs, of arrays over all."""
    names: Mapping[str, Any] = {
        entry.name: getattr(ratios, entry.name)[where] for entry in fields(KernelRatios)
    }
    return KernelRatios(**names)
