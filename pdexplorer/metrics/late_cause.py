"""Why first tokens came late: the part of TTFT that grew most in the requests that missed its limit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pdexplorer.simulator.records import COMPLETED

Cause = Literal["queue", "slow_prefill", "decode_memory", "slow_transfer", "first_decode"]

CAUSES: tuple[Cause, ...] = ("queue", "slow_prefill", "decode_memory", "slow_transfer", "first_decode")


@dataclass(frozen=True, slots=True)
class LateCause:
    """cause: queue (before prefill), slow_prefill, decode_memory (KV waits for room on the decode side),
    slow_transfer, or first_decode (until the decode side's first step ends). late_requests: how many missed
    the limit. excess_s: mean of that part over them, beyond its median in those that held it.
    """

    cause: Cause
    late_requests: int
    excess_s: float


def late_cause(records: Mapping[str, NDArray[Any]], ttft_limit_s: float) -> LateCause | None:
    """Of a replay's completed requests; None where all held the limit. Where none did, what took longest.

    "slow_transfer" is said where first tokens are late and prefill is not: the link, not the prefill pool,
    is what to look at.
    """
    done = records["status"] == COMPLETED
    parts = {name: values[done] for name, values in _parts(records).items()}
    late = records["first_token_s"][done] - records["arrival_s"][done] > ttft_limit_s
    if not late.any():
        return None
    excess = {
        name: float(values[late].mean()) - (float(np.median(values[~late])) if (~late).any() else 0.0)
        for name, values in parts.items()
    }
    cause = max(CAUSES, key=excess.__getitem__)
    return LateCause(cause, int(late.sum()), excess[cause])


def _parts(records: Mapping[str, NDArray[Any]]) -> dict[Cause, NDArray[np.float64]]:
    """Seconds of each request's TTFT, adding up to it. A first token from the prefill side waits for no
    transfer.
    """
    first, end = records["first_token_s"], records["prefill_end_s"]
    moved = records["transfer_end_s"] <= first  # NaN: nothing was moved
    start = np.where(moved, np.maximum(records["transfer_start_s"], end), end)
    arrived = np.where(moved, np.maximum(records["transfer_end_s"], end), end)
    return {
        "queue": records["prefill_start_s"] - records["arrival_s"],
        "slow_prefill": np.minimum(end, first) - records["prefill_start_s"],
        "decode_memory": start - end,
        "slow_transfer": arrived - start,
        "first_decode": np.maximum(first - arrived, 0.0),
    }
