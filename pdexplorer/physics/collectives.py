"""What collectives of a step cost: all-reduces, exchanges of tokens between experts, sends between stages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pdexplorer.catalog.efficiency import CollectiveEfficiency
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.shapes import ACTIVATION_BYTES

REFERENCE_BYTES = 64e6
"""Collectives' bandwidth is quoted at this many bytes moved through one GPU."""

NODE_GPUS = 8
"""A server's GPUs reach each other whatever their link; more than these and their link's domain need a
network."""
NETWORK_LATENCY_S = 54e-6
"""Fixed time of a collective over several nodes: NCCL's own inside a node, 20 us, as kernels that read peers
directly end there, and a hop of 17 us to the other nodes and one back (vidur network/h100_dgx, all_reduce and
send_recv between nodes, the latter as in catalog/network.json)."""
NETWORK_BYTE_PER_S = 35e9
"""What one 400G NIC, one for each GPU, carries of its 50 (same source)."""
EXCHANGE_LATENCY_S = 50e-6
"""Fixed time of an exchange of tokens between many expert-parallel GPUs: they count what goes where, send it,
and send it back, and each of the three waits for all of them. Assumed."""


@dataclass(frozen=True, slots=True)
class ReducePlan:
    """All-reduces of hidden states: count × (latency + (token_share × tokens)**exponent × bandwidth)."""

    count: float
    latency_s: float
    token_share: float
    bandwidth_s: float
    exponent: float
    direct_tokens: float
    direct_token_s: float


def collective_terms(instance: Instance) -> dict[str, Any]:
    """The terms of a StepPlan that they are."""
    a, p, e = instance.architecture, instance.parallelism, instance.efficiency.collective
    accelerator = instance.accelerator
    link = accelerator.scale_up_byte_per_s or accelerator.pcie_byte_per_s or 1.0
    token_bytes = a.hidden_size * ACTIVATION_BYTES
    spread = p.tp * p.attention_dp
    # Attention DP gathers all ranks' tokens for the experts and scatters them back: one all-reduce's traffic.
    step_count = 0.0 if spread == 1 else 2.0 * a.layers if p.attention_dp == 1 else 1.0 * a.layers
    rank_count = 1.0 * a.layers if p.attention_dp > 1 and p.tp > 1 else 0.0
    # A norm over all heads sums two numbers a token over the ranks of TP: nothing but latency.
    across = 1.0 * a.layers if a.norm_across_heads and p.tp > 1 else 0.0
    step = reduce_plan(e, step_count, spread, token_bytes, link, 0.0 if rank_count else across)
    domain = max(accelerator.scale_up_gpus, NODE_GPUS)
    if step is not None and _exchanges_tokens(instance, spread > domain):
        step = _exchange_plan(instance, step, link)
    if step is not None and spread > domain:
        step = _over_network(step, domain / spread, link)
    return {
        "reduce_step": step,
        "reduce_rank": reduce_plan(e, rank_count, p.tp, token_bytes, link, across),
        "send_latency_s": (p.pp - 1) * e.latency_s,
        "send_token_s": (p.pp - 1) * token_bytes * a.residual_streams / (link * e.bandwidth_fraction),
    }


def _exchanges_tokens(instance: Instance, over_network: bool) -> bool:
    """Whether ranks send a token only to the GPUs of its experts instead of gathering all everywhere: done
    where those GPUs are more than the experts to a token (select_alltoall_method_type of TensorRT-LLM, which
    needs them in one scale-up domain; DeepEP in SGLang and vLLM).
    """
    p = instance.parallelism
    many = p.attention_dp > 1 and p.ep > instance.architecture.experts_per_token > 0
    return many and not (over_network and instance.engine.id == "trtllm")


def _exchange_plan(instance: Instance, reduce: ReducePlan, link_byte_per_s: float) -> ReducePlan:
    """All-to-all: a token goes to its experts in 8 bits and comes back in 16."""
    a, p, e = instance.architecture, instance.parallelism, instance.efficiency.collective
    others = (p.ep - 1.0) * (1.0 - (1.0 - 1.0 / p.ep) ** a.experts_per_token)
    sent = a.hidden_size * (1.0 + ACTIVATION_BYTES) * others / p.attention_dp
    return replace(
        reduce,
        latency_s=max(reduce.latency_s, EXCHANGE_LATENCY_S),
        token_share=sent / REFERENCE_BYTES,
        bandwidth_s=REFERENCE_BYTES / (link_byte_per_s * e.bandwidth_fraction),
        direct_tokens=0.0,
    )


def _over_network(reduce: ReducePlan, own_share: float, link_byte_per_s: float) -> ReducePlan:
    """The same where only own_share of its GPUs share a scale-up domain: what goes to the others waits for
    the NICs, all of a node's at once.
    """
    slower = max((1.0 - own_share) * link_byte_per_s / NETWORK_BYTE_PER_S, 1.0)
    return replace(
        reduce,
        latency_s=max(reduce.latency_s, NETWORK_LATENCY_S),
        bandwidth_s=reduce.bandwidth_s * slower,
        direct_tokens=0.0,
    )


def reduce_plan(
    e: CollectiveEfficiency,
    count: float,
    gpus: int,
    token_bytes: float,
    link_byte_per_s: float,
    tiny: float = 0.0,
) -> ReducePlan | None:
    """Coefficients of `count` all-reduces over `gpus` whose payload is token_bytes a token, and of `tiny` of
    next to nothing; None for none.
    """
    if not count:
        return None
    share = token_bytes * 2.0 * (gpus - 1) / gpus / REFERENCE_BYTES
    fan = (gpus / 2.0) ** e.ring_fan_exponent
    direct = token_bytes * (gpus - 1.0) ** e.direct_fan_exponent / (link_byte_per_s * e.direct_fraction)
    return ReducePlan(
        count=count,
        latency_s=e.latency_s * (1.0 + tiny / count),
        token_share=share,
        bandwidth_s=REFERENCE_BYTES * fan / (link_byte_per_s * e.bandwidth_fraction),
        exponent=e.size_exponent,
        direct_tokens=e.direct_bytes / token_bytes,
        direct_token_s=direct,
    )
