"""The disaggregated fleet in closed form: a prefill queue, a link, a decode pool.

Prefill: a queue of prompts per instance, or one for all where the router sends to the least loaded, with
the variance of prompt lengths; short prompts that wait together share a step. Link: a queue at the sender
and one at the receiver. Decode: the batch by Little's law. Designs: (prefill instances, decode instances).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.pool import memory_excess, tpot_attainment, wait_attainment
from pdexplorer.steady.solve import EXACT, Effort, Largest, largest, lowest, meet, misses_score, room_score
from pdexplorer.steady.split_designs import DisaggregatedDesigns
from pdexplorer.steady.split_parts import (
    DecodeFlow,
    LinkFlow,
    PrefillFlow,
    decode_flow,
    link_flow,
    prefill_flow,
)

Array = NDArray[np.float64]


_FULL = 0.999
_INGRESS_BUSY = 0.8
"""A decode instance online takes no more than keeps its ingress this busy: beyond, transfers queue without
bound.
"""
_LIKELY = 0.8
"""Of what a prefill instance computes at most: where a rough search starts."""
_MOSTLY = 0.85
"""The same of what a decode instance runs at the mean limits."""
_PART = 0.5
_ONE_IN_FLIGHT = 0.02
_ALMOST_NONE = 1e-12
"""In flight: less than any load that is asked leaves on an instance."""
_FIRST_DECODE_STEPS = 1.5
"""A request that arrives waits on average half a running step, then takes its own."""


def decode_tpot(designs: DisaggregatedDesigns, flow: DecodeFlow, late_s: Array | float) -> Array:
    """Share of each class that holds the TPOT limit; late_s is what the second token waits, by class."""
    steps = np.maximum(designs.load.decode_steps, 1.0)[:, None, None]
    zero = np.zeros_like(flow.step_s)
    return tpot_attainment(
        designs.load, flow.step_s + late_s / steps, flow.slope_s, flow.spread, zero, zero, None
    )


def decode_scores(
    designs: DisaggregatedDesigns, in_flight: Array, instances: Array | None, needed: Array | float
) -> tuple[Array, ...]:
    """Each ≥ 0 where a decode instance holds memory, its link and the TPOT limit for that share of requests,
    limit by limit as solve.largest takes them.
    """
    load = designs.load
    flow = decode_flow(designs, in_flight, instances)
    count = np.maximum(load.rate_per_s / flow.rate_per_s, 1.0) if instances is None else instances
    memory = decode_memory(designs, in_flight, count)
    room = room_score(1.0 + memory), room_score(flow.rate_per_s / _taken_per_s(designs))
    if load.offline:
        return room
    return misses_score(decode_attained(designs, flow), needed), *room


def _taken_per_s(designs: DisaggregatedDesigns) -> Array:
    """Requests whose KV the ingress of a decode instance takes."""
    ceiling = _FULL if designs.load.offline else _INGRESS_BUSY
    return np.asarray(ceiling * designs.wire.ingress_byte_per_s / np.maximum(designs.moved_mean_bytes, 1e-9))


def decode_attained(designs: DisaggregatedDesigns, flow: DecodeFlow) -> Array:
    """Share of requests that hold what decode decides, beside almost idle prefill: the TPOT limit, and where
    the whole request has a limit every one, since a token's time counts once for each token there.
    """
    if not designs.load.limits_e2e:
        return designs.load.over(decode_tpot(designs, flow, 0.0))
    many = np.full((1, 1, 1, 1), 1e6, dtype=designs.load.weight.dtype)
    return disaggregated_flow(designs, prefill_bounds(designs)[0], many, flow).attained


def decode_needed(designs: DisaggregatedDesigns) -> Array:
    """What decode_attained has to reach, (prefill, decode, y, x): decode has half of the misses that the SLO
    leaves beside those of both pools with one request at a time. 1 where they leave none.
    """
    idle = almost_idle(designs).attained
    spare = np.maximum(idle - designs.load.percentile_fraction, 0.0)
    best = np.where(spare > 0.0, idle, 1.0) if designs.load.limits_e2e else 1.0
    return np.asarray(best - _PART * spare)


def decode_memory(designs: DisaggregatedDesigns, in_flight: Array, instances: Array) -> Array:
    """How far a decode pool oversteps its KV memory or batch limit, as pool.memory_excess."""
    return memory_excess(designs.load, designs.kv_tokens, in_flight, instances, 0.0, designs.max_batch)


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
    wait_cv2: Array
    late_s: Array
    attained: Array
    first_by_class: Array
    later_by_class: Array


def disaggregated_flow(
    designs: DisaggregatedDesigns,
    prefill_rate_per_s: Array,
    prefill_instances: Array,
    decode: DecodeFlow,
    later: Array | None = None,
) -> DisaggregatedFlow:
    """TTFT = router + queue + prefill + exposed transfer + first decode step, or up to prefill where it
    emits. later: the TPOT attainment by class, where the caller knows it.
    """
    load = designs.load
    prefill = prefill_flow(designs, prefill_rate_per_s, prefill_instances)
    link = link_flow(designs, prefill_rate_per_s, decode.rate_per_s, prefill, prefill_instances)
    hop = load.hop_s + designs.prefill.request_overhead_s
    if designs.first_token_from_decode:
        service = prefill.service_s + link.exposed_s
        after = 2.0 * hop + _FIRST_DECODE_STEPS * decode.step_s
        wait, share = (
            prefill.wait_s + link.wait_s,
            1.0 - (1.0 - prefill.wait_share) * (1.0 - np.minimum(link.wait_share, 1.0)),
        )
        late: Array = np.zeros((1, 1, 1, 1, 1), dtype=load.weight.dtype)
        # Of two waits, each counts as it is long.
        part = np.minimum(link.wait_s / np.maximum(wait, 1e-12), 1.0)
        cv2 = prefill.wait_cv2 + part * (link.wait_cv2 - prefill.wait_cv2)
    else:
        service, after = prefill.service_s, hop + 0.0 * decode.step_s
        wait, share, cv2 = prefill.wait_s, prefill.wait_share, prefill.wait_cv2
        late = link.exposed_s + link.wait_s + hop
    tail = load.decode_steps[:, None, None] * decode.step_s + late if load.limits_e2e else 0.0
    first = designs.room_share * wait_attainment(load, service, after, tail, share, wait, cv2)
    if later is None:
        later = decode_tpot(designs, decode, late)
    return DisaggregatedFlow(
        prefill, link, decode, service, after, wait, share, cv2, late, load.over(first * later), first, later,
    )  # fmt: skip


def residence_s(designs: DisaggregatedDesigns, flow: DisaggregatedFlow) -> Array:
    """Mean time from arrival to last token."""
    weight = designs.load.weight[:, None, None, None, None]
    steps = np.maximum(designs.load.mean(designs.load.decode_steps), 1e-3)
    service = (weight * (flow.service_s + flow.late_s)).sum(axis=0)
    return np.asarray(flow.wait_s + flow.after_s + service + steps * flow.decode.step_s)


def outside_decode_s(
    designs: DisaggregatedDesigns, flow: DisaggregatedFlow, decode_instances: Array
) -> Array:
    """Mean wait of a closed loop's requests for which decode has no memory, as the colocated fleet's."""
    if designs.load.concurrency is None:
        return np.zeros_like(flow.decode.rate_per_s)
    rate = flow.decode.rate_per_s * decode_instances
    return np.asarray(np.maximum(designs.load.concurrency / rate - residence_s(designs, flow), 0.0))


def almost_idle(designs: DisaggregatedDesigns) -> DisaggregatedFlow:
    """Every pair with one request at a time: what no number of instances betters."""
    many = np.full((1, 1, 1, 1), 1e6, dtype=designs.load.weight.dtype)
    decode = decode_flow(designs, np.full_like(many, _ONE_IN_FLIGHT), many)
    return disaggregated_flow(designs, prefill_bounds(designs)[0], many, decode)


def decode_bounds(designs: DisaggregatedDesigns) -> tuple[Array, Array]:
    """Least and most requests in flight of a decode instance worth trying, in the designs' shape."""
    kind = designs.load.weight.dtype
    low = np.full(designs.shape, 0.05 * _ONE_IN_FLIGHT, dtype=kind)
    return low, np.full(designs.shape, designs.max_batch, dtype=kind)


def decode_capacity(
    designs: DisaggregatedDesigns,
    instances: Array | None = None,
    effort: Effort = EXACT,
    near: Array | None = None,
) -> Largest:
    """Requests in flight at the largest load of one decode instance, (prefill, decode, y, x)."""
    low, high = decode_bounds(designs)
    needed = 1.0 if designs.load.offline else decode_needed(designs)
    # The prefill pool is sized beside this batch: one a little too large would leave it no misses at all.
    if near is None and effort.guess:
        near = _MOSTLY * _mean_limits(designs)
    effort = replace(effort, calls=2 * effort.calls, guess=False)
    return largest(lambda b: decode_scores(designs, b, instances, needed), low, high, effort, near)


def _mean_limits(designs: DisaggregatedDesigns) -> Array:
    """About how many run where a step takes the TPOT limit, the KV memory is full, or the link busy."""
    load = designs.load
    held = designs.kv_tokens.astype(load.weight.dtype) / load.context_tokens
    most = np.minimum(np.minimum(designs.grid.batch_at(load.tpot_limit_s, 0.0), held), designs.max_batch)
    step_s, _ = designs.grid.at(np.maximum(most, 1.0))
    link = _taken_per_s(designs) * designs.decode_steps * step_s
    return np.broadcast_to(np.minimum(most, link), designs.shape)


def prefill_score(
    designs: DisaggregatedDesigns,
    rate_per_s: Array,
    decode: DecodeFlow,
    instances: Array | None,
    later: Array | None = None,
) -> Array:
    """≥ 0 where a prefill instance at that rate holds every limit beside decode. later: as the flow's."""
    return lowest(prefill_scores(designs, rate_per_s, decode, instances, later))


def prefill_scores(
    designs: DisaggregatedDesigns,
    rate_per_s: Array,
    decode: DecodeFlow,
    instances: Array | None,
    later: Array | None = None,
) -> tuple[Array, ...]:
    """The same limit by limit, as solve.largest takes them."""
    load = designs.load
    count = instances
    if count is None:
        count = np.maximum(demand_per_s(designs, decode) / rate_per_s, 1.0)
    flow = disaggregated_flow(designs, rate_per_s, count, decode, later)
    # How busy the ingress is follows from decode's load, and was kept within its limit there.
    room = room_score(flow.link.sending / _FULL), room_score((flow.prefill.utilisation - 1e-9) / _FULL)
    if load.offline:
        return np.where(load.over(designs.room_share) < load.percentile_fraction, -1.0, 1.0), *room
    return misses_score(flow.attained, load.percentile_fraction), *room


def prefill_bounds(designs: DisaggregatedDesigns) -> tuple[Array, Array]:
    """Least and most requests per second of a prefill instance worth trying, in the designs' shape."""
    most = np.broadcast_to(_FULL / designs.full_s, designs.shape)
    return most * 1e-4, most


def prefill_capacity(
    designs: DisaggregatedDesigns,
    decode: DecodeFlow,
    instances: Array | None = None,
    effort: Effort = EXACT,
    near: Array | None = None,
) -> Largest:
    """Requests per second at the largest load of one prefill instance, (prefill, decode, y, x)."""
    # Without a transfer before the second token TPOT does not depend on the prefill pool's load.
    later = decode_tpot(designs, decode, 0.0) if designs.first_token_from_decode else None
    low, high = prefill_bounds(designs)
    if near is None and effort.guess:
        near = _LIKELY * high
    return largest(
        lambda rate: prefill_scores(designs, rate, decode, instances, later), low, high, effort, near
    )


def demand_per_s(designs: DisaggregatedDesigns, decode: DecodeFlow) -> Array:
    """Requests per second of the whole demand; a closed loop's follows from how long a request takes
    unloaded.
    """
    load = designs.load
    if load.concurrency is None:
        return load.rate_per_s
    unloaded = designs.lone_mean_s + designs.decode_steps * decode.step_s
    return np.asarray(load.concurrency / unloaded)


def decode_at(designs: DisaggregatedDesigns, rate_per_s: Array, instances: Array) -> DecodeFlow:
    """One decode instance of a pool of that many at a rate each; clamps at the batch limit."""
    shape = np.broadcast_shapes(designs.decode_rows.shape, np.shape(rate_per_s))
    high = np.full(shape, designs.max_batch)
    # Little's law with the shortest step there is: never more than in truth.
    fastest, _ = designs.grid.at(np.ones((1, 1, 1, 1)))
    low = np.minimum(np.maximum(rate_per_s * designs.decode_steps * fastest, _ALMOST_NONE), 0.999 * high)

    def carried(in_flight: Array) -> Array:
        return decode_flow(designs, in_flight, instances).rate_per_s

    return decode_flow(designs, meet(carried, np.broadcast_to(rate_per_s, shape), low, high), instances)
