"""A stand-in for the physics with round numbers, so that tests of the closed form know every step time."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from pdexplorer.steady.table import StepTable, build_table

DECODE_S = 0.010
PER_TOKEN_S = 1e-4
PER_CONTEXT_S = 1e-9


def instance(gpus: int = 1, pp: int = 1) -> Any:
    return SimpleNamespace(
        gpus=gpus,
        parallelism=SimpleNamespace(attention_dp=1, held_share=pp / (2.0 * pp - 1.0)),
        architecture=SimpleNamespace(index_top_k_tokens=0, window_layers=0, window_tokens=None),
        engine=SimpleNamespace(request_overhead_s=0.0),
    )


def step_time_s(
    one: Any,
    *,
    prefill_tokens: Any = 0.0,
    prefill_past_tokens: Any = 0.0,
    prefill_sequences: Any = 1.0,
    decode_batch: Any = 0.0,
    decode_context_tokens: Any = 0.0,
) -> Any:
    """Weights are read once a step; each prompt token and each token of context adds its own time."""
    active = np.asarray(prefill_tokens + decode_batch) > 0
    return (
        active * DECODE_S
        + prefill_tokens * PER_TOKEN_S
        + 0.0 * (prefill_past_tokens + prefill_sequences)
        + decode_batch * decode_context_tokens * PER_CONTEXT_S
    )


def table(count: int = 1, kv_tokens: float = 1e9, max_batch: int = 256, pp: int = 1) -> StepTable:
    return build_table([instance(pp=pp)] * count, [kv_tokens] * count, max_batch, step_time_s)
