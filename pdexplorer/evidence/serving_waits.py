"""What a measured run's times hold besides the steps of its engine: admission, requests' own cost, drafts."""

from typing import Any

import numpy as np

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.serving_points import ServingPoint
from pdexplorer.evidence.serving_setup import admission, chunk_tokens, draft_host_s, drafts
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.kernels import (
    collectives_s,
    elementwise_s,
    expert_s,
    head_s,
    products_s,
    slowest_rank_share,
)
from pdexplorer.physics.plan import StepPlan
from pdexplorer.physics.serving import model_class
from pdexplorer.physics.step import step_time_s

OWN_SWEEP = "own sweep"
_USUAL_ACCEPTANCE = 0.65
"""Share of drafts that hold where only a pace hangs on it, of arrivals or of a split fleet's replayed steps;
assumed, near what is fitted.
"""


def request_keys(point: ServingPoint, catalog: Catalog) -> tuple[str, ...]:
    """Which cost of a request a run has, the most particular first: by engine and class of model; each of the
    authors' own sweeps has a server and a client of its own.
    """
    usual = f"{point.engine} {model_class(catalog.models[point.model])}"
    own = f"{point.engine} {OWN_SWEEP} {point.model}", f"{usual} {OWN_SWEEP}"
    return (*own, usual) if point.own_sweep else (usual,)


def company(point: ServingPoint, catalog: Catalog) -> float:
    """Other prompts of one instance that come while one waits for admission."""
    assert point.colocated is not None
    each = max(point.concurrency / point.colocated.instances, 1.0)
    output = point.output_tokens * point.mean_length_ratio
    waited = admission(point, catalog).steps * tokens_per_step(drafts(point), _USUAL_ACCEPTANCE)
    return min(each * waited / output, each - 1.0)


def waited_steps(point: ServingPoint, catalog: Catalog) -> float:
    """Mean steps before the scheduler takes a prompt. Polled: half the interval. Else the first to come waits
    all of it, those it waits with half of it on average.
    """
    rule = admission(point, catalog)
    if rule.polled:
        return 0.5 * rule.steps
    others = company(point, catalog)
    return rule.steps * (1.0 + 0.5 * others) / (1.0 + others)


def wait_ms(point: ServingPoint, catalog: Catalog, instance: Instance, step_ms: float) -> float:
    """Milliseconds a prompt waits for admission, and for the prompts admitted with it."""
    rule = admission(point, catalog)
    if not rule.steps:
        return 0.0
    assert point.colocated is not None
    together = company(point, catalog) / point.colocated.attention_dp
    return waited_steps(point, catalog) * step_ms + together * prompt_alone_ms(point, instance)


def prompt_alone_ms(point: ServingPoint, instance: Instance) -> float:
    """Prefill of one prompt of mean length in a step of its own."""
    tokens = point.input_tokens * point.mean_length_ratio
    budget = max(chunk_tokens(point) * instance.parallelism.attention_dp, 256.0)
    chunks = np.ceil(tokens / budget)
    each = tokens / chunks
    once = step_time_s(instance, prefill_tokens=each, prefill_past_tokens=(chunks - 1) / 2 * each)
    return float(1e3 * chunks * once)


def tokens_per_step(draft: int, acceptance: float) -> float:
    """Tokens a step yields: each draft holds only if all before it did."""
    return float(sum(acceptance**k for k in range(draft + 1)))


def replayed_tokens(point: ServingPoint) -> float:
    """Tokens a replayed step yields. Replays of split fleets take the fewer steps of drafts that hold, since
    their prefill pool sees more requests; those of colocated ones take a step for each token.
    """
    return 1.0 if point.colocated is not None else tokens_per_step(drafts(point), _USUAL_ACCEPTANCE)


def decode_step_ms(point: ServingPoint, instance: Instance, tpot_ms: float, ttft_ms: float) -> float:
    """A decode step of a replay with this mean TPOT, without the prompts that come between steps."""
    if point.colocated is None:
        return tpot_ms
    context = point.mean_length_ratio * (point.input_tokens + point.output_tokens / 2)
    batch = _decode_batch(point, tpot_ms, ttft_ms)
    plain = step_time_s(instance, decode_batch=batch, decode_context_tokens=context)
    return min(1e3 * float(plain), tpot_ms)


def _decode_batch(point: ServingPoint, tpot_ms: float, ttft_ms: float) -> float:
    """Mean requests of one instance that decode at once."""
    pool = point.colocated or point.decode
    assert pool is not None
    steps = point.output_tokens * point.mean_length_ratio / replayed_tokens(point)
    whole = tpot_ms * (steps - 1)
    return max(point.concurrency / pool.instances * whole / (whole + ttft_ms), 1.0)


def drafted_ms(
    point: ServingPoint,
    instance: Instance,
    tpot_ms: float,
    ttft_ms: float,
    acceptance: float,
) -> tuple[float, float]:
    """(a step, TPOT) of a run from a replay without drafts. Others' prompts come as often a token however
    many a step yields; SGLang, which lets no decode run along with them, counts only its decode steps.
    """
    draft, polled = drafts(point), point.engine == "sglang"
    if not draft and not polled:
        return tpot_ms, tpot_ms
    alone = decode_step_ms(point, instance, tpot_ms, ttft_ms)
    if not draft:
        return alone, tpot_ms
    batch = _decode_batch(point, tpot_ms, ttft_ms)
    added = float(verify_added_s(instance.plan, batch, draft, alone / 1e3, instance.architecture.layers))
    tokens = tokens_per_step(draft, acceptance)
    step = alone + 1e3 * added + 1e3 * draft_host_s(point)
    whole = step / tokens + tpot_ms - alone
    return (step if polled else whole * tokens), whole


def verify_added_s(plan: StepPlan, batch: Any, draft: Any, plain_s: Any, layers: Any) -> Any:
    """Seconds a decode step takes longer when it verifies `draft` tokens a request and drafts them anew with
    one more layer each; arrays or floats.
    """
    share = slowest_rank_share(batch, plan.attention_dp)
    rank, many = batch * share, batch * share * (1.0 + draft)
    tokens = batch * (1.0 + draft)
    verify = products_s(plan, many) + elementwise_s(plan, many) + head_s(plan, many)
    verify = verify + expert_s(plan, tokens) + collectives_s(plan, tokens, many)
    once = products_s(plan, rank) + elementwise_s(plan, rank) + head_s(plan, rank)
    once = once + expert_s(plan, batch) + collectives_s(plan, batch, rank)
    return verify - once + draft * (plain_s / layers + head_s(plan, rank))
