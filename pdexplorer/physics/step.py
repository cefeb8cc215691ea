"""The time of one engine step: prefill chunks over their past and a decode batch, on one instance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pdexplorer.physics.instance import Instance
from pdexplorer.physics.kernels import (
    AttentionLoad,
    attention_s,
    collectives_s,
    elementwise_s,
    expert_s,
    head_s,
    host_lag_s,
    products_s,
    slowest_rank_share,
)
from pdexplorer.physics.pairs import past_read, prefill_pairs
from pdexplorer.physics.plan import StepPlan

PARTS = ("dense", "attention_prefill", "attention_decode", "experts", "head", "collectives", "overhead")


@dataclass(frozen=True, slots=True)
class StepLoad:
    """What a step computes, as totals over the instance. Floats or arrays of one broadcast shape.

    pairs_*: (query, key) pairs of the prefill; kv_read_*: past tokens it reads; context_sum: Σ context
    over the
    decode batch; window_sum: Σ min(context, window). *_window are capped by the plan's window.
    """

    prefill_tokens: Any
    prefill_sequences: Any
    pairs_full: Any
    pairs_window: Any
    kv_read_full: Any
    kv_read_window: Any
    decode_batch: Any
    context_sum: Any
    window_sum: Any


def equal_load(
    plan: StepPlan,
    prefill_tokens: Any,
    prefill_past_tokens: Any,
    prefill_sequences: Any,
    decode_batch: Any,
    decode_context_tokens: Any,
) -> StepLoad:
    """Totals of a step of `prefill_sequences` equal prompts and `decode_batch` requests of equal context."""
    new = prefill_tokens / np.maximum(prefill_sequences, 1)
    window = plan.window_tokens
    pairs_full = prefill_sequences * prefill_pairs(new, prefill_past_tokens)
    busy = prefill_tokens > 0
    read_full = busy * prefill_sequences * prefill_past_tokens
    context_sum = decode_batch * decode_context_tokens
    if window is None:
        zero = 0.0
        return StepLoad(
            prefill_tokens,
            prefill_sequences,
            pairs_full,
            zero,
            read_full,
            zero,
            decode_batch,
            context_sum,
            zero,
        )
    return StepLoad(
        prefill_tokens,
        prefill_sequences,
        pairs_full,
        prefill_sequences * prefill_pairs(np.asarray(new), np.asarray(prefill_past_tokens), window),
        read_full,
        busy * prefill_sequences * past_read(np.asarray(prefill_past_tokens), window),
        decode_batch,
        context_sum,
        decode_batch * np.minimum(decode_context_tokens, window),
    )


def load_parts(plan: StepPlan, load: StepLoad, overhead: bool = True) -> tuple[Any, ...]:
    """Seconds of each group: products, prefill attention, decode attention, experts, head, collectives,
    elementwise kernels, overhead. Floats in, floats out.

    With pipeline stages a step's tokens go through in `pp` microbatches that keep every stage busy while
    decoding; its prefill passes the pipeline once more, partly filled: the bubble.
    """
    parts = _microbatch_parts(plan, load, plan.pp)
    if plan.pp > 1:
        alone = _microbatch_parts(plan, _prefill_only(load), plan.pp)
        bubble = (plan.pp - 1) / plan.pp
        parts = tuple(part + bubble * again for part, again in zip(parts, alone, strict=True))
    tokens = load.prefill_tokens + load.decode_batch
    rest = (tokens > 0) * (plan.step_overhead_s if overhead else 0.0)
    return (*parts, rest + host_lag_s(plan, load.prefill_tokens, tokens, sum(parts)))


def _prefill_only(load: StepLoad) -> StepLoad:
    return replace(load, decode_batch=load.decode_batch * 0.0, context_sum=0.0, window_sum=0.0)


def _microbatch_parts(plan: StepPlan, load: StepLoad, microbatches: int) -> tuple[Any, ...]:
    """Parts of one microbatch through all layers, summed over the stages it passes."""
    ranks = plan.attention_dp
    prefill_share = slowest_rank_share(load.prefill_sequences, ranks) / microbatches
    decode_share = slowest_rank_share(load.decode_batch, ranks) / microbatches
    attention = rank_attention(load, prefill_share, decode_share)
    tokens = (load.prefill_tokens + load.decode_batch) / microbatches
    rank_tokens = attention.tokens + attention.batch
    rows = attention.sequences * (load.prefill_tokens > 0) + attention.batch
    prefill, decode = attention_s(plan, attention)
    return (
        products_s(plan, rank_tokens),
        prefill,
        decode,
        expert_s(plan, tokens),
        head_s(plan, rows),
        collectives_s(plan, tokens, rank_tokens),
        elementwise_s(plan, rank_tokens),
    )


def rank_attention(load: StepLoad, prefill_share: Any, decode_share: Any) -> AttentionLoad:
    """What the fullest rank attends to in one microbatch."""
    return AttentionLoad(
        tokens=load.prefill_tokens * prefill_share,
        sequences=load.prefill_sequences * prefill_share,
        pairs_full=load.pairs_full * prefill_share,
        pairs_window=load.pairs_window * prefill_share,
        reads_full=load.kv_read_full * prefill_share,
        reads_window=load.kv_read_window * prefill_share,
        batch=load.decode_batch * decode_share,
        context=load.context_sum * decode_share,
        window=load.window_sum * decode_share,
    )


def step_parts_s(
    instance: Instance,
    *,
    prefill_tokens: Any = 0,
    prefill_past_tokens: Any = 0,
    prefill_sequences: Any = 1,
    decode_batch: Any = 0,
    decode_context_tokens: Any = 0,
    overhead: bool = True,
) -> dict[str, Any]:
    """Seconds of each group of one step; they sum to step_time_s. Arguments as there."""
    plan = instance.plan
    given = (prefill_tokens, prefill_past_tokens, prefill_sequences, decode_batch, decode_context_tokens)
    arguments = [np.asarray(value, dtype=float) for value in given]
    load = equal_load(plan, *arguments)
    shape = np.broadcast_shapes(*(argument.shape for argument in arguments))
    products, prefill, decode, experts, head, collectives, elementwise, rest = load_parts(
        plan, load, overhead
    )
    parts = (products + elementwise, prefill, decode, experts, head, collectives, rest)
    if not shape:
        return {name: float(part) for name, part in zip(PARTS, parts, strict=True)}
    return {name: np.broadcast_to(part, shape) for name, part in zip(PARTS, parts, strict=True)}


def step_time_s(
    instance: Instance,
    *,
    prefill_tokens: Any = 0,
    prefill_past_tokens: Any = 0,
    prefill_sequences: Any = 1,
    decode_batch: Any = 0,
    decode_context_tokens: Any = 0,
    overhead: bool = True,
) -> Any:
    """Seconds of one step; a float for scalars, else an array of the broadcast shape.

    prefill_tokens: new tokens of this step in total, over prefill_sequences equal sequences, each over
    prefill_past_tokens cached ones. decode_batch: requests of the whole instance that each get one token.
    decode_context_tokens: their mean context. Nothing to do takes no time. overhead: add the engine's per
    step.
    """
    parts = step_parts_s(
        instance,
        prefill_tokens=prefill_tokens,
        prefill_past_tokens=prefill_past_tokens,
        prefill_sequences=prefill_sequences,
        decode_batch=decode_batch,
        decode_context_tokens=decode_context_tokens,
        overhead=overhead,
    )
    total = parts[PARTS[0]]
    for name in PARTS[1:]:
        total = total + parts[name]
    return total
