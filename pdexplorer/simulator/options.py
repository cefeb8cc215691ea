"""How a replay is run, beside the fleet and the requests."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.fault import Fault
from pdexplorer.simulator.scaling import Scaling
from pdexplorer.simulator.split import OwnThreshold, SplitRule
from pdexplorer.simulator.tiers import Tier

RoutingPolicy = Literal["round_robin", "frontends", "least_loaded", "central_queue", "prefix_aware"]


@dataclass(frozen=True)
class CacheOptions:
    """Prefix caches, for requests with block hashes; their cached_tokens are then worked out, not taken.

    hbm: KV memory that running sequences leave free keeps blocks. host, ssd: further tiers of each instance
    that prefills; store: one that the fleet shares. write_back: KV of generated tokens is kept for the next
    turn (on the prefill side and in the tiers too); without it, only where they were decoded.
    """

    hbm: bool = True
    host: Tier | None = None
    ssd: Tier | None = None
    store: Tier | None = None
    write_back: bool = True


@dataclass(frozen=True)
class SimulationOptions:
    """routing: how requests spread over instances; frontends: ten of them in turn, each round robin;
    central_queue lets prefill instances pull from one queue;
    prefix_aware takes the instance with the longest cached prefix while its load is at most
    prefix_load_ratio times the mean.

    router_overhead_s is added per hop, to what the engine itself spends on a request.
    closed_loop_concurrency keeps that many requests in flight and ignores arrival times. horizon_s ends the
    replay early: what has not finished is `unfinished`. warmup_s: requests that arrive before it are replayed
    but left out of SimulationResult.counted. samples: about how many points the time series have; 0 for none.

    split_rule: which prompts of a disaggregated fleet go to the prefill pool; None for all. Others prefill on
    the decode instance, in mixed steps of local_chunk_tokens. overflow_wait_s: a prompt that would wait
    longer for the prefill pool is prefilled there too (a mixed pool). fallback_transfer_s: the same for one
    whose transfer would take longer at the link's present rates. transfers_at_once throttles the link: as
    many enter one decode instance, each faster than if all shared it, and the others wait. refuse_ttft_s: a
    prompt whose predicted TTFT is longer is refused before prefill.

    held_by_decode_fraction: of every prompt's KV, not sent because the decode side has it; with a cache it is
    worked out instead.

    faults: in any order. retry_after_s: time until a request that lost its instance is sent elsewhere, which
    is one more hop. transfer_retries: a transfer that fails is sent again so often, then the decode side
    recomputes the prompt. scaling: pools that grow, shrink or change roles; None for fixed ones.
    static_batches: a colocated instance fills a batch, decodes all of it, and only then takes more.
    scheduled_ahead: a colocated instance chooses a step's batch as the step before it begins, so that the
    processor's work hides behind the GPU's: a prompt sits out the step after the one it comes in.
    company: where prompts are not split they come in so many at a time, each rank of attention DP having one
    to compute; the first waits at most company_steps steps for the others.
    trace_requests: request ids whose every token and step is kept. report: told the share of requests that
    have left, whenever the series are sampled.
    """

    routing: RoutingPolicy = "least_loaded"
    router_overhead_s: float = 0.0
    closed_loop_concurrency: int | None = None
    kv_block_tokens: int = 16
    watermark_fraction: float = 0.01
    horizon_s: float | None = None
    warmup_s: float = 0.0
    samples: int = 400
    prefix_load_ratio: float = 1.5
    split_rule: SplitRule | None = None
    local_chunk_tokens: int = 2048
    held_by_decode_fraction: float = 0.0
    overflow_wait_s: float | None = None
    fallback_transfer_s: float | None = None
    transfers_at_once: int | None = None
    refuse_ttft_s: float | None = None
    cache: CacheOptions | None = None
    faults: tuple[Fault, ...] = ()
    retry_after_s: float = 0.0
    transfer_retries: int = 1
    scaling: Scaling | None = None
    static_batches: bool = False
    scheduled_ahead: bool = False
    company: int = 1
    company_steps: int = 0
    trace_requests: tuple[int, ...] = ()
    report: Callable[[float], None] | None = None

    @property
    def plain(self) -> bool:
        """Whether nothing is asked for beyond engines, link and simple routers."""
        return (
            self.routing != "prefix_aware"
            and self.split_rule is None
            and self.overflow_wait_s is None
            and self.fallback_transfer_s is None
            and self.refuse_ttft_s is None
            and self.cache is None
            and not self.faults
            and self.scaling is None
        )

    @property
    def may_stay_local(self) -> bool:
        """Whether prompts may prefill on decode instances while there is a prefill pool."""
        return not (
            self.split_rule is None and self.overflow_wait_s is None and self.fallback_transfer_s is None
        )


def options_of(scenario: Scenario) -> SimulationOptions:
    """What a scenario says of routing, link, blocks and arrivals."""
    routing, workload = scenario.routing, scenario.workload
    threshold, longest_ms = routing.local_threshold_tokens, routing.fallback_transfer_ms
    return SimulationOptions(
        routing=routing.policy,
        router_overhead_s=routing.overhead_ms / 1e3,
        closed_loop_concurrency=workload.concurrency if workload.arrivals == "closed_loop" else None,
        kv_block_tokens=scenario.engine.kv_block_tokens,
        split_rule=OwnThreshold(threshold) if threshold else None,
        fallback_transfer_s=None if longest_ms is None else longest_ms / 1e3,
        transfers_at_once=scenario.network.transfers_at_once,
        held_by_decode_fraction=workload.decode_hit_fraction,
    )
