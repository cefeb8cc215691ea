"""Pools that share the misses the SLO leaves unevenly: tried where no even split holds it."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.disaggregated import (
    DisaggregatedFlow,
    decode_memory,
    decode_tpot,
    disaggregated_flow,
    prefill_capacity,
)
from pdexplorer.steady.solve import largest
from pdexplorer.steady.split_parts import decode_flow
from pdexplorer.study.score import DisaggregatedScore
from pdexplorer.study.space import Space

Array = NDArray[np.float64]

_PART = 0.5
"""Of the misses that prefill almost idle leaves, for decode."""
_INGRESS_BUSY = 0.8


def almost_idle(score: DisaggregatedScore) -> DisaggregatedFlow:
    """Every pair with one request at a time: what no number of instances betters."""
    designs = score.designs
    many = np.full((1, 1, 1, 1), 1e6)
    decode = decode_flow(designs, np.full((1, *designs.shape[1:]), 0.02), many)
    rate = np.broadcast_to(1e-4 / designs.full_s, designs.shape)
    return disaggregated_flow(designs, rate, many, decode)


def with_uneven(space: Space, score: DisaggregatedScore) -> DisaggregatedScore:
    """The score with decode less loaded where an even split does not fit: a prompt that takes most of its
    limit leaves the TPOT fewer misses than half.
    """
    designs, load = score.designs, score.designs.load
    if bool(score.fits.all()) or load.offline:
        return score
    spare = almost_idle(score).attained - load.percentile_fraction
    tried = ~score.fits & (spare > 0.0)
    if not bool(tried.any()):
        return score
    n_p, n_d = (_count(n) for n in (space.scenario.prefill.instances, space.scenario.decode.instances))
    needed = 1.0 - _PART * np.maximum(spare, 0.0)

    def room(in_flight: Array) -> Array:
        flow = decode_flow(designs, in_flight, n_d)
        count = np.maximum(load.rate_per_s / flow.rate_per_s, 1.0) if n_d is None else n_d
        memory = decode_memory(designs, in_flight, np.broadcast_to(count, in_flight.shape))
        link = _INGRESS_BUSY - flow.rate_per_s * designs.moved_mean_bytes / designs.wire.ingress_byte_per_s
        return np.minimum(np.minimum(-memory, link), load.over(decode_tpot(designs, flow, 0.0)) - needed)

    low, high = np.full(designs.shape, 1e-3), np.full(designs.shape, designs.max_batch)
    found, able = largest(room, low, high)
    decode = decode_flow(designs, np.where(tried, found, score.decode.in_flight), n_d)
    rate, fits = prefill_capacity(designs, decode, n_p)
    return replace(
        score,
        decode=decode,
        prefill_rate_per_s=np.where(tried, rate, score.prefill_rate_per_s),
        fits=np.where(tried, fits & able, score.fits),
    )


def _count(instances: int | None) -> Array | None:
    return None if instances is None else np.full((1, 1, 1, 1), float(instances))
