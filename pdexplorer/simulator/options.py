"""How a replay is run, beside the fleet and the requests."""

from dataclasses import dataclass
from typing import Literal

RoutingPolicy = Literal["round_robin", "least_loaded", "central_queue"]


@dataclass(frozen=True)
class SimulationOptions:
    """routing: how requests spread over instances; central_queue lets prefill instances pull from one queue.

    router_overhead_s is added per hop. closed_loop_concurrency keeps that many requests in flight and ignores
    arrival times. horizon_s ends the replay early: what has not finished is `unfinished`. warmup_s:
    requests that arrive before it are replayed but left out of SimulationResult.counted. samples: about how
    many points the time series have; 0 for none.
    """

    routing: RoutingPolicy = "least_loaded"
    router_overhead_s: float = 0.0
    closed_loop_concurrency: int | None = None
    kv_block_tokens: int = 16
    watermark_fraction: float = 0.01
    horizon_s: float | None = None
    warmup_s: float = 0.0
    samples: int = 400
