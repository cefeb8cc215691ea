"""Plans of many instances as one whose numbers are arrays: a fit evaluates thousands of runs at once."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from pdexplorer.physics.collectives import ReducePlan
from pdexplorer.physics.plan import StepPlan


def plan_shape(plan: StepPlan) -> tuple[object, ...]:
    """What decides which terms a plan has, so that plans of one shape stack."""
    reduces = [
        None if reduce is None else reduce.direct_tokens > 0
        for reduce in (plan.reduce_step, plan.reduce_rank)
    ]
    return (
        *(plan.attention_dp, plan.pp, plan.window_tokens, plan.experts),
        *(*reduces, plan.prefill_serial_full_s > 0, plan.mixed_block_rows > 0),
    )


def stack_plans(plans: Sequence[StepPlan]) -> StepPlan:
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
