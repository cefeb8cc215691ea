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
from pdexplorer.evidence.serving_plans import plan_shape, stack_plans
from pdexplorer.evidence.serving_points import ServingPoint
from pdexplorer.evidence.serving_predict import Served, pool_instance
from pdexplorer.evidence.serving_setup import (
    SETUPS,
    chunk_tokens,
    company_steps,
    compiles,
    draft_host_s,
    drafts,
    named_outlier,
    rounds,
    runs_eagerly,
    slots,
    young,
)
from pdexplorer.evidence.serving_vllm import graph_tokens
from pdexplorer.evidence.serving_waits import OWN_SWEEP, company, request_keys, verify_added_s, waited_steps
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.plan import StepPlan
from pdexplorer.physics.scaled_plan import scale_plan
from pdexplorer.physics.serving import (
    KernelRatios,
    ServingRatios,
    format_key,
    model_class,
    peak_ratios,
)
from pdexplorer.physics.step import equal_load, load_parts

Floats = NDArray[np.float64]

_OWN_PROMPTS = 1.3
"""Prefills that a TTFT holds where the rest is waiting for a place: its own and a part of another."""
_WALLED = 2.5
"""A replayed TTFT this many times what prefill alone explains waits for KV memory, not for prompts."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Colocated runs as arrays, in the order of `rows`, which index the points. labels: of each run, what
    numbers may differ by; cold_rounds: rounds of a run whose first wave meets kernels not compiled, else 0;
    peaks: the least each ratio may be. use: neither outlier nor unmeasured; walled: waits for memory;
    host_ms: what a step of drafts waits for its host.
    """

    rows: NDArray[np.int64]
    groups: NDArray[np.str_]
    labels: Mapping[str, NDArray[np.str_]]
    cold_rounds: Floats
    peaks: KernelRatios
    young: NDArray[np.bool_]
    use: NDArray[np.bool_]
    walled: NDArray[np.bool_]
    ttft_ms: Floats
    tpot_ms: Floats
    drafts: Floats
    host_ms: Floats
    waited_steps: Floats
    together: Floats
    parts: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Runs whose plans have the same shape, stacked. where: their places in Runs. At neutral ratios: ttft_ms
    and tpot_ms of the replay, step_ms (with what interrupts it) and prompt_ms of the closed form, alone_ms a
    prompt's prefill. prompts: how many come in together. queued: requests wait for the end of others, or for
    company.
    """

    where: NDArray[np.int64]
    plan: StepPlan
    prefill_first: NDArray[np.bool_]
    batch: Floats
    context: Floats
    chunks: Floats
    new: Floats
    along: Floats
    prompts: Floats
    added_share: Floats
    drafts: Floats
    layers: Floats
    ttft_ms: Floats
    tpot_ms: Floats
    step_ms: Floats
    prompt_ms: Floats
    alone_ms: Floats
    queued: NDArray[np.bool_]


def group_of(point: ServingPoint) -> tuple[str, str]:
    """What must not be split between fit and score: the same shape on the same system under any of its
    names.
    """
    return ("deepseek" if point.model.startswith("deepseek") else point.model), point.accelerator


@dataclass(frozen=True, slots=True)
class Closed:
    """Milliseconds of each run. step_ms: of a decode step; tpot_ms: of a token, the prompts of others that
    come meanwhile included; ttft_ms: without waits; alone_ms: of a prompt alone.
    """

    step_ms: Floats
    tpot_ms: Floats
    ttft_ms: Floats
    alone_ms: Floats


def closed_form(part: Part, ratios: KernelRatios, tokens: Floats, host_ms: Floats) -> Closed:
    """Times of each run whose steps yield `tokens` and wait `host_ms` for their host. Others' prompts come as
    often a token however many a step yields. What a request waits for others to end moves with their tokens,
    all else with prompts.
    """
    step, added, prompt = _unscaled_ms(part, scale_plan(part.plan, ratios), part.drafts)
    scale = part.tpot_ms / part.step_ms
    step = scale * step + host_ms
    tpot = step / tokens + scale * added
    longer = prompt / part.prompt_ms
    own = np.where(part.queued, np.minimum(part.ttft_ms, _OWN_PROMPTS * part.alone_ms), part.ttft_ms)
    ttft = own * longer + (part.ttft_ms - own) * tpot / part.tpot_ms
    return Closed(step, tpot, ttft, part.alone_ms * longer)


def _unscaled_ms(part: Part, plan: StepPlan, drafts: Floats) -> tuple[Floats, Floats, Floats]:
    """(a decode step, what prompts add to a token, a prompt's steps) before they are scaled to the replay."""
    decode, mixed = _steps_s(plan, part, part.along)
    added = mixed - np.where(part.prefill_first, 0.0, decode)
    longer = np.where(drafts > 0, verify_added_s(plan, part.batch, drafts, decode, part.layers), 0.0)
    interrupted = 1e3 * part.added_share * part.chunks * added
    return 1e3 * (decode + longer), interrupted, 1e3 * mixed * part.chunks


def _steps_s(plan: StepPlan, part: Part, along: Floats) -> tuple[Floats, Floats]:
    """Seconds of a decode step, and of one with a prompt's chunk and `along` decodes."""
    none = np.zeros_like(part.batch)
    decode = sum(load_parts(plan, equal_load(plan, none, none, 1.0, part.batch, part.context)))
    past = (part.chunks - 1) / 2 * part.new
    load = equal_load(plan, part.new * part.prompts, past, part.prompts, along, part.context)
    mixed = sum(load_parts(plan, load))
    return np.asarray(decode) + none, np.asarray(mixed) + none


def collect_runs(points: Sequence[ServingPoint], replays: Sequence[Served], catalog: Catalog) -> Runs:
    """Colocated, measured runs with replays of them under neutral ratios."""
    rows = [
        row
        for row, (point, replay) in enumerate(zip(points, replays, strict=True))
        if point.colocated is not None and replay.tpot_ms is not None
    ]
    own = [points[row] for row in rows]
    shapes: dict[tuple[object, ...], list[int]] = {}
    plans: dict[tuple[object, ...], tuple[StepPlan, str, KernelRatios]] = {}
    of_run = []
    for place, point in enumerate(own):
        pool = point.colocated
        key = (
            *(point.engine, point.accelerator, point.model, point.weight_format, point.kv_format, pool),
            graph_tokens(point),
        )
        if key not in plans:
            assert pool is not None
            instance = pool_instance(point, pool, catalog, ServingRatios())
            assert not isinstance(instance, Infeasible)
            plans[key] = instance.plan, format_key(instance), peak_ratios(instance.efficiency)
        plan = plans[key][0]
        of_run.append(plans[key])
        shapes.setdefault(plan_shape(plan), []).append(place)
    served = [replays[row] for row in rows]
    parts = tuple(
        _part(np.array(places), [of_run[i][0] for i in places], own, served, catalog)
        for places in shapes.values()
    )
    walled = np.zeros(len(rows), dtype=bool)
    for part in parts:
        walled[part.where] = part.queued
    walled &= np.array([slots(p) >= _each(p) and not company_steps(p, catalog) for p in own])
    return Runs(
        rows=np.array(rows),
        groups=np.array(["|".join(group_of(p)) for p in own]),
        labels=_labels(own, [name for _, name, _ in of_run], catalog),
        cold_rounds=np.array([rounds(p) if compiles(p) else 0.0 for p in own]),
        peaks=KernelRatios(
            **{
                entry.name: np.array([getattr(peaks, entry.name) for _, _, peaks in of_run])
                for entry in fields(KernelRatios)
            }
        ),
        young=np.array([young(p, catalog) for p in own]),
        use=np.array([not named_outlier(p) for p in own]),
        walled=walled,
        ttft_ms=np.array([p.measured_ttft_ms for p in own], dtype=float),
        tpot_ms=np.array([p.measured_tpot_ms for p in own], dtype=float),
        drafts=np.array([drafts(p) for p in own], dtype=float),
        host_ms=np.array([1e3 * draft_host_s(p) for p in own]),
        waited_steps=np.array([waited_steps(p, catalog) for p in own]),
        together=np.array([company(p, catalog) / _pool_dp(p) for p in own]),
        parts=parts,
    )


def _labels(
    points: Sequence[ServingPoint], formats: Sequence[str], catalog: Catalog
) -> Mapping[str, NDArray[np.str_]]:
    kinds = [model_class(catalog.models[point.model]) for point in points]
    return {
        "engine": np.array([point.engine for point in points]),
        "class": np.array(kinds),
        "family": np.array([catalog.accelerators[point.accelerator].family for point in points]),
        "overhead": np.array(
            [
                "" if runs_eagerly(point) else f"{point.engine} {kind}"
                for point, kind in zip(points, kinds, strict=True)
            ]
        ),
        "weights": np.array([point.weight_format for point in points]),
        "format": np.array(formats),
        "sweep": np.array([OWN_SWEEP if point.own_sweep else "" for point in points]),
        "request": np.array([request_keys(point, catalog)[0] for point in points]),
    }


def _pool_dp(point: ServingPoint) -> int:
    assert point.colocated is not None
    return point.colocated.attention_dp


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
    ratio = np.array([p.mean_length_ratio for p in own])
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
    waits = np.array([company_steps(p, catalog) for p in own])
    ranks = np.array([_pool_dp(p) for p in own])
    prompts = np.clip(1.0 + waits * each / output, 1.0, np.minimum(ranks, np.maximum(each, 1.0)))
    part = Part(
        where=where,
        plan=stack_plans(plans),
        prefill_first=first,
        batch=batch,
        context=prompt + output / 2,
        chunks=chunks,
        new=prompt / chunks,
        along=along,
        prompts=prompts,
        added_share=np.maximum(each - 1, 0) * decoding * wave / np.maximum(output - 1, 1) / prompts,
        drafts=np.array([drafts(p) for p in own], dtype=float),
        layers=np.array([catalog.models[p.model].layers for p in own], dtype=float),
        ttft_ms=ttft,
        tpot_ms=tpot,
        step_ms=blank,
        prompt_ms=blank,
        alone_ms=blank,
        queued=np.zeros(len(own), dtype=bool),
    )
    step_ms, added_ms, prompt_ms = _unscaled_ms(part, part.plan, 0.0 * batch)
    share = np.array([1.0 / rounds(p) for p in own])
    expected = (share * (each + 1) / 2 + 1.0 - share) * prompt_ms
    few = np.array([slots(p) < _each(p) for p in own])
    return replace(
        part,
        step_ms=step_ms + added_ms,
        prompt_ms=prompt_ms,
        alone_ms=1e3 * chunks * _steps_s(part.plan, part, np.zeros_like(batch))[1],
        queued=(ttft > _WALLED * expected) | few | (waits > 0),
    )


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
