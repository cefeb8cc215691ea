"""Measured kernel times by group, beside the loads that caused them: what the efficiencies are fitted to."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.points import StepPoint
from pdexplorer.evidence.steptime import Entries, instance_of, load_of
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.kernels import (
    AttentionLoad,
    attention_s,
    collectives_s,
    decode_attention_s,
    elementwise_s,
    expert_s,
    head_s,
    products_s,
    slowest_rank_share,
)
from pdexplorer.physics.plan import StepPlan
from pdexplorer.physics.step import StepLoad, equal_load, rank_attention

Floats = NDArray[np.float64]

GROUPS = ("dense", "head", "prefill", "decode", "experts", "collectives", "elementwise")
_KEYS = ("accelerator", "engine", "model", "weight_format", "kv_format", "tp", "pp", "ep", "attention_dp")


@dataclass(frozen=True, slots=True)
class Block:
    """Points of one instance: their load as arrays and measured seconds by group (NaN where not given).

    dense holds products and LM head; where a file times norms with the products, `joined` is true, dense
    holds those and `head` is apart: one product among them, which tells bandwidth from launches.
    """

    instance: Instance
    load: StepLoad
    attention: AttentionLoad
    measured_s: dict[str, Floats]
    total_s: Floats
    joined: bool
    phase: NDArray[np.str_]


def blocks_of(points: Iterable[StepPoint], catalog: Catalog, entries: Entries) -> list[Block]:
    """Points grouped by instance. Points whose instance cannot be timed are left out."""
    by_key: dict[tuple[object, ...], list[StepPoint]] = {}
    for point in points:
        by_key.setdefault(tuple(getattr(point, key) for key in _KEYS), []).append(point)
    blocks = []
    for group in by_key.values():
        instance = instance_of(group[0], catalog, entries)
        if not isinstance(instance, Infeasible):
            blocks.append(_block(instance, group))
    return blocks


def _block(instance: Instance, points: list[StepPoint]) -> Block:
    names = (
        "prefill_tokens",
        "prefill_past_tokens",
        "prefill_sequences",
        "decode_batch",
        "decode_context_tokens",
    )
    loads = [load_of(point) for point in points]
    arrays = [np.array([load[name] for load in loads], dtype=float) for name in names]
    joined = "linear_ms" in points[0].raw
    phase = np.array([point.phase for point in points])
    dense = _column(points, "linear_ms") if joined else _column(points, "gemm_ms")
    attention = _column(points, "attention_ms") if joined else _column(points, "attn_ms")
    measured = {
        "dense": dense,
        "head": _column(points, "head_ms"),
        "prefill": np.where(phase == "prefill", attention, np.nan),
        "decode": np.where(phase == "decode", attention, np.nan),
        "experts": _column(points, "moe_ms"),
        "collectives": _column(points, "comm_ms"),
        "elementwise": _column(points, "other_ms"),
    }
    total = np.array([point.measured_ms or np.nan for point in points]) * 1e-3
    load = equal_load(instance.plan, *arrays)
    ranks = instance.parallelism.attention_dp
    own = rank_attention(
        load,
        slowest_rank_share(load.prefill_sequences, ranks),
        slowest_rank_share(load.decode_batch, ranks),
    )
    return Block(instance, load, own, measured, total, joined, phase)


def _column(points: list[StepPoint], *names: str) -> Floats:
    if names[0] not in points[0].raw:
        return np.full(len(points), np.nan)
    return 1e-3 * np.array([sum(float(point.raw[name] or "nan") for name in names) for point in points])


def predicted_s(plan: StepPlan, block: Block, group: str) -> Floats:
    """Seconds of one group over a block's points under another plan of the same shape; one pipeline stage."""
    load, own = block.load, block.attention
    rank_tokens = own.tokens + own.batch
    rows = own.sequences * (own.tokens > 0) + own.batch
    time: object
    if group == "dense":
        beside = elementwise_s(plan, rank_tokens) if block.joined else head_s(plan, rows)
        time = products_s(plan, rank_tokens) + beside
    elif group == "head":
        time = head_s(plan, rows)
    elif group == "elementwise":
        time = elementwise_s(plan, rank_tokens)
    elif group == "prefill":
        time = attention_s(plan, own)[0]
    elif group == "decode":
        time = decode_attention_s(plan, own)
    elif group == "experts":
        time = expert_s(plan, load.prefill_tokens + load.decode_batch)
    else:
        time = collectives_s(plan, load.prefill_tokens + load.decode_batch, rank_tokens)
    return np.asarray(time, dtype=float)
