"""The plan of an instance under other serving ratios, from the plan without."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pdexplorer.physics.plan import StepPlan
from pdexplorer.physics.serving import KernelRatios

_PLAN_TERMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "product_launch": (
            *("dense_launch_s", "dense_small_launch_s"),
            *("element_launch_s", "element_token_s"),
        ),
        "product_weights": (
            *("dense_weights_s", "dense_activation_s"),
            *("head_launch_s", "head_weights_s"),
        ),
        "expert_launch": ("expert_launch_s",),
        "expert_weights": ("expert_weights_s",),
        "attention_launch": ("prefill_launch_s", "decode_launch_s"),
        "cache": (
            *("prefill_read_full_s", "prefill_read_window_s", "decode_sequence_s"),
            *("decode_context_full_s", "decode_context_window_s"),
            *("prefill_serial_full_s", "prefill_serial_window_s"),
        ),
        "collective": ("send_latency_s", "send_token_s"),
        "compute": ("dense_compute_s", "head_compute_s", "expert_compute_s"),
        "attention_compute": ("prefill_token_s", "prefill_pair_full_s", "prefill_pair_window_s"),
        "overhead": ("step_overhead_s",),
    }
)


def scale_plan(plan: StepPlan, ratios: KernelRatios) -> StepPlan:
    """The plan of an instance under ratios, from the plan without: what `in_serving` compiles to, apart from
    the norms of queries and keys. A fit tries ratios thousands of times.
    """
    terms: dict[str, Any] = {
        term: _scaled(getattr(plan, term), getattr(ratios, name))
        for name, group in _PLAN_TERMS.items()
        for term in group
    }
    terms["expert_imbalance_ratio"] = 1.0 + (plan.expert_imbalance_ratio - 1.0) * ratios.uneven
    for name in ("reduce_step", "reduce_rank"):
        reduce = getattr(plan, name)
        if reduce is not None:
            terms[name] = replace(
                reduce,
                latency_s=reduce.latency_s * ratios.collective,
                bandwidth_s=reduce.bandwidth_s * ratios.collective,
                direct_token_s=reduce.direct_token_s * ratios.collective,
            )
    return replace(plan, **terms)


def _scaled(term: Any, ratio: Any) -> Any:
    """A term that a plan lacks stays a plain zero, by which kernels know."""
    return term if isinstance(term, float) and term == 0.0 else term * ratio
