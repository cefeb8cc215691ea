"""The disaggregated fleet in closed form: a prefill queue, a link, a decode pool.

Prefill: a queue of prompts per instance, or one for all where the router sends to the least loaded, with the
variance of prompt lengths; short prompts that wait together share a step. Link: a queue at the sender and one at
the receiver. Decode: the batch by Little's law. Designs: (prefill instances, decode instances).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.load import Load
from pdexplorer.steady.pool import (
    DecodeGrid,
    decode_grid,
    memory_excess,
    seen_batch,
    spread_batch,
    tpot_attainment,
    wait_attainment,
)
from pdexplorer.steady.solve import balanced, largest, meet
from pdexplorer.steady.table import StepTable
from pdexplorer.steady.tails import mean_wait_s, one_server_wait_s, wait_probability

Array = NDArray[np.float64]

_FULL = 0.999
_INGRESS_BUSY = 0.8
"""A decode instance online takes no more than keeps its ingress this busy: beyond, transfers queue without bound."""
_ROUTING = 0.25
"""Sending to the instance with the fewest tokens waits this much longer than one queue for all, for many instances."""
_FIRST_DECODE_STEPS = 1.5
"""A request that arrives waits on average half a running step, then takes its own."""


@dataclass(frozen=True, eq=False)
class Wire:
    """KV transfers. moved_bytes (classes, 1, decode, y, x); rates (prefill, 1, y, x) and (1, decode, y, x)."""

    moved_bytes: Array
    egress_byte_per_s: Array
    ingress_byte_per_s: Array
    latency_s: Array
    fabric_fraction: float
    layerwise_overlap: bool
    layers: int


@dataclass(frozen=True, eq=False)
class DisaggregatedDesigns:
    """What stays the same while the load varies. lone_s (classes, prefill, 1, y, x): a prompt with nothing beside."""

    load: Load
    prefill: StepTable
    decode: StepTable
    grid: DecodeGrid
    wire: Wire
    max_batch: float
    first_token_from_decode: bool
    lone_s: Array
    full_s: Array
    most_prompts: Array

    @property
    def cells(self) -> tuple[int, ...]:
        load = self.load
        return np.broadcast_shapes(
            load.new_tokens.shape[1:],
            load.output_tokens.shape[1:],
            load.rate_per_s.shape,
            load.ttft_limit_s.shape,
            load.tpot_limit_s.shape,
            load.e2e_limit_s.shape,
            load.arrival_cv2.shape,
            load.hop_s.shape,
            self.wire.egress_byte_per_s.shape[2:],
            self.wire.ingress_byte_per_s.shape[2:],
            self.wire.latency_s.shape,
            () if load.concurrency is None else load.concurrency.shape,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.prefill.gpus), len(self.decode.gpus), *self.cells)

    @cached_property
    def lone_mean_s(self) -> Array:
        return self.load.over(self.lone_s)

    @cached_property
    def lone_cv2(self) -> Array:
        return np.asarray(self.load.over(self.lone_s**2) / self.lone_mean_s**2 - 1.0)

    @cached_property
    def moved_mean_bytes(self) -> Array:
        return self.load.over(self.wire.moved_bytes)

    @cached_property
    def moved_cv2(self) -> Array:
        mean = np.maximum(self.moved_mean_bytes, 1e-9)
        return np.asarray(self.load.over(self.wire.moved_bytes**2) / mean**2 - 1.0)

    @cached_property
    def decode_steps(self) -> Array:
        """Steps a request takes on the decode side: the first token is one of them where decode emits it."""
        steps = self.load.mean_decode_steps
        return steps + 1.0 if self.first_token_from_decode else steps


def disaggregated_designs(
    load: Load,
    prefill: StepTable,
    decode: StepTable,
    wire: Wire,
    prefill_batch_tokens: float,
    max_batch: float,
    first_token_from_decode: bool,
) -> DisaggregatedDesigns:
    """Every prefill instance of one table with every decode instance of the other."""
    lone = np.moveaxis(prefill.lone_prompt_s(load.new_tokens, load.past_tokens, prefill_batch_tokens), 1, 0)
    mean_lone = load.over(lone)
    new = load.mean_new_tokens
    middle = load.mean(load.new_tokens * (load.past_tokens + 0.5 * load.new_tokens)) / np.maximum(new, 1e-9)
    ranks = prefill.ranks[:, None, None]
    packed = prefill.one_step_s(np.full_like(new, prefill_batch_tokens), middle - 0.5 * prefill_batch_tokens)
    full = np.where(
        new * ranks >= prefill_batch_tokens, mean_lone / ranks, packed * new / prefill_batch_tokens
    )
    most = np.maximum(ranks, prefill_batch_tokens / new)
    return DisaggregatedDesigns(
        load, prefill, decode, decode_grid(decode, load), wire, max_batch, first_token_from_decode,
        lone[:, :, None], np.minimum(full, mean_lone)[:, None], most[:, None],
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class PrefillFlow:
    """One prefill instance at a rate. busy: share of time it computes; utilisation: of what it could carry."""

    rate_per_s: Array
    busy: Array
    utilisation: Array
    service_s: Array
    wait_s: Array
    wait_share: Array


def prefill_flow(designs: DisaggregatedDesigns, rate_per_s: Array, instances: Array) -> PrefillFlow:
    """A queue whose prompts share steps up to the token budget.

    A step costs a fixed part and a part per prompt. Waiting is the queue of the parts that remain when steps are
    full, plus what is left of a running step's fixed part; a prompt is done when its whole step is.
    """
    load = designs.load
    lone, most = designs.lone_s, np.maximum(designs.most_prompts, 1.0)
    one, cv2, full = designs.lone_mean_s, designs.lone_cv2, designs.full_s
    fixed = one - full
    utilisation = rate_per_s * full
    room = np.maximum(1.0 - utilisation, 1e-6)
    prompts = np.minimum(np.maximum(rate_per_s * fixed / room, 1.0), most)
    step = fixed + prompts * full
    busy = np.minimum(rate_per_s * step / prompts, 1.0)
    servers = instances if load.least_loaded else np.ones_like(instances)
    arrival_cv2 = load.arrival_cv2 if load.least_loaded else load.arrival_cv2 / instances
    share = wait_probability(busy, servers)
    queue = mean_wait_s(utilisation, servers, full, cv2, arrival_cv2) * (
        1.0 + _ROUTING * (1.0 - 1.0 / servers)
    )
    wait = queue + 0.5 * share * np.minimum(fixed / room, most * full)
    shared = np.minimum(wait * busy / (1.0 + busy), 0.5 * most * full) * (1.0 - 1.0 / most)
    return PrefillFlow(rate_per_s, busy, utilisation, lone + (step - one) + shared, wait, share)


@dataclass(frozen=True, eq=False)
class LinkFlow:
    """Transfers at a load. wire_s and exposed_s by class; busy: of the busier end or the fabric."""

    wire_s: Array
    exposed_s: Array
    busy: Array
    egress_busy: Array
    ingress_busy: Array
    wait_s: Array


def link_flow(
    designs: DisaggregatedDesigns, prefill_rate_per_s: Array, decode_rate_per_s: Array, service_s: Array
) -> LinkFlow:
    wire = designs.wire
    mean, cv2 = designs.moved_mean_bytes, designs.moved_cv2
    time = wire.moved_bytes / np.minimum(wire.egress_byte_per_s, wire.ingress_byte_per_s)
    egress = prefill_rate_per_s * mean / wire.egress_byte_per_s / wire.fabric_fraction
    ingress = decode_rate_per_s * mean / wire.ingress_byte_per_s
    # A sender's transfers come as its prefills end, about as evenly as its queue serves them.
    wait = one_server_wait_s(ingress, mean / wire.ingress_byte_per_s, cv2)
    wait = wait + 0.5 * one_server_wait_s(egress, mean / wire.egress_byte_per_s / wire.fabric_fraction, cv2)
    exposed = time
    if wire.layerwise_overlap:
        exposed = np.maximum(time / wire.layers, time - service_s * (wire.layers - 1) / wire.layers)
    return LinkFlow(time, wire.latency_s + exposed, np.maximum(egress, ingress), egress, ingress, wait)


@dataclass(frozen=True, eq=False)
class DecodeFlow:
    """One decode instance at a number in flight; shapes (1, decode, y, x) or wider."""

    in_flight: Array
    batch: Array
    active: Array
    step_s: Array
    slope_s: Array
    rate_per_s: Array
    spread: Array


def decode_flow(designs: DisaggregatedDesigns, in_flight: Array, instances: Array | None) -> DecodeFlow:
    """instances None: as many as the demand needs at this load, unrounded."""
    load = designs.load
    batch, active = seen_batch(in_flight, load.offline)
    step, slope = _decode_step(designs, batch)
    rate = in_flight / (designs.decode_steps * step)
    if instances is None:
        instances = np.maximum(load.rate_per_s / rate, 1.0)
    return DecodeFlow(in_flight, batch, active, step, slope, rate, spread_batch(load, in_flight, instances))


def _decode_step(designs: DisaggregatedDesigns, batch: Array) -> tuple[Array, Array]:
    """The grid's index has the instances in front; designs have them second."""
    grid = designs.grid
    turned = replace(grid, offset=np.moveaxis(grid.offset, 0, 1))
    return turned.at(batch)


def decode_tpot(designs: DisaggregatedDesigns, flow: DecodeFlow, late_s: Array | float) -> Array:
    """Share of each class that holds the TPOT limit; late_s is what the second token waits, by class."""
    steps = np.maximum(designs.load.decode_steps, 1.0)[:, None, None]
    zero = np.zeros_like(flow.step_s)
    return tpot_attainment(
        designs.load, flow.step_s + late_s / steps, flow.slope_s, flow.spread, zero, zero, None
    )


def decode_score(designs: DisaggregatedDesigns, in_flight: Array, instances: Array | None) -> Array:
    """≥ 0 where a decode instance holds memory, its link and half of the misses the SLO leaves."""
    load = designs.load
    flow = decode_flow(designs, in_flight, instances)
    count = np.maximum(load.rate_per_s / flow.rate_per_s, 1.0) if instances is None else instances
    memory = _decode_memory(designs, in_flight, count)
    mean = designs.moved_mean_bytes
    ceiling = _FULL if load.offline else _INGRESS_BUSY
    link = ceiling - flow.rate_per_s * mean / designs.wire.ingress_byte_per_s
    fits = np.minimum(-memory, link)
    if load.offline:
        return np.asarray(fits)
    attained = load.over(decode_tpot(designs, flow, 0.0))
    return balanced(attained, 0.5 * (1.0 + load.percentile_fraction), fits)


def _decode_memory(designs: DisaggregatedDesigns, in_flight: Array, instances: Array) -> Array:
    moved = np.moveaxis(in_flight, 1, 0)
    count = np.moveaxis(np.broadcast_to(instances, in_flight.shape), 1, 0)
    excess = memory_excess(
        designs.load, designs.decode, moved, count, np.zeros_like(moved), designs.max_batch
    )
    return np.moveaxis(excess, 0, 1)


@dataclass(frozen=True, eq=False)
class DisaggregatedFlow:
    """A whole fleet at a load: its three parts and who holds the limits, (prefill, decode, y, x)."""

    prefill: PrefillFlow
    link: LinkFlow
    decode: DecodeFlow
    service_s: Array
    after_s: Array
    wait_s: Array
    wait_share: Array
    late_s: Array
    attained: Array
    attained_ttft: Array
    attained_tpot: Array


def disaggregated_flow(
    designs: DisaggregatedDesigns,
    prefill_rate_per_s: Array,
    prefill_instances: Array,
    decode: DecodeFlow,
) -> DisaggregatedFlow:
    """TTFT = router + queue + prefill + exposed transfer + first decode step, or up to prefill where it emits."""
    load = designs.load
    prefill = prefill_flow(designs, prefill_rate_per_s, prefill_instances)
    link = link_flow(designs, prefill_rate_per_s, decode.rate_per_s, prefill.service_s)
    hop = load.hop_s + designs.prefill.request_overhead_s
    if designs.first_token_from_decode:
        service = prefill.service_s + link.exposed_s
        after = 2.0 * hop + _FIRST_DECODE_STEPS * decode.step_s
        wait, share = (
            prefill.wait_s + link.wait_s,
            1.0 - (1.0 - prefill.wait_share) * (1.0 - np.minimum(link.busy, 1.0)),
        )
        late: Array = np.zeros((1, 1, 1, 1, 1), dtype=load.weight.dtype)
    else:
        service, after = prefill.service_s, hop + 0.0 * decode.step_s
        wait, share = prefill.wait_s, prefill.wait_share
        late = link.exposed_s + link.wait_s + hop
    tail = load.decode_steps[:, None, None] * decode.step_s + late
    first = wait_attainment(load, service, after, tail, share, wait)
    later = decode_tpot(designs, decode, late)
    return DisaggregatedFlow(
        prefill, link, decode, service, after, wait, share, late,
        load.over(first * later), load.over(first), load.over(later),
    )  # fmt: skip


def decode_capacity(
    designs: DisaggregatedDesigns, instances: Array | None = None, iterations: int = 12
) -> tuple[Array, NDArray[np.bool_]]:
    """(in flight, fits) at the largest load of one decode instance, (1, decode, y, x)."""
    shape = np.broadcast_shapes((1, len(designs.decode.gpus), 1, 1), (1, 1, *designs.cells))
    kind = designs.load.weight.dtype
    low, high = np.full(shape, 0.02, dtype=kind), np.full(shape, designs.max_batch, dtype=kind)
    return largest(lambda b: decode_score(designs, b, instances), low, high, iterations)


def prefill_capacity(
    designs: DisaggregatedDesigns, decode: DecodeFlow, instances: Array | None = None, iterations: int = 12
) -> tuple[Array, NDArray[np.bool_]]:
    """(requests per second, fits) at the largest load of one prefill instance, (prefill, decode, y, x)."""
    load = designs.load
    most = np.broadcast_to(_FULL / designs.full_s, designs.shape)

    def score(rate: Array) -> Array:
        count = np.maximum(demand_per_s(designs, decode) / rate, 1.0) if instances is None else instances
        flow = disaggregated_flow(designs, rate, count, decode)
        fits = np.minimum(_FULL - flow.link.busy, _FULL - flow.prefill.utilisation + 1e-9)
        if load.offline:
            return np.asarray(fits)
        return balanced(flow.attained, load.percentile_fraction, fits)

    return largest(score, most * 1e-4, most, iterations)


def demand_per_s(designs: DisaggregatedDesigns, decode: DecodeFlow) -> Array:
    """Requests per second of the whole demand; a closed loop's follows from how long a request takes unloaded."""
    load = designs.load
    if load.concurrency is None:
        return load.rate_per_s
    unloaded = designs.lone_mean_s + designs.decode_steps * decode.step_s
    return np.asarray(load.concurrency / unloaded)


def decode_at(designs: DisaggregatedDesigns, rate_per_s: Array, instances: Array) -> DecodeFlow:
    """One decode instance of a pool of that many at a rate each; clamps at the batch limit."""
    shape = np.broadcast_shapes((1, len(designs.decode.gpus), 1, 1), np.shape(rate_per_s))
    low, high = np.full(shape, 1e-6), np.full(shape, designs.max_batch)

    def carried(in_flight: Array) -> Array:
        return decode_flow(designs, in_flight, instances).rate_per_s

    return decode_flow(designs, meet(carried, np.broadcast_to(rate_per_s, shape), low, high), instances)


def one_pair(designs: DisaggregatedDesigns, p: int, d: int) -> DisaggregatedDesigns:
    """One pair of many."""
    rows, columns = slice(p, p + 1), slice(d, d + 1)
    wire = designs.wire
    return replace(
        designs,
        prefill=_row(designs.prefill, rows),
        decode=_row(designs.decode, columns),
        grid=replace(designs.grid, offset=designs.grid.offset[columns]),
        wire=replace(
            wire,
            moved_bytes=wire.moved_bytes[:, :, columns],
            egress_byte_per_s=wire.egress_byte_per_s[rows],
            ingress_byte_per_s=wire.ingress_byte_per_s[:, columns],
        ),
        lone_s=designs.lone_s[:, rows],
        full_s=designs.full_s[rows],
        most_prompts=designs.most_prompts[rows],
    )


def _row(table: StepTable, rows: slice) -> StepTable:
    return replace(table, gpus=table.gpus[rows], kv_tokens=table.kv_tokens[rows], ranks=table.ranks[rows])
