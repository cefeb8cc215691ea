"""What a colocated instance carries within every limit: waiting, attainment, the largest load."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.colocated import ColocatedDesigns, ColocatedFlow, added_s, colocated_flow
from pdexplorer.steady.pool import memory_excess, spread_batch, tpot_attainment, wait_attainment
from pdexplorer.steady.solve import EXACT, Effort, Largest, largest, lowest, meet, misses_score, room_score
from pdexplorer.steady.table import locate
from pdexplorer.steady.tails import conditional_wait_cv2, mean_wait_s, wait_probability

Array = NDArray[np.float64]

_POOLING = 0.5
"""Instances of a fleet that all decode pool their prefill queues like this power of as many servers of one
queue; where some are free, a router finds those.
"""
_LIKELY = 0.64
"""Of what runs at the mean limits: where a rough search starts."""
_SOME = 8.0
"""Decodes beside which a prompt is taken to run for that."""


@dataclass(frozen=True, eq=False)
class ColocatedWait:
    """Waiting for prefill, of pools with that many instances: mean_s, share who wait, fixed additions
    after_s; cv2: squared coefficient of variation of the wait of those who do.
    """

    instances: Array
    mean_s: Array
    share: Array
    after_s: Array
    service_mean_s: Array
    cv2: Array


def colocated_wait(designs: ColocatedDesigns, flow: ColocatedFlow, instances: Array | None) -> ColocatedWait:
    """instances None: as many as the demand needs at this load, unrounded."""
    load = designs.load
    if instances is None:
        if load.concurrency is None:
            instances = np.maximum(load.rate_per_s / flow.rate_per_s, 1.0)
        else:
            instances = np.maximum(load.concurrency / (flow.in_flight + flow.utilisation), 1.0)
    mean = load.over(flow.service_s)
    second, third = load.second(flow.service_s), load.third(flow.service_s)
    # The router sees how many requests an instance has, not how many prompt tokens wait there.
    pooling = 1.0 - (1.0 - _POOLING) * flow.occupied
    servers = instances**pooling if load.least_loaded else np.ones_like(instances)
    # A round robin spaces each instance's arrivals: every N-th of the stream.
    arrival_cv2 = load.arrival_cv2 if load.least_loaded else load.arrival_cv2 / instances
    # What queues is full steps; besides, one waits for what is left of the step now running.
    full = flow.utilisation * flow.full_share
    wait = mean_wait_s(full, servers, mean * flow.full_share, second / mean**2 - 1.0, arrival_cv2)
    share = wait_probability(flow.utilisation, servers)
    wait = wait + 0.5 * share * (1.0 - flow.full_share) * flow.alone_step_s
    after = load.hop_s + designs.table.request_overhead_s + 0.5 * flow.active * flow.step_s * (1.0 - share)
    cv2 = conditional_wait_cv2(full, mean, second, third)
    return ColocatedWait(instances, wait, share, after, mean, cv2)


def colocated_attainment(
    designs: ColocatedDesigns, flow: ColocatedFlow, wait: ColocatedWait
) -> tuple[Array, Array, Array]:
    """Share of requests within (every, TTFT and whole-request, TPOT) limit: (instances, budgets, y, x)."""
    load = designs.load
    first, later = _attained_by_class(designs, flow, wait)
    return load.over(first * later), load.over(first), load.over(later)


def _attained_by_class(
    designs: ColocatedDesigns, flow: ColocatedFlow, wait: ColocatedWait
) -> tuple[Array, Array]:
    load = designs.load
    steps = load.decode_steps[:, None, None]
    first = wait_attainment(
        load,
        flow.service_s,
        wait.after_s,
        steps * flow.tpot_s if load.limits_e2e else 0.0,
        wait.share,
        wait.mean_s,
        wait.cv2,
    )
    spread = spread_batch(load, flow.in_flight, wait.instances)
    mean, per_step, at_once, most = interference(designs, flow, wait)
    worst = None if designs.alone_s is not None else flow.mixed_s
    return first, tpot_attainment(
        load, flow.step_s, flow.slope_s, spread, mean, per_step, worst, at_once, most
    )


def interference(
    designs: ColocatedDesigns, flow: ColocatedFlow, wait: ColocatedWait
) -> tuple[Array, Array, Array, Array | None]:
    """What prompts of others add to a request's TPOT: (mean, variance × its steps, variance × their square,
    the most that can be), seconds and seconds².

    Prompts come while it decodes, and some wait already as its own is done.
    """
    load = designs.load
    first, second = load.over(flow.interference_s), load.second(flow.interference_s)
    events = flow.rate_per_s * flow.tpot_s
    if load.least_loaded:
        # A prompt comes to a request that decodes only where no instance is free.
        rare = 0.5 * (np.sqrt(2.0 * (wait.instances + 1.0)) - 2.0) / load.arrival_cv2
        events = events * np.exp(rare * np.log(np.maximum(flow.occupied, 1e-30)))
    # Steps are counted, not time: while prompts hold steps up more of them come, as a busy period grows.
    grown = (flow.tpot_s / flow.step_s) ** 2
    # A router that sees the load spaces the prompts of one instance.
    even = load.arrival_cv2 * wait.instances**-_POOLING if load.least_loaded else load.arrival_cv2
    square = (second + (even - 1.0) * first * first) * grown
    mixed = np.maximum(flow.mixed_s, 1e-12)
    behind = flow.rate_per_s * (np.minimum(wait.mean_s, 1e6) + wait.service_mean_s)
    behind = behind * np.maximum(1.0 - flow.tpot_s / mixed, 0.0)
    most = None if designs.alone_s is not None else np.maximum(flow.mixed_s - flow.step_s, 1e-12)
    return events * first, events * square, behind * second * grown, most


def colocated_score(designs: ColocatedDesigns, in_flight: Array, instances: Array | None) -> Array:
    """≥ 0 where an instance with that many in flight holds every limit; falls with the load."""
    return lowest(colocated_scores(designs, in_flight, instances))


def colocated_scores(
    designs: ColocatedDesigns, in_flight: Array, instances: Array | None
) -> tuple[Array, ...]:
    """The same limit by limit, as solve.largest takes them."""
    load = designs.load
    flow = colocated_flow(designs, in_flight)
    wait = colocated_wait(designs, flow, instances)
    memory = memory_excess(
        load, designs.kv_tokens, in_flight, wait.instances, flow.utilisation, designs.max_batch
    )
    room = room_score(flow.utilisation / (1.0 if load.offline else 0.999)), room_score(1.0 + memory)
    if load.offline:
        return room
    first, later = _attained_by_class(designs, flow, wait)
    return misses_score(load.over(first * later), load.percentile_fraction), *room


def in_flight_bounds(designs: ColocatedDesigns) -> tuple[Array, Array]:
    """Least and most requests in flight worth trying, in the designs' shape."""
    steps = designs.load.mean_decode_steps
    low = np.broadcast_to(np.minimum(0.02, 0.02 * steps + 1e-4), designs.shape)
    return low.copy(), np.full(designs.shape, designs.max_batch, dtype=low.dtype)


def colocated_capacity(
    designs: ColocatedDesigns,
    instances: Array | None = None,
    effort: Effort = EXACT,
    near: Array | None = None,
) -> Largest:
    """Requests in flight of every design at the largest load of one instance that holds every limit.

    near: a guess, as solve.largest takes it.
    """
    low, high = in_flight_bounds(designs)
    if near is None and effort.guess:
        near = _LIKELY * _mean_limits(designs)
    return largest(lambda b: colocated_scores(designs, b, instances), low, high, effort, near)


def _mean_limits(designs: ColocatedDesigns) -> Array:
    """About how many run where the mean TPOT is the limit, or the KV memory full."""
    load, kind = designs.load, designs.load.weight.dtype
    held = np.minimum(designs.kv_tokens.astype(kind) / load.context_tokens, designs.max_batch)
    if load.offline:
        return np.broadcast_to(held, designs.shape)
    each = load.over(designs.alone_s) if designs.alone_s is not None else _prompt_s(designs)
    return np.minimum(designs.grid.batch_at(load.tpot_limit_s, each / load.mean_decode_steps), held)


def _prompt_s(designs: ColocatedDesigns) -> Array:
    """What a prompt cut by the budget adds to the steps of some decodes."""
    load, ranks = designs.load, designs.ranks
    new = np.maximum(load.mean_new_tokens, 1.0)
    chunk = np.minimum(np.maximum(designs.budgets - _SOME, ranks), new)
    spread = np.broadcast_to(np.maximum(ranks * np.minimum(new, chunk), chunk), designs.shape)
    beside = np.full((1, 1, 1, 1), _SOME, dtype=load.weight.dtype)
    at_chunk = locate(designs.table.prompt_nodes, spread)
    added, _ = added_s(designs, spread, at_chunk, chunk / new, locate(designs.table.batch_nodes, beside))
    return np.asarray(added * new / chunk)


def colocated_load(designs: ColocatedDesigns, flow: ColocatedFlow, wait: ColocatedWait) -> Array:
    """What one instance carries in the unit demand comes in: requests per second, or in flight in a closed
    loop.
    """
    if designs.load.concurrency is None:
        return flow.rate_per_s
    return flow.rate_per_s * (wait.mean_s + wait.after_s + wait.service_mean_s) + flow.in_flight


def carried_at(designs: ColocatedDesigns, in_flight: Array, instances: Array) -> Array:
    """The same by the number in flight; in open loops without working out the wait."""
    flow = colocated_flow(designs, in_flight)
    if designs.load.concurrency is None:
        return flow.rate_per_s
    return colocated_load(designs, flow, colocated_wait(designs, flow, instances))


def outside_s(designs: ColocatedDesigns, flow: ColocatedFlow, wait: ColocatedWait) -> Array:
    """Mean wait of a closed loop's requests for which an instance has no memory: Little's law over those in
    flight that neither run nor queue. 0 in open loops, whose load is kept within the memory.
    """
    if designs.load.concurrency is None:
        return np.zeros_like(flow.rate_per_s)
    missing = designs.load.concurrency / wait.instances - colocated_load(designs, flow, wait)
    return np.asarray(np.maximum(missing, 0.0) / flow.rate_per_s)


def colocated_at(designs: ColocatedDesigns, per_instance: Array, instances: Array) -> Array:
    """In flight on one instance of a fleet of that many, where each carries that load; clamps at overload.

    The load an instance carries rises with the number in flight only until prefill takes all its steps.
    """
    low, high = in_flight_bounds(designs)
    stable = largest(lambda b: (room_score(colocated_flow(designs, b).utilisation),), low * 1e-3, high).x
    target = np.broadcast_to(per_instance, designs.shape)
    return meet(lambda b: carried_at(designs, b, instances), target, low * 1e-3, stable)
