"""The two replays other rooms call."""

import math

import numpy as np

from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.memory import kv_bytes_per_token_held, kv_capacity_tokens, kv_moved_bytes
from pdexplorer.physics.timer import compile_timer
from pdexplorer.simulator.colocated import Colocated
from pdexplorer.simulator.disaggregated import Disaggregated
from pdexplorer.simulator.faulty_disaggregated import FaultyDisaggregated
from pdexplorer.simulator.managed_colocated import ManagedColocated
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.records import SimulationResult
from pdexplorer.simulator.specs import EngineSpec, LinkSpec, PrefillSpec
from pdexplorer.workload.requests import Requests


def simulate_colocated(
    fleet: ColocatedFleet, requests: Requests, options: SimulationOptions | None = None
) -> SimulationResult:
    """Every request through a colocated fleet; each ends completed, refused (its KV can never fit) or
    unfinished.
    """
    options = options or SimulationOptions()
    _check(requests, options)
    blocks = _kv_blocks(fleet.instance, options.kv_block_tokens)
    spec = EngineSpec(
        timer=compile_timer(fleet.instance),
        instances=fleet.instances,
        kv_blocks=blocks,
        block_tokens=options.kv_block_tokens,
        max_batch=fleet.max_batch,
        chunk_tokens=fleet.chunk_tokens,
        policy="static" if options.static_batches else fleet.chunking,
        watermark_blocks=math.ceil(options.watermark_fraction * blocks),
        request_overhead_s=fleet.instance.engine.request_overhead_s,
        scheduled_ahead=options.scheduled_ahead,
        company=options.company,
        company_steps=options.company_steps,
    )
    if options.plain:
        return Colocated(spec, requests, options).run()
    return ManagedColocated(spec, requests, options, kv_bytes_per_token_held(fleet.instance)).run()


def simulate_disaggregated(
    fleet: DisaggregatedFleet, requests: Requests, options: SimulationOptions | None = None
) -> SimulationResult:
    """Every request through prefill pool, link and decode pool."""
    options = options or SimulationOptions()
    _check(requests, options)
    block_tokens = options.kv_block_tokens
    decode_blocks = _kv_blocks(fleet.decode, block_tokens)
    path = fleet.path
    architecture = fleet.prefill.architecture
    prefill = PrefillSpec(
        timer=compile_timer(fleet.prefill),
        instances=fleet.prefill_instances,
        kv_blocks=_kv_blocks(fleet.prefill, block_tokens),
        block_tokens=block_tokens,
        batch_tokens=fleet.prefill_batch_tokens,
        held_share=fleet.prefill.parallelism.held_share,
        request_overhead_s=fleet.prefill.engine.request_overhead_s,
    )
    decode = EngineSpec(
        timer=compile_timer(fleet.decode),
        instances=fleet.decode_instances,
        kv_blocks=decode_blocks,
        block_tokens=block_tokens,
        max_batch=fleet.max_batch,
        chunk_tokens=(
            options.local_chunk_tokens
            if options.may_stay_local
            else fleet.prefill_batch_tokens + fleet.max_batch  # only to recompute what was preempted
        ),
        policy="chunked",
        watermark_blocks=math.ceil(options.watermark_fraction * decode_blocks),
        request_overhead_s=fleet.decode.engine.request_overhead_s,
    )
    link = LinkSpec(
        latency_s=path.latency_s,
        egress_byte_per_s=path.egress_byte_per_s,
        ingress_byte_per_s=path.ingress_byte_per_s,
        fabric_fraction=path.fabric_fraction,
        overlap_layers=architecture.layers if path.layerwise_overlap else 0,
        transfers_at_once=options.transfers_at_once,
    )
    moved = kv_moved_bytes(
        architecture,
        fleet.decode.kv_format,
        requests.input_tokens.astype(float),
        fleet.decode.parallelism.tp,
    )
    sent = 1.0 if options.cache is not None else 1.0 - options.held_by_decode_fraction
    kv_bytes: list[float] = (sent * np.asarray(moved, dtype=float)).tolist()
    first_from_prefill = fleet.first_token_from == "prefill"
    if options.plain:
        return Disaggregated(prefill, decode, link, first_from_prefill, kv_bytes, requests, options).run()
    return FaultyDisaggregated(
        prefill,
        decode,
        link,
        first_from_prefill,
        kv_bytes,
        requests,
        options,
        kv_bytes_per_token_held(fleet.prefill),
    ).run()


def _kv_blocks(instance: Instance, block_tokens: int) -> int:
    capacity = kv_capacity_tokens(instance)
    if isinstance(capacity, Infeasible):
        raise ValueError(capacity.text)
    return int(capacity // block_tokens)


def _check(requests: Requests, options: SimulationOptions) -> None:
    if options.routing == "frontends" and not options.plain:
        raise ValueError("routing = 'frontends' must be without caches, faults, scaling or split rules")
    if options.closed_loop_concurrency is None and not requests.timed:
        raise ValueError(
            "arrivals: the requests have no arrival times; allowed: poisson, gamma or closed_loop"
        )
