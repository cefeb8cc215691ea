"""What the replay needs to know of a fleet: step times, KV blocks, budgets and link rates."""

from dataclasses import dataclass
from typing import Literal, Protocol

Policy = Literal["chunked", "whole", "prefill_first", "unchunked", "static"]


class StepTimes(Protocol):
    """Times of one instance's steps; physics.timer.StepTimer is one."""

    @property
    def window_tokens(self) -> int | None: ...

    def decode_coefficients(self, batch: int) -> tuple[float, float, float]:
        """(a, b_full, b_window): a decode step takes a + b_full·Σcontext + b_window·Σmin(context, window)."""
        ...

    def mixed_s(
        self,
        prefill_tokens: int,
        pairs_full: float,
        pairs_window: float,
        kv_read_full: float,
        kv_read_window: float,
        prefill_sequences: int,
        batch: int,
        context_sum: float,
        window_sum: float,
    ) -> float: ...


@dataclass(frozen=True)
class EngineSpec:
    """A pool of continuously batching instances: a colocated fleet, or a decode pool. request_overhead_s:
    what an engine spends on a request before it can be scheduled. scheduled_ahead, company: as
    SimulationOptions says.
    """

    timer: StepTimes
    instances: int
    kv_blocks: int
    block_tokens: int = 16
    max_batch: int = 256
    chunk_tokens: int = 2048
    policy: Policy = "chunked"
    watermark_blocks: int = 0
    request_overhead_s: float = 0.0
    scheduled_ahead: bool = False
    company: int = 1
    company_steps: int = 0


@dataclass(frozen=True)
class PrefillSpec:
    """A pool of instances that run whole prompts, several a step up to batch_tokens new tokens. held_share:
    of a step's time, after which the next may start, as a first pipeline stage is free before the last.
    request_overhead_s: as EngineSpec's.
    """

    timer: StepTimes
    instances: int
    kv_blocks: int
    block_tokens: int = 16
    batch_tokens: int = 8192
    held_share: float = 1.0
    request_overhead_s: float = 0.0


@dataclass(frozen=True)
class LinkSpec:
    """Rates of one prefill instance's egress and one decode instance's ingress; the fabric carries a share of
    all egress at once. overlap_layers: layers whose KV streams while later ones prefill; 0 sends after
    prefill. transfers_at_once: as many enter one decode instance, the others wait; None for no limit.
    """

    latency_s: float
    egress_byte_per_s: float
    ingress_byte_per_s: float
    fabric_fraction: float = 1.0
    overlap_layers: int = 0
    transfers_at_once: int | None = None
