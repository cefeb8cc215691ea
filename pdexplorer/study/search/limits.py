"""Why a design cannot hold the limits even almost idle: the limit, and the number that breaks it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.steady.colocated import colocated_flow
from pdexplorer.steady.colocated_capacity import colocated_attainment, colocated_wait, in_flight_bounds
from pdexplorer.steady.disaggregated import almost_idle, decode_tpot, prefill_bounds, prefill_score
from pdexplorer.steady.load import NO_LIMIT_S, Load
from pdexplorer.study import words
from pdexplorer.study.search.score import ColocatedScore, DisaggregatedScore

Array = NDArray[np.float64]

_AT_ONCE = 1e6
"""Times as fast: a link that costs no time."""


@dataclass(frozen=True, slots=True)
class Alone:
    """What stops a design even with one request at a time. attained: how near it comes to the SLO; over: its
    time over the limit that it misses most.
    """

    limit: Infeasible
    attained: float
    over: float


def colocated_limits(score: ColocatedScore) -> Mapping[tuple[int, int], Alone]:
    """By (instance, budget), for those that cannot."""
    designs, load = score.designs, score.designs.load
    if bool(score.fits.all()):
        return {}
    low, _ = in_flight_bounds(designs)
    flow = colocated_flow(designs, low)
    alone = colocated_wait(designs, flow, np.full((1, 1, 1, 1), 1e6))
    every, first, later = colocated_attainment(designs, flow, alone)
    found = {}
    for i, c in zip(*np.nonzero(~score.fits[:, :, 0, 0]), strict=True):
        after = float(np.broadcast_to(alone.after_s, designs.shape)[i, c, 0, 0])
        ttft = after + quantile(load, flow.service_s[:, i, c, 0, 0])
        attained, of_first, of_later = (float(share[i, c, 0, 0]) for share in (every, first, later))
        tpot = float(flow.tpot_s[i, c, 0, 0])
        no_room = words.memory_alone(float(load.context_tokens.item()))
        found[int(i), int(c)] = _alone(load, attained, of_first, of_later, ttft, tpot, no_room)
    return found


def disaggregated_limits(score: DisaggregatedScore) -> Mapping[tuple[int, int], Alone]:
    """By (prefill, decode) pair, for those that cannot."""
    designs, load = score.designs, score.designs.load
    if bool(score.fits.all()):
        return {}
    shape = designs.shape
    flow = almost_idle(designs)
    weight = load.weight[:, None, None, None, None]
    later = np.broadcast_to((weight * decode_tpot(designs, flow.decode, 0.0)).sum(axis=0), shape)
    room, of_first, attained = (
        np.broadcast_to(share, shape)
        for share in (load.over(designs.room_share), load.over(flow.first_by_class), flow.attained)
    )
    slow = _link_stops(score)
    found = {}
    for p, d in zip(*np.nonzero(~score.fits[:, :, 0, 0]), strict=True):
        service = np.broadcast_to(flow.service_s, (len(load.weight), *shape))[:, p, d, 0, 0]
        ttft = float(np.broadcast_to(flow.after_s, shape)[p, d, 0, 0]) + quantile(load, service)
        step = float(np.broadcast_to(flow.decode.step_s, shape)[p, d, 0, 0])
        first, every = float(of_first[p, d, 0, 0]), float(attained[p, d, 0, 0])
        if room[p, d, 0, 0] < load.percentile_fraction:
            limit = words.memory_alone(float(load.context_tokens.item()))
            found[int(p), int(d)] = Alone(limit, every, np.inf)
        elif slow[p, d] and every >= load.percentile_fraction:
            limit = words.link_alone(float(load.context_tokens.item()))
            found[int(p), int(d)] = Alone(limit, every, 0.0)
        else:
            spare = words.nothing_to_spare(
                ttft, float(load.ttft_limit_s.item()), step, float(load.tpot_limit_s.item())
            )
            found[int(p), int(d)] = _alone(load, every, first, float(later[p, d, 0, 0]), ttft, step, spare)
    return found


def _link_stops(score: DisaggregatedScore) -> NDArray[np.bool_]:
    """Pairs (prefill, decode) whose decode pool holds by itself, and whose prefill pool would beside it if
    moving KV took no time.
    """
    designs = score.designs
    wire = designs.wire
    free = replace(
        designs,
        wire=replace(
            wire,
            egress_byte_per_s=_AT_ONCE * wire.egress_byte_per_s,
            ingress_byte_per_s=_AT_ONCE * wire.ingress_byte_per_s,
            latency_s=0.0 * wire.latency_s,
            fabric_fraction=1.0,
        ),
    )
    lowest, _ = prefill_bounds(designs)
    holds = prefill_score(free, lowest, score.decode, None) >= 0.0
    return np.asarray((holds & score.decode_fits & ~score.fits)[:, :, 0, 0])


def closest(limits: Mapping[tuple[int, int], Alone]) -> Infeasible | None:
    """Of the design that comes nearest to the SLO: what stops the best, not the first. Where no request of
    any holds every limit, the design that is least far over.
    """
    best = max(limits.values(), key=lambda alone: (alone.attained, -alone.over), default=None)
    return None if best is None else best.limit


def _alone(
    load: Load, every: float, first: float, later: float, ttft_s: float, tpot_s: float, held: Infeasible
) -> Alone:
    """held: what stops a design of which one request alone holds every limit."""
    needed = load.percentile_fraction
    tpot_limit, ttft_limit = float(load.tpot_limit_s.item()), float(load.ttft_limit_s.item())
    over_tpot = tpot_s / tpot_limit if later < needed else 0.0
    over_ttft = ttft_s / ttft_limit if first < needed else 0.0
    if over_tpot > over_ttft:
        limit = words.tpot_alone(tpot_s, tpot_limit, needed)
    else:
        limit = _limit(load, every, first, later, ttft_s, held)
    return Alone(limit, every, max(over_tpot, over_ttft))


def _limit(
    load: Load, every: float, first: float, later: float, ttft_s: float, held: Infeasible
) -> Infeasible:
    """Where TPOT is not what is missed most."""
    needed = load.percentile_fraction
    ttft_limit, e2e_limit = float(load.ttft_limit_s.item()), float(load.e2e_limit_s.item())
    if first < needed:
        if ttft_s > ttft_limit:
            return words.ttft_alone(ttft_s, ttft_limit, needed)
        if e2e_limit < NO_LIMIT_S:
            return words.e2e_alone(e2e_limit, needed)
        return words.ttft_share(first, ttft_limit, needed)
    if every < needed:
        return words.together_alone(every, first, later, needed)
    return held


def quantile(load: Load, service_s: Array) -> float:
    """Of the classes' service times at the SLO's percentile; each class spreads over its share of the
    lengths.
    """
    order = np.argsort(service_s)
    upper = np.cumsum(load.weight[order])
    edge = service_s[order] * load.high_ratio[order]
    return float(np.interp(load.percentile_fraction, upper, np.maximum.accumulate(edge)))
