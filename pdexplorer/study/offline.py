"""Batch jobs: rows an hour, cost per million tokens, completion time, and what better batches bring."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.metrics.outcome import Outcome
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.study.progress import Report, counted, span, unheard
from pdexplorer.workload.classes import request_classes

BATCHES = (32, 64, 128, 256, 512, 1024)
BUCKETS = 4


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One fleet running a job under one change of how it is batched. gain_ratio: rows per USD (per GPU
    without prices) over the same fleet's without the change. completion_h: of the job's rows.
    """

    fleet: str
    change: str
    rows_per_hour: float
    gpus: int
    usd_per_million_tokens: float | None
    usd_per_job: float | None
    completion_h: float
    gain_ratio: float


@dataclass(frozen=True)
class BatchPlan:
    """rows: as asked, then every change. better: the fleet with more rows per USD (or GPU); ratio: by how
    much splitting gains, below 1 that it loses; None where a side cannot.
    """

    job_rows: int
    rows: tuple[BatchRow, ...]
    better: str | None
    ratio: float | None
    text: str


def batch_plan(
    scenario: Scenario,
    job_rows: int = 1_000_000,
    shared_prefix_tokens: float = 0.0,
    rows_per_prefix: int = 1,
    catalog: Catalog | None = None,
    report: Report = unheard,
) -> BatchPlan:
    """shared_prefix_tokens: what rows of a group have in common at the front; grouped, all but the first of
    rows_per_prefix find it cached. ValueError for a prefix longer than the prompt. report: told the share
    done.
    """
    workload = scenario.workload
    if not 0.0 <= shared_prefix_tokens < workload.input_tokens:
        raise ValueError(
            f"shared_prefix_tokens = {shared_prefix_tokens:g} must lie from 0 to below "
            f"workload.input_tokens = {workload.input_tokens:g}"
        )
    job = _changed(scenario, "workload", mode="offline")
    base = evaluate(job, catalog, with_break_even=False)
    rows = _rows(base, job_rows, "as asked", base)
    for batch in counted(BATCHES, span(report, 0.1, 0.6)):
        if batch != scenario.colocated.max_batch:
            bigger = _with_batch(job, batch)
            rows += _rows(evaluate(bigger, catalog, False), job_rows, f"batches of up to {batch}", base)
    rows += _bucketed(job, base, job_rows, catalog, span(report, 0.6, 1.0))
    if shared_prefix_tokens > 0.0 and rows_per_prefix > 1:
        hit = shared_prefix_tokens / workload.input_tokens * (1.0 - 1.0 / rows_per_prefix)
        hit = min(max(hit, workload.prefix_hit_fraction), 0.999)
        grouped = _changed(job, "workload", prefix_hit_fraction=hit, warm_fraction=1.0)
        rows += _rows(evaluate(grouped, catalog, False), job_rows, "rows grouped by prefix", base)
    ratio = base.verdict.ratio
    better = None
    if ratio is not None:
        better = "disaggregated" if ratio > 1.0 else "colocated"
    return BatchPlan(job_rows, tuple(rows), better, ratio, _text(rows, ratio))


def _changed(scenario: Scenario, block: str, **values: Any) -> Scenario:
    return scenario.model_copy(update={block: getattr(scenario, block).model_copy(update=values)})


def _with_batch(scenario: Scenario, batch: int) -> Scenario:
    return _changed(_changed(scenario, "colocated", max_batch=batch), "decode", max_batch=batch)


def _rows(evaluation: Evaluation, job_rows: int, change: str, base: Evaluation) -> list[BatchRow]:
    found = []
    for name in ("colocated", "disaggregated"):
        outcome: Outcome = getattr(evaluation, name)
        before: Outcome = getattr(base, name)
        if outcome.throughput_per_s:
            gain = _per_cost(outcome) / _per_cost(before) if before.throughput_per_s else float("nan")
            found.append(_row(name, change, outcome, job_rows, outcome.throughput_per_s, gain))
    return found


def _row(
    fleet: str, change: str, outcome: Outcome, job_rows: int, rate_per_s: float, gain: float
) -> BatchRow:
    hours = job_rows / rate_per_s / 3600.0
    cost = outcome.cost_usd_per_hour
    own = outcome.throughput_per_s or rate_per_s
    tokens = outcome.cost_usd_per_million_tokens
    return BatchRow(
        fleet,
        change,
        rate_per_s * 3600.0,
        int(outcome.gpus or 0),
        None if tokens is None else tokens * own / rate_per_s,
        None if cost is None else cost * hours,
        hours,
        gain,
    )


def _per_cost(outcome: Outcome) -> float:
    return (outcome.throughput_per_s or 0.0) / (outcome.cost_usd_per_hour or float(outcome.gpus or 1))


def _bucketed(
    job: Scenario, base: Evaluation, job_rows: int, catalog: Catalog | None, report: Report
) -> list[BatchRow]:
    """Rows sorted by length run bucket after bucket on the same fleets, so each batch holds equal lengths."""
    classes = request_classes(job.workload, 16)
    order = np.argsort(classes.input_tokens + classes.output_tokens, kind="stable")
    below = np.cumsum(classes.weight[order]) - 0.5 * classes.weight[order]
    of_bucket = np.minimum((below * BUCKETS).astype(int), BUCKETS - 1)
    seconds = {"colocated": 0.0, "disaggregated": 0.0}
    for bucket in counted(range(BUCKETS), report):
        at = order[of_bucket == bucket]
        weight = classes.weight[at]
        share = float(weight.sum())
        if share <= 0.0:
            continue
        inputs = float((weight * classes.input_tokens[at]).sum() / share)
        fixed = _changed(
            job,
            "workload",
            input_tokens=inputs,
            output_tokens=max(float((weight * classes.output_tokens[at]).sum() / share), 1.0),
            input_distribution="fixed",
            output_distribution="fixed",
            input_p95_tokens=None,
            output_p95_tokens=None,
            prefix_hit_fraction=float(
                min((weight * classes.cached_tokens[at]).sum() / share / inputs, 0.999)
            ),
            warm_fraction=1.0,
        )
        answer = evaluate(_pinned(fixed, base), catalog, False)
        for name in seconds:
            outcome: Outcome = getattr(answer, name)
            own: Outcome = getattr(base, name)
            if not outcome.throughput_per_s or not outcome.gpus or not own.gpus:
                seconds[name] = float("inf")
                continue
            seconds[name] += share / (outcome.throughput_per_s * own.gpus / outcome.gpus)
    rows = []
    for name, spent in seconds.items():
        own = getattr(base, name)
        if np.isfinite(spent) and spent > 0.0 and own.throughput_per_s:
            gain = 1.0 / spent / own.throughput_per_s
            rows.append(_row(name, f"{BUCKETS} length buckets", own, job_rows, 1.0 / spent, gain))
    return rows


def _pinned(scenario: Scenario, base: Evaluation) -> Scenario:
    """The same instances for every bucket: a job does not change its fleet on the way."""
    one, other = base.colocated_fleet, base.disaggregated_fleet
    if one is not None:
        scenario = _changed(
            scenario,
            "colocated",
            accelerator=one.instance.accelerator.id,
            tp=one.instance.parallelism.tp,
            pp=one.instance.parallelism.pp,
            instances=one.instances,
        )
    if other is not None:
        pools = (
            ("prefill", other.prefill.parallelism, other.prefill_instances),
            ("decode", other.decode.parallelism, other.decode_instances),
        )
        for pool, shape, instances in pools:
            scenario = _changed(scenario, pool, tp=shape.tp, pp=shape.pp, instances=instances)
    return scenario


def _text(rows: list[BatchRow], ratio: float | None) -> str:
    if not rows:
        return "Neither fleet can run this job."
    asked = [row for row in rows if row.change == "as asked"]
    best = max(rows, key=lambda row: row.gain_ratio)
    parts = [f"{row.fleet} runs {row.rows_per_hour:,.0f} rows an hour" for row in asked]
    text = f"{' and '.join(parts)}."
    if ratio is not None:
        text += f" Splitting gives {ratio:.2f}× the rows per cost."
    if best.gain_ratio > 1.05:
        text += f" {best.change}: {best.gain_ratio:.2f}× ({best.fleet})."
    return text[0].upper() + text[1:]
