"""The time of one step's kernels, group by group, from a plan and a load. Works on floats and on numpy arrays."""

from typing import Any

from pdexplorer.physics.plan import REFERENCE_BYTES, StepPlan
from pdexplorer.physics.smooth import smooth_max

Number = Any
"""A float or a numpy array: the same lines serve the vectorised closed form and the simulator's scalar path."""


def slowest_rank_share(count: Number, ranks: int) -> Number:
    """Share of `count` that the fullest of `ranks` attention-DP ranks carries; 1 for one rank or nothing to do."""
    if ranks == 1:
        return 1.0
    return -(-count // ranks) / (count + (count <= 0)) + (count <= 0)


def dense_s(plan: StepPlan, rank_tokens: Number) -> Number:
    """Projections and what lies between them, for the tokens of the fullest rank."""
    active = rank_tokens > 0
    products = smooth_max(
        rank_tokens * plan.dense_compute_s,
        active * plan.dense_weights_s + rank_tokens * plan.dense_activation_s,
        plan.dense_sharpness,
    )
    return (
        active * (plan.dense_launch_s + plan.element_launch_s) + rank_tokens * plan.element_token_s + products
    )


def head_s(plan: StepPlan, rows: Number) -> Number:
    """LM head for the sequences that need logits: one row each, not one per prompt token."""
    active = rows > 0
    return active * plan.head_launch_s + smooth_max(
        rows * plan.head_compute_s, active * plan.head_weights_s, plan.head_sharpness
    )


def expert_s(plan: StepPlan, tokens: Number) -> Number:
    """Routed experts: t tokens touch E·(1 − (1 − k/E)^t) of E experts, and each touched one is read once."""
    if not plan.experts:
        return tokens * 0.0
    touched = plan.experts * (1.0 - plan.expert_miss_fraction ** (tokens**plan.expert_touch_exponent))
    rows = tokens + touched * (plan.expert_padding_tokens / plan.experts_per_token)
    return (tokens > 0) * plan.expert_launch_s + smooth_max(
        rows * plan.expert_compute_s, touched * plan.expert_weights_s, plan.expert_sharpness
    )


def reduce_s(plan: StepPlan, tokens: Number) -> Number:
    """All-reduces of `tokens` hidden states, two a layer, and sends between pipeline stages."""
    sends = (tokens > 0) * plan.send_latency_s + tokens * plan.send_token_s
    if not plan.reduce_count:
        return sends
    moved = tokens * plan.reduce_bytes
    time = (moved / REFERENCE_BYTES) ** plan.reduce_exponent * plan.reduce_bandwidth_s
    if plan.reduce_direct_tokens:
        # PCIe: small payloads are read straight from every peer; the ring takes over above a limit.
        direct = tokens * plan.reduce_direct_s
        limit = plan.reduce_direct_tokens * plan.reduce_direct_s
        small = tokens <= plan.reduce_direct_tokens
        above = time * (time > limit) + limit * (time <= limit)
        time = small * direct + (1 - small) * above
    return sends + (tokens > 0) * plan.reduce_count * plan.reduce_latency_s + plan.reduce_count * time


def prefill_attention_s(
    plan: StepPlan,
    rank_tokens: Number,
    pairs_full: Number,
    pairs_window: Number,
    kv_read_full: Number,
    kv_read_window: Number,
) -> Number:
    """Attention of new tokens: their (query, key) pairs, a fixed extra per token, and the past KV they read."""
    compute = (
        rank_tokens * plan.prefill_token_s
        + pairs_full * plan.prefill_pair_full_s
        + pairs_window * plan.prefill_pair_window_s
    )
    memory = kv_read_full * plan.prefill_read_full_s + kv_read_window * plan.prefill_read_window_s
    return (rank_tokens > 0) * plan.prefill_launch_s + smooth_max(compute, memory, 2.0)


def decode_attention_fixed_s(plan: StepPlan, rank_batch: Number) -> Number:
    """What decode attention costs whatever the context."""
    return (rank_batch > 0) * plan.decode_launch_s + rank_batch * plan.decode_sequence_s


def decode_context_factor(plan: StepPlan, rank_batch: Number) -> Number:
    """Few sequences fill the chip less: the cost of a context token, over that at a large batch."""
    return 1.0 + plan.decode_half_batch / (rank_batch + (rank_batch <= 0))
