"""The time of one step's kernels, group by group, from a plan and a load. Works on floats and on numpy
arrays.
"""

from dataclasses import dataclass
from typing import Any

from pdexplorer.physics.collectives import ReducePlan
from pdexplorer.physics.plan import SMALL_ROWS, StepPlan
from pdexplorer.physics.smooth import smooth_max

_WAVE_SHARPNESS = 2.5
"""Join of a kernel's longest block and its total work: waves of blocks lie between the two."""

Number = Any
"""A float or a numpy array: the same lines serve the vectorised closed form and the simulator's scalar path.
"""


def slowest_rank_share(count: Number, ranks: int) -> Number:
    """Share of `count` that the fullest of `ranks` attention-DP ranks carries; 1 for one rank or nothing to
    do.
    """
    if ranks == 1:
        return 1.0
    return -(-count // ranks) / (count + (count <= 0)) + (count <= 0)


def products_s(plan: StepPlan, rank_tokens: Number) -> Number:
    """Projections, for the tokens of the fullest rank."""
    small = rank_tokens <= SMALL_ROWS
    launch = plan.dense_launch_s + small * (plan.dense_small_launch_s - plan.dense_launch_s)
    return smooth_max(
        rank_tokens * plan.dense_compute_s,
        (rank_tokens > 0) * (launch + plan.dense_weights_s) + rank_tokens * plan.dense_activation_s,
        plan.dense_sharpness,
    )


def elementwise_s(plan: StepPlan, rank_tokens: Number) -> Number:
    """Norms, activations and the embedding."""
    return (rank_tokens > 0) * plan.element_launch_s + rank_tokens * plan.element_token_s


def head_s(plan: StepPlan, rows: Number) -> Number:
    """LM head for the sequences that need logits: one row each, not one per prompt token."""
    return smooth_max(
        rows * plan.head_compute_s,
        (rows > 0) * (plan.head_launch_s + plan.head_weights_s),
        plan.head_sharpness,
    )


def expert_s(plan: StepPlan, tokens: Number) -> Number:
    """Routed experts: t tokens touch E·(1 − (1 − k/E)^t) of E experts, and each touched one is read once.

    With expert parallelism the fullest GPU sets the pace: its experts get as if there were more tokens.
    """
    if not plan.experts:
        return tokens * 0.0
    fullest = tokens * plan.expert_imbalance_ratio
    touched = plan.experts * (1.0 - plan.expert_miss_fraction ** (fullest**plan.expert_touch_exponent))
    rows = fullest + touched * (plan.expert_padding_tokens / plan.experts_per_token)
    return (tokens > 0) * plan.expert_launch_s + smooth_max(
        rows * plan.expert_compute_s, touched * plan.expert_weights_s, plan.expert_sharpness
    )


def collectives_s(plan: StepPlan, tokens: Number, rank_tokens: Number) -> Number:
    """All-reduces of a step's tokens (and of one attention-DP rank's), sends between pipeline stages."""
    time = (tokens > 0) * plan.send_latency_s + tokens * plan.send_token_s
    if plan.reduce_step is not None:
        time = time + reduce_s(plan.reduce_step, tokens)
    if plan.reduce_rank is not None:
        time = time + reduce_s(plan.reduce_rank, rank_tokens)
    return time


def host_lag_s(plan: StepPlan, prefill_tokens: Number, tokens: Number, kernels_s: Number) -> Number:
    """What a step takes longer than its kernels because the host launches them one by one: nothing in a CUDA
    graph, which steps of decodes alone are in, or where the kernels last longer than their launches.
    """
    lag = (prefill_tokens > 0) * (tokens > plan.graph_tokens) * (plan.host_step_s - kernels_s)
    return lag * (lag > 0)


def reduce_s(reduce: ReducePlan, tokens: Number) -> Number:
    """All-reduces of `tokens` hidden states."""
    time = (tokens * reduce.token_share) ** reduce.exponent * reduce.bandwidth_s
    if reduce.direct_tokens:
        # Small payloads are read straight from every peer; above a limit the ring takes over, never faster.
        limit = reduce.direct_tokens * reduce.direct_token_s
        small = tokens <= reduce.direct_tokens
        ring = time * (time > limit) + limit * (time <= limit)
        time = small * (tokens * reduce.direct_token_s) + (1 - small) * ring
    return reduce.count * ((tokens > 0) * reduce.latency_s + time)


@dataclass(frozen=True, slots=True)
class AttentionLoad:
    """What attention of one rank and microbatch works on: sums over its sequences, floats or arrays.

    tokens, sequences: of the prefill; pairs, reads: its (query, key) pairs and past tokens, over full and
    over
    windowed layers; context, window: Σ context and Σ min(context, window) of the decode batch.
    """

    tokens: Number
    sequences: Number
    pairs_full: Number
    pairs_window: Number
    reads_full: Number
    reads_window: Number
    batch: Number
    context: Number
    window: Number


def attention_s(plan: StepPlan, load: AttentionLoad) -> tuple[Number, Number]:
    """(prefill, decode) attention. Alone each runs in a kernel of its own; some engines join them in a mixed
    step.
    """
    compute = (
        load.tokens * plan.prefill_token_s
        + load.pairs_full * plan.prefill_pair_full_s
        + load.pairs_window * plan.prefill_pair_window_s
    )
    memory = load.reads_full * plan.prefill_read_full_s + load.reads_window * plan.prefill_read_window_s
    busy = load.tokens > 0
    decode = decode_attention_s(plan, load)
    if not plan.prefill_serial_full_s:
        return busy * plan.prefill_launch_s + smooth_max(compute, memory, 2.0), decode
    each = load.sequences + (load.sequences <= 0)
    own_full = (load.reads_full + 0.5 * load.tokens) / each
    own_window = (load.reads_window + 0.5 * load.tokens) / each
    serial = own_full * plan.prefill_serial_full_s + own_window * plan.prefill_serial_window_s
    prefill = busy * plan.prefill_launch_s + smooth_max(compute, serial, _WAVE_SHARPNESS)
    if not plan.mixed_block_rows:
        return prefill, decode
    rows = plan.mixed_block_rows
    joined = compute + rows * (
        load.batch * plan.prefill_token_s
        + load.context * plan.prefill_pair_full_s
        + load.window * plan.prefill_pair_window_s
    )
    count = load.batch + (load.batch <= 0)
    longest = _larger(
        serial,
        (load.context * plan.prefill_serial_full_s + load.window * plan.prefill_serial_window_s) / count,
    )
    extra = busy * (busy * plan.prefill_launch_s + smooth_max(joined, longest, _WAVE_SHARPNESS) - prefill)
    return prefill, _larger(decode, extra)


def decode_attention_s(plan: StepPlan, load: AttentionLoad) -> Number:
    """Attention of a decode batch in its own kernel: affine in the sums of context."""
    fixed = (load.batch > 0) * plan.decode_launch_s + load.batch * plan.decode_sequence_s
    context = load.context * plan.decode_context_full_s + load.window * plan.decode_context_window_s
    return fixed + context * decode_context_factor(plan, load.batch)


def decode_context_factor(plan: StepPlan, rank_batch: Number) -> Number:
    """Few sequences fill the chip less: the cost of a context token, over that at a large batch."""
    return 1.0 + plan.decode_half_batch / (rank_batch + (rank_batch <= 0))


def _larger(first: Number, second: Number) -> Number:
    return first * (first >= second) + second * (first < second)
