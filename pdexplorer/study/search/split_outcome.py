"""A disaggregated fleet of whole instances at a demand."""

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.disaggregated import (
    DisaggregatedFlow,
    decode_at,
    decode_memory,
    disaggregated_flow,
    residence_s,
)
from pdexplorer.steady.solve import largest, meet, misses_score, room_score
from pdexplorer.steady.split_designs import DisaggregatedDesigns
from pdexplorer.steady.split_parts import decode_flow

Array = NDArray[np.float64]


def fleet_flow(
    designs: DisaggregatedDesigns,
    prefill_instances: Array | float,
    decode_instances: Array | float,
    demand: float,
) -> DisaggregatedFlow:
    """One pair with whole instances at a demand in its own unit; counts of shape (1, 1, 1, fleets)."""
    n_p, n_d = _counts(prefill_instances, decode_instances)

    def at(in_flight: Array) -> DisaggregatedFlow:
        decode = decode_flow(designs, in_flight, n_d)
        return disaggregated_flow(designs, decode.rate_per_s * n_d / n_p, n_p, decode)

    if designs.load.concurrency is None:
        decode = decode_at(designs, demand / n_d, n_d)
        return disaggregated_flow(designs, demand / n_p, n_p, decode)

    def requests(in_flight: Array) -> Array:
        flow = at(in_flight)
        return np.asarray(np.minimum(flow.decode.rate_per_s * n_d * residence_s(designs, flow), 1e12))

    low, high = np.full(n_d.shape, 1e-12), np.full(n_d.shape, designs.max_batch)
    if designs.load.waits_freely.all():
        # What decode has no memory for waits outside.
        high = largest(
            lambda in_flight: (room_score(1.0 + decode_memory(designs, in_flight, n_d)),), low, high
        ).x
    return at(meet(requests, np.full(n_d.shape, demand), low, high))


def fleet_holds(
    designs: DisaggregatedDesigns, prefill_instances: Array, decode_instances: Array, demand: float
) -> NDArray[np.bool_]:
    """Which whole fleets (fleets,) of one pair hold every limit at the demand, in one cell."""
    n_p, n_d = _counts(prefill_instances[None, None, None], decode_instances[None, None, None])
    load = designs.load
    flow = fleet_flow(designs, n_p, n_d, demand)
    carried = flow.decode.rate_per_s * n_d
    if load.concurrency is not None:
        carried = carried * residence_s(designs, flow)
    room = flow.decode.in_flight * load.context_tokens <= designs.kv_tokens
    busy = np.maximum(flow.link.busy, flow.prefill.utilisation)
    enough = (carried >= demand * (1.0 - 1e-6)) | (load.concurrency is not None and load.waits_freely)
    held = enough & (flow.attained >= load.percentile_fraction - 1e-6)
    return np.asarray(np.broadcast_to(held & room & (busy < 0.999), n_p.shape)[0, 0, 0])


def fleet_capacities(
    designs: DisaggregatedDesigns, prefill_instances: Array, decode_instances: Array
) -> Array:
    """Most requests per second that one pair with whole instances (fleets,) carries in one cell; 0 where none
    fits.

    Exact in how the pools share the misses that the SLO leaves; `DisaggregatedScore` splits them evenly.
    """
    n_p, n_d = _counts(
        np.asarray(prefill_instances, float)[None, None, None],
        np.asarray(decode_instances, float)[None, None, None],
    )

    def scores(in_flight: Array) -> tuple[Array, ...]:
        decode = decode_flow(designs, in_flight, n_d)
        flow = disaggregated_flow(designs, decode.rate_per_s * n_d / n_p, n_p, decode)
        busy = np.maximum(flow.link.busy, flow.prefill.utilisation)
        memory = decode_memory(designs, in_flight, n_d)
        room = room_score(busy / 0.999), room_score(1.0 + memory)
        return misses_score(flow.attained, designs.load.percentile_fraction), *room

    least = np.minimum(1e-3, 1e-3 * designs.load.mean_decode_steps)
    low, high = np.broadcast_to(least, n_d.shape), np.full(n_d.shape, designs.max_batch)
    most = largest(scores, low, high)
    carried = decode_flow(designs, most.x, n_d).rate_per_s * n_d
    return np.asarray(np.where(most.fits, carried, 0.0)[0, 0, 0])


def _counts(prefill_instances: Array | float, decode_instances: Array | float) -> tuple[Array, Array]:
    both = np.broadcast_arrays(np.asarray(prefill_instances, float), np.asarray(decode_instances, float))
    return both[0].reshape(1, 1, 1, -1), both[1].reshape(1, 1, 1, -1)
