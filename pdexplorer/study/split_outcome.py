"""A disaggregated fleet of whole instances at a demand."""

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.disaggregated import DisaggregatedFlow, decode_at, decode_memory, disaggregated_flow
from pdexplorer.steady.solve import balanced, largest, meet
from pdexplorer.steady.split_designs import DisaggregatedDesigns
from pdexplorer.steady.split_parts import decode_flow

Array = NDArray[np.float64]


def residence_s(designs: DisaggregatedDesigns, flow: DisaggregatedFlow) -> Array:
    """Mean time from arrival to last token."""
    weight = designs.load.weight[:, None, None, None, None]
    steps = np.maximum(designs.load.mean(designs.load.decode_steps), 1e-3)
    service = (weight * (flow.service_s + flow.late_s)).sum(axis=0)
    return np.asarray(flow.wait_s + flow.after_s + service + steps * flow.decode.step_s)


def fleet_flow(
    designs: DisaggregatedDesigns, prefill_instances: int, decode_instances: int, demand: float
) -> DisaggregatedFlow:
    """One pair with whole instances at a demand in its own unit."""
    n_p = np.full((1, 1, 1, 1), float(prefill_instances))
    n_d = np.full((1, 1, 1, 1), float(decode_instances))

    def at(in_flight: Array) -> DisaggregatedFlow:
        decode = decode_flow(designs, in_flight, n_d)
        return disaggregated_flow(designs, decode.rate_per_s * n_d / n_p, n_p, decode)

    if designs.load.concurrency is None:
        decode = decode_at(designs, np.full((1, 1, 1, 1), demand / decode_instances), n_d)
        return disaggregated_flow(designs, np.full((1, 1, 1, 1), demand / prefill_instances), n_p, decode)

    def requests(in_flight: Array) -> Array:
        flow = at(in_flight)
        return np.asarray(np.minimum(flow.decode.rate_per_s * n_d * residence_s(designs, flow), 1e12))

    low, high = np.full((1, 1, 1, 1), 1e-5), np.full((1, 1, 1, 1), designs.max_batch)
    return at(meet(requests, np.full((1, 1, 1, 1), demand), low, high))


def fleet_capacity(designs: DisaggregatedDesigns, prefill_instances: int, decode_instances: int) -> float:
    """Most requests per second that one pair with whole instances carries in one cell; 0 where none fits.

    Exact in how the pools share the misses that the SLO leaves; `DisaggregatedScore` splits them evenly.
    """
    n_p = np.full((1, 1, 1, 1), float(prefill_instances))
    n_d = np.full((1, 1, 1, 1), float(decode_instances))

    def score(in_flight: Array) -> Array:
        decode = decode_flow(designs, in_flight, n_d)
        flow = disaggregated_flow(designs, decode.rate_per_s * n_d / n_p, n_p, decode)
        busy = np.maximum(flow.link.busy, flow.prefill.utilisation)
        room = np.minimum(0.999 - busy, -decode_memory(designs, in_flight, n_d))
        return balanced(flow.attained, designs.load.percentile_fraction, room)

    low, high = np.full((1, 1, 1, 1), 1e-3), np.full((1, 1, 1, 1), designs.max_batch)
    in_flight, fits = largest(score, low, high, 24)
    return float(decode_flow(designs, in_flight, n_d).rate_per_s.item()) * decode_instances if fits else 0.0
